// Calls from sixteen threads at once: what the clients of plugins do all the time; then leaks: what
// stays behind after ten thousand of everything that is made and destroyed.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "millrace/core/base/printed.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family threads_family("execute.result events.completes");
Family leaks_family("execute.result");

namespace {

constexpr int kRounds = 50;  // of each thread

// Runs the body on all threads at once, kRounds times on each.
Status in_rounds(const std::function<Status(std::size_t thread)>& body) {
  return on_threads(kThreads, [&](std::size_t thread) -> Status {
    for (int i = 0; i < kRounds; ++i) MILLRACE_TRY_STATUS(body(thread));
    return {};
  });
}

MILLRACE_CONFORM(threads, describe, "sixteen threads ask for names and memories at once") {
  MILLRACE_TRY(const auto all, rig.devices());
  MILLRACE_TRY(abi::Client* const client, rig.client());
  MILLRACE_TRY(const auto first, rig.ask<abi::ClientPlatformNameArgs>(client));
  const std::string wanted(first.platform_name, first.platform_name_size);
  return in_rounds([&](std::size_t /*thread*/) -> Status {
    MILLRACE_TRY(const auto name, rig.ask<abi::ClientPlatformNameArgs>(client));
    if (std::string(name.platform_name, name.platform_name_size) != wanted) {
      return broken("the platform has another name on another thread");
    }
    for (abi::Device* device : all) MILLRACE_TRY_STATUS(rig.memory(device));
    return {};
  });
}

MILLRACE_CONFORM(threads, put, "sixteen threads put arrays at once") {
  MILLRACE_TRY_STATUS(rig.devices());  // which the threads share
  std::vector<std::vector<HeldBuffer>> made(kThreads);
  MILLRACE_TRY_STATUS(in_rounds([&](std::size_t thread) -> Status {
    MILLRACE_TRY(HeldBuffer x, rig.put(numbers_of(thread)));
    made[thread].push_back(std::move(x));
    return {};
  }));
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    for (const HeldBuffer& x : made[thread]) {
      MILLRACE_TRY_STATUS(rig.expect(x, numbers_of(thread), "what a thread has put"));
    }
  }
  return {};
}

MILLRACE_CONFORM(threads, destroy, "buffers are destroyed by other threads than made them") {
  MILLRACE_TRY_STATUS(rig.devices());  // which the threads share
  std::vector<std::vector<HeldBuffer>> made(kThreads);
  for (auto& list : made) {
    for (int i = 0; i < kRounds; ++i) {
      MILLRACE_TRY(HeldBuffer x, rig.put(numbers()));
      list.push_back(std::move(x));
    }
  }
  MILLRACE_TRY_STATUS(on_threads(kThreads, [&](std::size_t thread) -> Status {
    made[thread].clear();
    return {};
  }));
  return rig.trouble().first();
}

MILLRACE_CONFORM(threads, read, "sixteen threads read one buffer at once") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  return in_rounds([&](std::size_t /*thread*/) {
    return rig.expect(x, numbers(), "one buffer, read by all threads,");
  });
}

MILLRACE_CONFORM(threads, compile, "sixteen threads compile at once") {
  MILLRACE_TRY_STATUS(rig.compile(constant_program()));  // and the options, which threads share
  std::vector<HeldLoaded> made(kThreads);
  MILLRACE_TRY_STATUS(on_threads(kThreads, [&](std::size_t thread) -> Status {
    MILLRACE_TRY(made[thread], rig.compile(increment_program()));
    return {};
  }));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  for (const HeldLoaded& program : made) {
    MILLRACE_TRY(const HeldBuffer y, rig.apply(program, x));
    MILLRACE_TRY_STATUS(rig.expect(y, numbers(1), "the result"));
  }
  return {};
}

MILLRACE_CONFORM(threads, execute, "sixteen threads launch one program at once",
                 .after = "threads.destroy") {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  std::vector<HeldBuffer> x;
  std::vector<HeldBuffer> y(kThreads);
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    MILLRACE_TRY(HeldBuffer one, rig.put(numbers_of(thread)));
    x.push_back(std::move(one));
  }
  MILLRACE_TRY_STATUS(in_rounds([&](std::size_t thread) -> Status {
    MILLRACE_TRY(y[thread], rig.apply(increment, x[thread]));
    return {};
  }));
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    MILLRACE_TRY_STATUS(rig.expect(y[thread], numbers_of(thread, 1), "a thread's result"));
  }
  return {};
}

MILLRACE_CONFORM(threads, await, "sixteen threads wait for one event at once",
                 .after = "events.await") {
  MILLRACE_TRY(const Launch launch, rig.launch(long_program(), Floats(kLongLength, 0)));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(launch.y));
  return on_threads(kThreads, [&](std::size_t /*thread*/) -> Status {
    return rig.call<abi::EventAwaitArgs>(ready);
  });
}

MILLRACE_CONFORM(threads, callbacks, "sixteen threads ask one event to call while it becomes ready",
                 .after = "events.every_callback") {
  MILLRACE_TRY(const Launch launch, rig.launch(long_program(), Floats(kLongLength, 0)));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(launch.y));
  const Callback callback;
  // While it becomes ready: none may be lost between asking and calling.
  MILLRACE_TRY_STATUS(
      in_rounds([&](std::size_t /*thread*/) { return callback.attach(rig.table(), ready); }));
  return rig.wait(callback, static_cast<int>(kThreads) * kRounds,
                  "one event, asked by all threads");
}

