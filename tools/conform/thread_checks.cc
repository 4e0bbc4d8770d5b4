// Calls from sixteen threads at once: what the clients of plugins do all the time.
#include "millrace/tools/conform/callbacks.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

constexpr int kRounds = 50;  // of each thread

Floats numbers_of(int thread) {
  Floats values = numbers();
  for (float& v : values) v += static_cast<float>(1000 * thread);
  return values;
}

Floats plus_one(Floats values) {
  for (float& v : values) v += 1;
  return values;
}

// What threads share is made before they start.
Status prepare(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.devices());
  return {};
}

Status describe(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.devices());
  MILLRACE_TRY(abi::Client* const client, rig.client());
  abi::ClientPlatformNameArgs first;
  first.client = client;
  MILLRACE_TRY_STATUS(rig.table().call(first));
  const std::string wanted(first.platform_name, first.platform_name_size);
  return on_threads(kThreads, [&](int /*thread*/) -> Status {
    for (int i = 0; i < kRounds; ++i) {
      abi::ClientPlatformNameArgs name;
      name.client = client;
      MILLRACE_TRY_STATUS(rig.table().call(name));
      if (std::string(name.platform_name, name.platform_name_size) != wanted) {
        return broken("the platform has another name on another thread");
      }
      for (abi::Device* device : all) MILLRACE_TRY_STATUS(rig.memory(device));
    }
    return {};
  });
}

Status put(Rig& rig) {
  MILLRACE_TRY_STATUS(prepare(rig));
  std::vector<std::vector<HeldBuffer>> made(kThreads);
  MILLRACE_TRY_STATUS(on_threads(kThreads, [&](int thread) -> Status {
    for (int i = 0; i < kRounds; ++i) {
      MILLRACE_TRY(HeldBuffer x, rig.put(numbers_of(thread)));
      made[static_cast<std::size_t>(thread)].push_back(std::move(x));
    }
    return {};
  }));
  for (int thread = 0; thread < kThreads; ++thread) {
    for (const HeldBuffer& x : made[static_cast<std::size_t>(thread)]) {
      MILLRACE_TRY(const Floats got, rig.get(x.get()));
      MILLRACE_TRY_STATUS(expect_floats(got, numbers_of(thread), "what a thread has put"));
    }
  }
  return {};
}

Status read(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  return on_threads(kThreads, [&](int /*thread*/) -> Status {
    for (int i = 0; i < kRounds; ++i) {
      MILLRACE_TRY(const Floats got, rig.get(x.get()));
      MILLRACE_TRY_STATUS(expect_floats(got, numbers(), "one buffer, read by all threads,"));
    }
    return {};
  });
}

Status compile(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.compile(constant_program()));  // and the options, which threads share
  std::vector<HeldLoaded> made(kThreads);
  MILLRACE_TRY_STATUS(on_threads(kThreads, [&](int thread) -> Status {
    MILLRACE_TRY(made[static_cast<std::size_t>(thread)], rig.compile(increment_program()));
    return {};
  }));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  for (const HeldLoaded& program : made) {
    MILLRACE_TRY(const HeldBuffer y, rig.apply(program.get(), x.get()));
    MILLRACE_TRY(const Floats got, rig.get(y.get()));
    MILLRACE_TRY_STATUS(expect_floats(got, Floats{2, 3, 4, 5}, "the result"));
  }
  return {};
}

Status execute(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  std::vector<HeldBuffer> x;
  std::vector<HeldBuffer> y(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    MILLRACE_TRY(HeldBuffer one, rig.put(numbers_of(thread)));
    x.push_back(std::move(one));
  }
  MILLRACE_TRY_STATUS(on_threads(kThreads, [&](int thread) -> Status {
    const auto t = static_cast<std::size_t>(thread);
    for (int i = 0; i < kRounds; ++i) {
      MILLRACE_TRY(y[t], rig.apply(increment.get(), x[t].get()));
    }
    return {};
  }));
  for (int thread = 0; thread < kThreads; ++thread) {
    MILLRACE_TRY(const Floats got, rig.get(y[static_cast<std::size_t>(thread)].get()));
    MILLRACE_TRY_STATUS(expect_floats(got, plus_one(numbers_of(thread)), "a thread's result"));
  }
  return {};
}

Status await(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded program, rig.compile(long_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(Floats(kLongLength, 0)));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(program.get(), x.get()));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(y.get()));
  return on_threads(kThreads, [&](int /*thread*/) -> Status {
    abi::EventAwaitArgs args;
    args.event = ready.get();
    return rig.table().call(args);
  });
}

Status callbacks(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded program, rig.compile(long_program()));
  MILLRACE_TRY(const HeldBuffer x, rig.put(Floats(kLongLength, 0)));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(program.get(), x.get()));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(y.get()));
  Callback& callback = Callback::make();
  // While it becomes ready: none may be lost between asking and calling.
  MILLRACE_TRY_STATUS(on_threads(kThreads, [&](int /*thread*/) -> Status {
    for (int i = 0; i < kRounds; ++i) MILLRACE_TRY_STATUS(callback.attach(rig, ready.get()));
    return {};
  }));
  return callback.wait(rig, kThreads * kRounds, "one event, asked by all threads");
}

