// What waits, and what is held, longer than its runtime: it ends with an error and never crashes.
// On real threads, because a Runtime's threads are what goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "millrace/actors/supervisor.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/loop/uv_bridge.h"
#include "millrace/millrace.h"
#include "millrace/transfer/array_source.h"
#include "millrace/transfer/device_loader.h"

#include <uv.h>

namespace millrace {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::Eq;

RuntimeOptions small(int devices = 1) {
  RuntimeOptions options;
  options.device = "cpu";
  options.devices = devices;
  options.threads = 2;
  options.blocking_threads = 1;
  return options;
}
Runtime make_runtime(int devices = 1) { return Runtime::create(small(devices)).value(); }

template <class T>
ErrorCode code_of(const Future<T>& future) {
  const Result<T> result = wait_blocking(future);
  return result ? ErrorCode::kUnknown : result.error().code();
}
const auto kRefused = AnyOf(Eq(ErrorCode::kAborted), Eq(ErrorCode::kUnavailable));

Task<int> nap(TimerQueue& timers, std::shared_ptr<int> kept) {
  for (;;) {  // a task that overlooks a failed sleep ends, too
    const Future<void> zzz = sleep_until(steady_clock().now() + 1h, timers);
    if (const Status slept = co_await zzz; slept) co_return *kept;
  }
}

TEST(RuntimeGoesFirstTest, CloseEndsWhatSleepsOnItsTimers) {
  const auto kept = std::make_shared<int>(1);
  Future<int> task, limited;
  Future<void> asleep, continued;
  Promise<int> promise;
  std::atomic<bool> told_on_compute{false};
  {
    Runtime runtime = make_runtime();
    TimerQueue& timers = runtime.loop().timers();
    task = spawn(runtime.compute(), nap(timers, kept));
    asleep = sleep_until(steady_clock().now() + 1h, timers);
    limited = with_deadline(promise.future(), steady_clock().now() + 1h, timers);
    continued =
        asleep.then(runtime.compute(), [&, kept](const Status&) { told_on_compute = true; });
    EXPECT_TRUE(wait_blocking(runtime.close()));
    for (const Future<void>& future : {asleep, continued}) EXPECT_TRUE(future.ready());
    EXPECT_EQ(asleep.result().error().code(), ErrorCode::kAborted);
    EXPECT_EQ(limited.result().error().code(), ErrorCode::kAborted);
    EXPECT_EQ(task.result().error().code(), ErrorCode::kAborted);
    EXPECT_EQ(told_on_compute, continued.result().has_value());
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_EQ(code_of(sleep_until(steady_clock().now() + 1h, timers)), ErrorCode::kAborted);
  }
  promise.set(1);
}

Task<int> wait_for(Future<int> future, std::shared_ptr<int> kept) {
  const Result<int> value = co_await future;
  co_return value ? *value + *kept : 0;
}

TEST(RuntimeGoesFirstTest, WhatIsSetLaterIsRefusedQuietly) {
  for (const bool closed_before : {false, true}) {
    const auto kept = std::make_shared<int>(1);
    Promise<int> promise;
    std::vector<Future<int>> futures;
    {
      Runtime runtime = make_runtime();
      const auto use = [kept](Result<int>) { return *kept; };
      futures.push_back(promise.future().then(runtime.compute(), use));
      futures.push_back(promise.future().then(runtime.loop(), use));
      futures.push_back(promise.future().then(*runtime.environment().blocking, use));
      futures.push_back(spawn(runtime.compute(), wait_for(promise.future(), kept)));
      futures.push_back(spawn(runtime.loop(), wait_for(promise.future(), kept)));
      if (closed_before) {
        EXPECT_TRUE(wait_blocking(runtime.close()));
      }
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(futures[i].ready());
    promise.set(3);  // a task may not even have begun
    for (const Future<int>& future : futures)
      EXPECT_EQ(future.result().error().code(), ErrorCode::kAborted);
    EXPECT_EQ(kept.use_count(), 1) << "closures and frames are destroyed";
  }
}

TEST(RuntimeGoesFirstTest, ValuesThatComeWhileItCloses) {
  for (int round = 0; round < 20; ++round) {
    std::vector<Promise<int>> promises(200);
    std::vector<Future<int>> futures;
    std::optional<Runtime> runtime = make_runtime();
    for (Promise<int>& promise : promises) {
      futures.push_back(
          promise.future().then(runtime->compute(), [](Result<int> r) { return *r; }));
      futures.push_back(
          with_deadline(promise.future(), steady_clock().now() + 1h, runtime->loop().timers())
              .then(runtime->loop(), [](Result<int> r) { return r; }));
    }
    std::thread setter([&] {
      for (Promise<int>& promise : promises) promise.set(1);
    });
    runtime.reset();
    setter.join();
    for (const Future<int>& future : futures) {
      ASSERT_TRUE(future.ready());
      EXPECT_TRUE(future.result() || future.result().error().code() == ErrorCode::kAborted);
    }
  }
}

TEST(RuntimeGoesFirstTest, ALoadersNextEndsWithAnError) {
  std::optional<transfer::DeviceLoader> loader;
  Future<std::optional<transfer::DeviceBatch>> waiting;
  {
    const Runtime runtime = make_runtime();
    const auto numbers = HostArray::make(Shape(DType::kF32, {4096}));
    auto source = transfer::ArraySource::create({{"numbers", numbers}}).value();
    loader = transfer::DeviceLoader::create(runtime.environment(), source, {runtime.device(0)},
                                            {.batch_size = 8})
                 .value();
    EXPECT_TRUE(wait_blocking(loader->next(0)));
  }
  std::optional<Error> error;
  for (int i = 0; i < 600 && !error; ++i) {  // what was there before is given
    const auto next = wait_blocking(loader->next(0));
    if (!next) error = next.error();
  }
  ASSERT_TRUE(error);
  EXPECT_THAT(error->code(), kRefused) << error->to_string();
  EXPECT_THAT(code_of(loader->next(0, {.stop = {}, .deadline = steady_clock().now() + 1h})),
              kRefused);
  static_cast<void>(wait_blocking(loader->close()));
  EXPECT_EQ(code_of(loader->next(0)), ErrorCode::kUnavailable);
}

TEST(RuntimeGoesFirstTest, DevicesAndGroupsRefuse) {
  std::vector<Device> devices;
  std::vector<collectives::ProcessGroup> ranks;
  Executable program;
  std::vector<float> values = {1, 2};
  Buffer held;
  {
    const Runtime runtime = make_runtime(2);
    devices.assign(runtime.devices().begin(), runtime.devices().end());
    ranks = collectives::ProcessGroup::create(runtime.actors(), "g", devices).value();
    program = wait_blocking(runtime.compile(Program::from_text(
                                "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                                "  return %x : tensor<2xf32>\n}\n")))
                  .value();
    const Future<Buffer> put = devices[0].put(
        {.data = values.data(), .shape = Shape(DType::kF32, {2}), .byte_strides = {}, .owner = {}});
    held = wait_blocking(put).value();
  }
  const Device& device = devices[0];
  const CallOptions in_an_hour{.stop = {}, .deadline = steady_clock().now() + 1h};
  const std::vector<Argument> arguments = {held};
  EXPECT_EQ(code_of(device.put({.data = values.data(),
                                .shape = Shape(DType::kF32, {2}),
                                .byte_strides = {},
                                .owner = {}})),
            ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(device.execute(program, std::span<const Argument>(arguments))),
            ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(device.fetch(held, in_an_hour)), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(devices[1].copy_from(held)), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(device.default_layout(Shape(DType::kF32, {2}))), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(device.restart()), ErrorCode::kUnavailable);
  EXPECT_FALSE(device.kill(Error(ErrorCode::kInternal, "no")));
  EXPECT_TRUE(wait_blocking(device.close()));
  EXPECT_EQ(device.stats().puts, 1U);

  collectives::CollectiveOptions limited;
  limited.call = in_an_hour;
  EXPECT_THAT(code_of(ranks[0].all_reduce({held}, collectives::ReduceOp::kSum, limited)), kRefused);
  EXPECT_THAT(code_of(ranks[1].barrier()), kRefused);
  EXPECT_THAT(code_of(ranks[0].rendezvous("t", "p", {}, in_an_hour)), kRefused);
  ranks[0].fail_rank(ranks[0].rank(), Error(ErrorCode::kInternal, "no"));
  EXPECT_TRUE(wait_blocking(ranks[0].close()));
}

struct Echo {
  int value = 0;
};
class Echoes final : public actors::Actor {
 public:
  int on(const Echo& echo) { return echo.value; }
};

TEST(RuntimeGoesFirstTest, ActorsRefuse) {
  actors::ActorRef<Echoes> echoes;
  actors::ChildRef<Echoes> child;
  {
    const Runtime runtime = make_runtime();
    echoes = runtime.actors().spawn<Echoes>("echoes", {}).value();
    auto root =
        runtime.actors()
            .spawn<actors::Supervisor>("root", {}, std::vector{actors::child<Echoes>("child", {})})
            .value();
    child = wait_blocking(actors::Supervisor::child<Echoes>(root, "child")).value();
    EXPECT_EQ(wait_blocking(child.ask(Echo{3})).value(), 3);
  }
  const CallOptions in_an_hour{.stop = {}, .deadline = steady_clock().now() + 1h};
  EXPECT_EQ(code_of(echoes.ask(Echo{1})), ErrorCode::kUnavailable);
  EXPECT_THAT(code_of(echoes.ask(Echo{1}, in_an_hour)), kRefused);
  EXPECT_EQ(code_of(echoes.tell(Echo{1}, in_an_hour)), ErrorCode::kUnavailable);
  EXPECT_TRUE(wait_blocking(echoes.stop()));
  EXPECT_EQ(code_of(child.ask(Echo{1}, in_an_hour)), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(child.next_incarnation()), ErrorCode::kUnavailable);
}

struct Nap {};
struct Wait {};
// Waits for an hour in its handlers, in one of its hooks, or in all of them, and more than once.
class Sleeper final : public actors::Actor {
 public:
  enum class Hook { kNone, kStart, kStop };
  Sleeper(TimerQueue& timers, Hook sleeps_in, Promise<void> begun)
      : timers_(timers), sleeps_in_(sleeps_in), begun_(std::move(begun)) {}
  Future<void> on_start() override { return hook(Hook::kStart); }
  Future<void> on_stop(const actors::Exit&) override { return hook(Hook::kStop); }
  Future<void> on(const Nap&) {
    begun_.set_value();
    return spawn(context().executor(), twice());
  }
  Future<void> on(const Wait&) {
    begun_.set_value();
    return with_deadline(never_.future(), an_hour(), timers_);
  }

 private:
  TimePoint an_hour() const { return steady_clock().now() + 1h; }
  Future<void> hook(Hook which) {
    if (which != sleeps_in_) return {};
    if (which == Hook::kStart) begun_.set_value();
    return spawn(context().executor(), twice());
  }
  Task<void> twice() {
    const Future<void> first = sleep_until(an_hour(), timers_);
    co_await first;
    const Future<void> second = sleep_until(an_hour(), timers_);
    const Status slept = co_await second;
    EXPECT_EQ(slept.error().code(), ErrorCode::kAborted);
    if (!slept) co_await end_with(slept.error());
  }

  TimerQueue& timers_;
  const Hook sleeps_in_;
  Promise<void> begun_;
  Promise<void> never_;
};

TEST(RuntimeGoesFirstTest, CloseEndsHandlersThatSleep) {
  Future<void> napped, waited;
  {
    const Runtime runtime = make_runtime();
    TimerQueue& timers = runtime.loop().timers();
    std::vector<Promise<void>> begun(2);
    const std::vector<Future<void>> begins = {begun[0].future(), begun[1].future()};
    const auto naps =
        runtime.actors()
            .spawn<Sleeper>("naps", {}, std::ref(timers), Sleeper::Hook::kNone, std::move(begun[0]))
            .value();
    const auto waits = runtime.actors()
                           .spawn<Sleeper>("waits", {}, std::ref(timers), Sleeper::Hook::kNone,
                                           std::move(begun[1]))
                           .value();
    napped = naps.ask(Nap{});
    waited = waits.ask(Wait{});
    EXPECT_TRUE(wait_blocking(when_all(begins)));
    EXPECT_TRUE(wait_blocking(runtime.close()));
  }
  EXPECT_THAT(code_of(napped), kRefused);
  EXPECT_THAT(code_of(waited), kRefused);
}

TEST(RuntimeGoesFirstTest, CloseEndsHooksThatSleep) {
  for (const Sleeper::Hook hook : {Sleeper::Hook::kStart, Sleeper::Hook::kStop}) {
    const Runtime runtime = make_runtime();
    Promise<void> promise;
    const Future<void> begun = promise.future();
    const auto sleeper = runtime.actors()
                             .spawn<Sleeper>("sleeper", {}, std::ref(runtime.loop().timers()), hook,
                                             std::move(promise))
                             .value();
    if (hook == Sleeper::Hook::kStart) {
      EXPECT_TRUE(wait_blocking(begun));
    }
    EXPECT_TRUE(wait_blocking(runtime.close()));
    EXPECT_TRUE(sleeper.down().ready());
  }
}

class OwnThreadTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Of, OwnThreadTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Loop" : "Compute"; });

TEST_P(OwnThreadTest, DestroyingTheRuntimeThereEndsTheProcessWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto runtime = std::make_shared<std::optional<Runtime>>(make_runtime());
        Executor& home = GetParam() ? (*runtime)->loop() : (*runtime)->compute();
        post(home, [runtime] { runtime->reset(); });
        Promise<void> never;
        static_cast<void>(wait_blocking(never.future()));
      },
      "a Runtime was destroyed on one of its own threads");
}

// The loop's thread completes close(), after its loop has ended.
TEST(OwnThreadDeathTest, DestroyingTheRuntimeAsItsCloseCompletesEndsWithTheSameSentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto runtime = std::make_shared<std::optional<Runtime>>(make_runtime());
        post((*runtime)->loop(), [runtime] {  // it cannot complete before `then` has been called
          (*runtime)
              ->close()
              .then(inline_executor(), [runtime](const Status&) { runtime->reset(); })
              .ignore();
        });
        Promise<void> never;
        static_cast<void>(wait_blocking(never.future()));
      },
      "a Runtime was destroyed on one of its own threads");
}

