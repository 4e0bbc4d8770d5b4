// Calls from sixteen threads at once: what the clients of plugins do all the time.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family threads_family("execute.result events.completes");

namespace {

constexpr int kRounds = 50;  // of each thread

Floats numbers_of(std::size_t thread, float more = 0) {
  return numbers(1000 * static_cast<float>(thread) + more);
}

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
      MILLRACE_TRY_STATUS(rig.expect(x.get(), numbers_of(thread), "what a thread has put"));
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
    return rig.expect(x.get(), numbers(), "one buffer, read by all threads,");
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
    MILLRACE_TRY(const HeldBuffer y, rig.apply(program.get(), x.get()));
    MILLRACE_TRY_STATUS(rig.expect(y.get(), numbers(1), "the result"));
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
    MILLRACE_TRY(y[thread], rig.apply(increment.get(), x[thread].get()));
    return {};
  }));
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    MILLRACE_TRY(const Floats got, rig.get(y[thread].get()));
    MILLRACE_TRY_STATUS(expect_floats(got, numbers_of(thread, 1), "a thread's result"));
  }
  return {};
}

MILLRACE_CONFORM(threads, await, "sixteen threads wait for one event at once",
                 .after = "events.await") {
  MILLRACE_TRY(const Launch launch, rig.launch(long_program(), Floats(kLongLength, 0)));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(launch.y.get()));
  return on_threads(kThreads, [&](std::size_t /*thread*/) -> Status {
    return rig.call<abi::EventAwaitArgs>(ready.get());
  });
}

MILLRACE_CONFORM(threads, callbacks, "sixteen threads ask one event to call while it becomes ready",
                 .after = "events.every_callback") {
  MILLRACE_TRY(const Launch launch, rig.launch(long_program(), Floats(kLongLength, 0)));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(launch.y.get()));
  const Callback callback;
  // While it becomes ready: none may be lost between asking and calling.
  MILLRACE_TRY_STATUS(
      in_rounds([&](std::size_t /*thread*/) { return callback.attach(rig.table(), ready.get()); }));
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
      if (thread % 4 == 0) return rig.remove(x.get());
      const Result<Floats> got = rig.get(x.get());
      // Too late is no failure; wrong is.
      if (!got) return expect_refused(got, "it");
      return expect_floats(*got, numbers(), "what was read while it was deleted");
    }));
    MILLRACE_TRY(const bool gone, rig.is_deleted(x.get()));
    if (!gone) return broken("a buffer that four threads have deleted says that it is not");
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
    MILLRACE_TRY(Run run, rig.execute(increment.get(), {{x.get()}}));
    x.reset();
    MILLRACE_TRY_STATUS(
        rig.expect(run.outputs[0].get(), numbers_of(thread, 1), "a thread's result"));
    MILLRACE_TRY_STATUS(rig.wait(run.done, "PJRT_LoadedExecutable_Execute"));
    return rig.remove(run.outputs[0].get());
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
        MILLRACE_TRY_STATUS(own.expect(made.y.get(), numbers(1), "the result of a client"));
      }
      MILLRACE_TRY_STATUS(own.close());
    }
    return {};
  });
}

}  // namespace
}  // namespace millrace::conform