Status destroy(Rig& rig) {
  MILLRACE_TRY_STATUS(prepare(rig));
  std::vector<std::vector<HeldBuffer>> made(kThreads);
  for (auto& list : made) {
    for (int i = 0; i < kRounds; ++i) {
      MILLRACE_TRY(HeldBuffer x, rig.put(numbers()));
      list.push_back(std::move(x));
    }
  }
  MILLRACE_TRY_STATUS(on_threads(kThreads, [&](int thread) -> Status {
    made[static_cast<std::size_t>(thread)].clear();
    return {};
  }));
  return rig.trouble().first();
}

Status delete_race(Rig& rig) {
  MILLRACE_TRY_STATUS(prepare(rig));
  for (int i = 0; i < kRounds; ++i) {
    MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
    MILLRACE_TRY_STATUS(on_threads(kThreads, [&](int thread) -> Status {
      if (thread % 4 == 0) return rig.remove(x.get());
      const Result<Floats> got = rig.get(x.get());
      // Too late is no failure; wrong is.
      if (!got) return expect_refused(std::unexpected(got.error()), "it");
      return expect_floats(*got, numbers(), "what was read while it was deleted");
    }));
    MILLRACE_TRY(const bool gone, rig.is_deleted(x.get()));
    if (!gone) return broken("a buffer that four threads have deleted says that it is not");
  }
  return {};
}

Status mixed(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  return on_threads(kThreads, [&](int thread) -> Status {
    for (int i = 0; i < kRounds; ++i) {
      MILLRACE_TRY(HeldBuffer x, rig.put(numbers_of(thread)));
      MILLRACE_TRY(Run run, rig.execute(increment.get(), {{x.get()}}));
      x.reset();
      MILLRACE_TRY(const Floats got, rig.get(run.outputs[0].get()));
      MILLRACE_TRY_STATUS(expect_floats(got, plus_one(numbers_of(thread)), "a thread's result"));
      MILLRACE_TRY_STATUS(rig.wait(run.done, "PJRT_LoadedExecutable_Execute"));
      MILLRACE_TRY_STATUS(rig.remove(run.outputs[0].get()));
    }
    return {};
  });
}

Status clients(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.client());
  return on_threads(4, [&](int /*thread*/) -> Status {
    for (int i = 0; i < 3; ++i) {
      Rig own(rig.table(), rig.options());
      own.adopt_initialized();
      {
        MILLRACE_TRY(const HeldLoaded increment, own.compile(increment_program()));
        MILLRACE_TRY(const HeldBuffer x, own.put(numbers()));
        MILLRACE_TRY(const HeldBuffer y, own.apply(increment.get(), x.get()));
        MILLRACE_TRY(const Floats got, own.get(y.get()));
        MILLRACE_TRY_STATUS(expect_floats(got, Floats{2, 3, 4, 5}, "the result of a client"));
      }
      MILLRACE_TRY_STATUS(own.close());
    }
    return {};
  });
}

}  // namespace

std::vector<Check> thread_checks() {
  return after(
      {"execute.result", "events.completes"},
      {
          {.name = "threads.describe",
           .wants = "sixteen threads ask for names and memories at once",
           .run = &describe},
          {.name = "threads.put", .wants = "sixteen threads put arrays at once", .run = &put},
          {.name = "threads.destroy",
           .wants = "buffers are destroyed by other threads than made them",
           .run = &destroy},
          {.name = "threads.read",
           .wants = "sixteen threads read one buffer at once",
           .run = &read},
          {.name = "threads.compile", .wants = "sixteen threads compile at once", .run = &compile},
          {.name = "threads.execute",
           .wants = "sixteen threads launch one program at once",
           .run = &execute,
           .after = {"threads.destroy"}},
          {.name = "threads.await",
           .wants = "sixteen threads wait for one event at once",
           .run = &await,
           .after = {"events.await"}},
          {.name = "threads.callbacks",
           .wants = "sixteen threads ask one event to call while it becomes ready",
           .run = &callbacks,
           .after = {"events.every_callback"}},
          {.name = "threads.delete_race",
           .wants = "a buffer is deleted while it is read: each reader is right, or refused",
           .run = &delete_race,
           .after = {"deletion.is_deleted", "deletion.twice", "deletion.then_read"}},
          {.name = "threads.mixed",
           .wants = "sixteen threads put, launch, read, wait and delete at once",
           .run = &mixed,
           .after = {"execute.complete_event", "threads.put", "threads.read", "threads.execute",
                     "threads.delete_race"}},
          {.name = "threads.clients",
           .wants = "four threads make, use and destroy clients at once",
           .run = &clients,
           .after = {"client.create_again"}},
      });
}

}  // namespace millrace::conform
