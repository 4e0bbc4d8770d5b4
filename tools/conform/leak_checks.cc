// Leaks: what stays behind after ten thousand of everything that is made and destroyed.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "millrace/tools/conform/error_source.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
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
    return broken("every one of " + std::to_string(times) + " leaves " + rounded(each) +
                  " bytes of the heap behind");
  }
  const auto behind = [times](std::int64_t count, const char* what) {
    return broken(std::to_string(times) + " leave " + std::to_string(count) + " " + what +
                  " behind");
  };
  const std::int64_t resident = after.resident - before.resident;
  if (resident > kResidentNoise + times * 64) return behind(resident, "bytes of memory");
  if (after.threads > before.threads) return behind(after.threads - before.threads, "threads");
  if (after.descriptors > before.descriptors)
    return behind(after.descriptors - before.descriptors, "descriptors");
  return {};
}

// Runs step so often, after some that fill caches, and compares. A plugin whose threads free later
// has more in use when it is looked at; a leak is there each time.
Status watch(Rig& rig, int times, const std::function<Status()>& step) {
  constexpr int kLooks = 4;
  for (int i = 0; i < times / 5 + 10; ++i) MILLRACE_TRY_STATUS(step());
  for (int look = 1;; ++look) {
    const Usage before = measure();
    for (int i = 0; i < times; ++i) MILLRACE_TRY_STATUS(step());
    const Usage after = measure();
    const double each = static_cast<double>(after.heap - before.heap) / static_cast<double>(times);
    rig.note(rounded(std::max(0.0, each)) + " bytes each, of " + std::to_string(times));
    if (Status left = compare(before, after, times); left || look == kLooks) return left;
  }
}

Status executions(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  return watch(rig, rig.options().executions, [&]() -> Status {
    MILLRACE_TRY(const Run run, rig.execute(increment.get(), {{x.get()}}));
    return rig.wait(run.done, "PJRT_LoadedExecutable_Execute");
  });
}

Status transfers(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.devices());
  return watch(rig, rig.options().executions, [&]() -> Status {
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
    MILLRACE_TRY_STATUS(rig.get(x.get()));
    return {};
  });
}

Status events(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  return watch(rig, rig.options().executions, [&]() -> Status {
    MILLRACE_TRY(const HeldEvent ready, rig.ready_event(x.get()));
    MILLRACE_TRY_STATUS(rig.is_ready(ready.get()));
    return {};
  });
}

Status errors(Rig& rig) {
  return watch(rig, rig.options().executions, [&]() -> Status {
    abi::ClientLookupDeviceArgs args;
    MILLRACE_TRY(args.client, rig.client());
    args.id = -7;
    return expect_refused(rig.table().call(args), "device -7");
  });
}

Status event_errors(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer x, error_buffer(rig));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(x.get()));
  return watch(rig, rig.options().executions, [&]() -> Status {
    return expect_that_error(rig.wait(ready, "a buffer that failed"), "it");
  });
}

Status refused(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  return watch(rig, rig.options().executions, [&]() -> Status {
    const Result<Run> run = rig.execute(add.get(), {{x.get()}});
    return expect_refused(run ? Status() : std::unexpected(run.error()), "one argument of two");
  });
}

Status descriptions(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  return watch(rig, rig.options().executions, [&]() -> Status {
    MILLRACE_TRY_STATUS(rig.executable(add.get()));
    return {};
  });
}

Status clients(Rig& rig) {
  // Threads and descriptors; heaps of a few clients say little.
  constexpr int kClients = 10;
  MILLRACE_TRY_STATUS(rig.make_client());
  const Usage before = measure();
  for (int i = 0; i < kClients; ++i) MILLRACE_TRY_STATUS(rig.make_client());
  const Usage after = measure();
  rig.note(std::to_string(after.threads) + " threads");
  if (after.threads > before.threads) {
    return broken(std::to_string(kClients) + " clients leave " +
                  std::to_string(after.threads - before.threads) + " threads behind");
  }
  if (after.descriptors > before.descriptors) {
    return broken(std::to_string(kClients) + " clients leave " +
                  std::to_string(after.descriptors - before.descriptors) + " descriptors behind");
  }
  return {};
}

}  // namespace

std::vector<Check> leak_checks() {
  return after({"execute.result"},
               {
                   {.name = "leaks.executions",
                    .wants = "executions, their results and events leave nothing behind",
                    .run = &executions,
                    .after = {"execute.complete_event"}},
                   {.name = "leaks.transfers",
                    .wants = "buffers that are put and read leave nothing behind",
                    .run = &transfers},
                   {.name = "leaks.events", .wants = "events leave nothing behind", .run = &events},
                   {.name = "leaks.errors",
                    .wants = "errors leave nothing behind",
                    .run = &errors,
                    .after = {"errors.unknown_device"}},
                   {.name = "leaks.event_errors",
                    .wants = "errors that callbacks are given leave nothing behind",
                    .run = &event_errors,
                    .after = {"events.error_path", "events.called_once", "events.every_callback",
                              "leaks.errors"}},
                   {.name = "leaks.refused",
                    .wants = "launches that are refused leave nothing behind",
                    .run = &refused,
                    .after = {"errors.argument_count", "leaks.errors"}},
                   {.name = "leaks.descriptions",
                    .wants = "descriptions of executables leave nothing behind",
                    .run = &descriptions},
                   {.name = "leaks.clients",
                    .wants = "clients leave no thread and no descriptor behind",
                    .run = &clients,
                    .after = {"client.create_again"}},
               });
}

}  // namespace millrace::conform