MILLRACE_CONFORM(threads, delete_race,
                 "a buffer is deleted while it is read: each reader is right, or refused",
                 .after = "deletion.is_deleted deletion.twice deletion.then_read") {
  MILLRACE_TRY_STATUS(rig.devices());  // which the threads share
  for (int i = 0; i < kRounds; ++i) {
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
    MILLRACE_TRY_STATUS(on_threads(kThreads, [&](std::size_t thread) -> Status {
      if (thread % 4 == 0) return rig.remove(x);
      const Result<Floats> got = rig.get(x);
      // Too late is no failure; wrong is.
      if (!got) return expect_refused(got, "it");
      return expect_floats(*got, numbers(), "what was read while it was deleted");
    }));
    MILLRACE_TRY_STATUS(rig.expect_deleted(x, true, "a buffer that four threads have deleted"));
  }
  return {};
}

MILLRACE_CONFORM(
    threads, mixed, "sixteen threads put, launch, read, wait and delete at once",
    .after =
        "execute.complete_event threads.put threads.read threads.execute threads.delete_race") {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  return in_rounds([&](std::size_t thread) -> Status {
    MILLRACE_TRY(HeldBuffer x, rig.put(numbers_of(thread)));
    MILLRACE_TRY(Run run, rig.execute(increment, {{x}}));
    x.reset();
    MILLRACE_TRY_STATUS(rig.expect(run.outputs[0], numbers_of(thread, 1), "a thread's result"));
    MILLRACE_TRY_STATUS(rig.wait(run.done, "PJRT_LoadedExecutable_Execute"));
    return rig.remove(run.outputs[0]);
  });
}

MILLRACE_CONFORM(threads, clients, "four threads make, use and destroy clients at once",
                 .after = "client.create_again") {
  MILLRACE_TRY_STATUS(rig.client());
  return on_threads(4, [&](std::size_t /*thread*/) -> Status {
    for (int i = 0; i < 3; ++i) {
      Rig own(rig.table(), rig.options());
      own.adopt_initialized();
      {
        MILLRACE_TRY(const Launch made, own.launch(increment_program(), numbers()));
        MILLRACE_TRY_STATUS(own.expect(made.y, numbers(1), "the result of a client"));
      }
      MILLRACE_TRY_STATUS(own.close());
    }
    return {};
  });
}

struct Usage {
  std::int64_t heap = 0;      // bytes in use, where the plugin's allocations are glibc's
  std::int64_t resident = 0;  // bytes
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
};

std::int64_t count_entries(const char* folder) {
  std::error_code none;
  return std::distance(std::filesystem::directory_iterator(folder, none), {});
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

// The threads, once they are no more than that, or after a while: the system lists a thread for a
// moment after it was joined.
std::int64_t threads_down_to(std::int64_t most) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::int64_t threads = count_entries("/proc/self/task");
  while (threads > most && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    threads = count_entries("/proc/self/task");
  }
  return threads;
}

Status compare_system(const Usage& before, const Usage& after, const std::string& what) {
  const std::int64_t threads = threads_down_to(before.threads) - before.threads;
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
    return broken("every one of ", times, " leaves ", printed("%.1f", each),
                  " bytes of the heap behind");
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
    static_cast<void>(rig.note(printed("%.1f", std::max(0.0, each)), " bytes each, of ", times));
    if (Status left = compare(before, after, times); left || look == kLooks) return left;
  }
}

MILLRACE_CONFORM(leaks, executions, "executions, their results and events leave nothing behind",
                 .after = "execute.complete_event") {
  MILLRACE_TRY(const Launch l, rig.prepare(increment_program(), numbers()));
  return watch(rig, [&]() -> Status {
    MILLRACE_TRY(const Run run, rig.execute(l.program, {{l.x}}));
    return rig.wait(run.done, "PJRT_LoadedExecutable_Execute");
  });
}

MILLRACE_CONFORM(leaks, transfers, "buffers that are put and read leave nothing behind") {
  MILLRACE_TRY_STATUS(rig.devices());
  return watch(rig, [&]() -> Status {
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
    MILLRACE_TRY_STATUS(rig.get(x));
    return {};
  });
}

MILLRACE_CONFORM(leaks, events, "events leave nothing behind") {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  return watch(rig, [&]() -> Status {
    MILLRACE_TRY(const HeldEvent ready, rig.ready_event(x));
    MILLRACE_TRY_STATUS(rig.is_ready(ready));
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
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(x));
  return watch(rig, [&]() -> Status {
    return expect_that_error(rig.wait(ready, "a buffer that failed"), "it");
  });
}

MILLRACE_CONFORM(leaks, refused, "launches that are refused leave nothing behind",
                 .after = "errors.argument_count leaks.errors") {
  MILLRACE_TRY(const Launch l, rig.prepare(add_program(), numbers()));
  return watch(rig, [&]() -> Status {
    const Result<Run> run = rig.execute(l.program, {{l.x}});
    return expect_refused(run, "one argument of two");
  });
}

MILLRACE_CONFORM(leaks, descriptions, "descriptions of executables leave nothing behind") {
  MILLRACE_TRY(const HeldLoaded add, rig.compile(add_program()));
  return watch(rig, [&]() -> Status {
    MILLRACE_TRY_STATUS(rig.executable(add));
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
