// Leaks: what stays behind after ten thousand of everything that is made and destroyed.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "millrace/tools/conform/error_source.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family leaks_family("execute.result");

namespace {

struct Usage {
  std::int64_t heap = 0;      // bytes in use, where the plugin's allocations are glibc's
  std::int64_t resident = 0;  // bytes
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
};

std::int64_t count_entries(const char* folder) {
  std::error_code none;
  std::int64_t n = 0;
  for (std::filesystem::directory_iterator i(folder, none), end; !none && i != end;
       i.increment(none)) {
    ++n;
  }
  return n;
}

Usage measure() {
  Usage usage;
  const struct mallinfo2 info = ::mallinfo2();
  usage.heap = static_cast<std::int64_t>(info.uordblks + info.hblkhd);
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0;
  statm >> pages >> usage.resident;
  usage.resident *= ::sysconf(_SC_PAGESIZE);
  usage.threads = count_entries("/proc/self/task");
  usage.descriptors = count_entries("/proc/self/fd");
  return usage;
}

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

Status compare_system(const Usage& before, const Usage& after, const std::string& what) {
  const std::int64_t threads = after.threads - before.threads;
  if (threads > 0) return broken(what, " leave ", threads, " threads behind");
  const std::int64_t descriptors = after.descriptors - before.descriptors;
  return expect(descriptors <= 0, what, " leave ", descriptors, " descriptors behind");
}

// What `times` steps have left behind, if that is more than noise.
Status compare(const Usage& before, const Usage& after, int times) {
  // What a leak of one pointer each would take; and what noise may.
  constexpr double kLeastBytes = 8;
  constexpr std::int64_t kHeapNoise = 64 << 10;
#ifdef MILLRACE_SANITIZED
  constexpr std::int64_t kResidentNoise = 512 << 20;  // a sanitizer keeps for a while what is freed
#else
  constexpr std::int64_t kResidentNoise = 16 << 20;
#endif
  const std::int64_t heap = after.heap - before.heap;
  const double each = static_cast<double>(heap) / static_cast<double>(times);
  if (each >= kLeastBytes && heap > kHeapNoise) {
    return broken("every one of ", times, " leaves ", rounded(each), " bytes of the heap behind");
  }
  const std::int64_t resident = after.resident - before.resident;
  if (resident > kResidentNoise + times * 64)
    return broken(times, " leave ", resident, " bytes of memory behind");
  return compare_system(before, after, std::to_string(times));
}

// Runs step as often as the options say, after some that fill caches, and compares. A plugin whose
// threads free later has more in use when it is looked at; a leak is there each time.
Status watch(Rig& rig, const std::function<Status()>& step) {
  constexpr int kLooks = 4;
  const int times = rig.options().executions;
  for (int i = 0; i < times / 5 + 10; ++i) MILLRACE_TRY_STATUS(step());
  for (int look = 1;; ++look) {
    const Usage before = measure();
    for (int i = 0; i < times; ++i) MILLRACE_TRY_STATUS(step());
    const Usage after = measure();
    const double each = static_cast<double>(after.heap - before.heap) / static_cast<double>(times);
    static_cast<void>(rig.note(rounded(std::max(0.0, each)), " bytes each, of ", times));
    if (Status left = compare(before, after, times); left || look == kLooks) return left;
  }
}

MILLRACE_CONFORM(leaks, executions, "executions, their results and events leave nothing behind",
                 .after = "execute.complete_event") {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), numbers()));
  return watch(rig, [&]() -> Status {
    MILLRACE_TRY(const Run run, rig.execute(l.program.get(), {{l.x.get()}}));
    return rig.wait(run.done, "PJRT_LoadedExecutable_Execute");
  });
}

MILLRACE_CONFORM(leaks, transfers, "buffers that are put and read leave nothing behind") {
  MILLRACE_TRY_STATUS(rig.devices());
  return watch(rig, [&]() -> Status {
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
    MILLRACE_TRY_STATUS(rig.get(x.get()));
    return {};
  });
}

MILLRACE_CONFORM(leaks, events, "events leave nothing behind") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  return watch(rig, [&]() -> Status {
    MILLRACE_TRY(const HeldEvent ready, rig.ready_event(x.get()));
    MILLRACE_TRY_STATUS(rig.is_ready(ready.get()));
    return {};
  });
}

MILLRACE_CONFORM(leaks, errors, "errors leave nothing behind", .after = "errors.unknown_device") {
  return watch(rig, [&]() -> Status {
    return expect_refused(rig.ask_client<abi::ClientLookupDeviceArgs>(-7), "device -7");
  });
}

MILLRACE_CONFORM(
    leaks, event_errors, "errors that callbacks are given leave nothing behind",
    .after = "events.error_path events.called_once events.every_callback leaks.errors") {
  MILLRACE_TRY(const HeldBuffer x, error_buffer(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(x.get()));
  return watch(rig, [&]() -> Status {
    return expect_that_error(rig.wait(ready, "a buffer that failed"), "it");
  });
}

MILLRACE_CONFORM(leaks, refused, "launches that are refused leave nothing behind",
                 .after = "errors.argument_count leaks.errors") {
  MILLRACE_TRY(const Launch l, rig.prepare(add_program(), numbers()));
  return watch(rig, [&]() -> Status {
    const Result<Run> run = rig.execute(l.program.get(), {{l.x.get()}});
    return expect_refused(run, "one argument of two");
  });
}

MILLRACE_CONFORM(leaks, descriptions, "descriptions of executables leave nothing behind") {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  return watch(rig, [&]() -> Status {
    MILLRACE_TRY_STATUS(rig.executable(add.get()));
    return {};
  });
}

MILLRACE_CONFORM(leaks, clients, "clients leave no thread and no descriptor behind",
                 .after = "client.create_again") {
  // Threads and descriptors; heaps of a few clients say little.
  MILLRACE_TRY_STATUS(rig.make_client());
  const Usage before = measure();
  for (int i = 0; i < 10; ++i) MILLRACE_TRY_STATUS(rig.make_client());
  const Usage after = measure();
  static_cast<void>(rig.note(after.threads, " threads"));
  return compare_system(before, after, "10 clients");
}

}  // namespace
}  // namespace millrace::conform