TEST_P(OwnThreadTest, WaitingForItsCloseThereEndsTheProcessWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Runtime runtime = make_runtime();
        Executor& home = GetParam() ? runtime.loop() : runtime.compute();
        post(home, [&] { static_cast<void>(wait_blocking(runtime.close())); });
        Promise<void> never;
        static_cast<void>(wait_blocking(never.future()));
      },
      GetParam() ? "would stop the loop" : "would wait for this thread's own end");
}

TEST(RuntimeGoesFirstTest, ACloseThatIsNotWaitedForMayBeginOnItsOwnThread) {
  const Runtime runtime = make_runtime();
  const Future<int> begun = make_ready(1).then(runtime.compute(), [&](Result<int> r) {
    runtime.close().ignore();
    return *r;
  });
  static_cast<void>(wait_blocking(begun));
  EXPECT_TRUE(wait_blocking(runtime.close()));
}

TEST(RuntimeGoesFirstTest, ItsEndMayBeWaitedForWhereABridgeIsOpen) {
  uv_loop_t loop;
  ASSERT_EQ(uv_loop_init(&loop), 0);
  {
    const UvBridge bridge = UvBridge::create(&loop).value();
    EXPECT_TRUE(on_bridged_thread());
    EXPECT_EQ(wait_blocking(make_ready(1)).value(), 1) << "it is there already";
    const Runtime runtime = make_runtime();
  }
  while (uv_loop_close(&loop) == UV_EBUSY) uv_run(&loop, UV_RUN_DEFAULT);
}

}  // namespace
}  // namespace millrace
