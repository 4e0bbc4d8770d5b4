// Several runtimes on the same threads: what one of them ends is its own. Real threads: they are
// what is shared.
#include "millrace/tools/api/runtime_threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/exec/pool_executor.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/millrace.h"
#include "millrace/tools/api/model.h"
#include "millrace/transfer/batcher.h"
#include "tests/support/paths.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/serve/scaler_model.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;
using millrace::testing::TempFolder;

std::shared_ptr<RuntimeThreads> two_threads() {
  return RuntimeThreads::create({.threads = 2, .blocking_threads = 1}).value();
}
Runtime runtime_on(std::shared_ptr<RuntimeThreads> threads, int devices = 1) {
  RuntimeOptions options{.device = "cpu", .devices = devices};
  options.shared_threads = std::move(threads);
  return Runtime::create(std::move(options)).value();
}

constexpr const char* kDouble =
    "func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {\n"
    "  %0 = stablehlo.add %x, %x : tensor<4096xf32>\n  return %0 : tensor<4096xf32>\n}\n";

// 2 * first, by the runtime's device; its error.
Result<float> doubled(const Runtime& runtime, float first) {
  const Device device = runtime.device(0);
  const Future<Executable> program = runtime.compile(Program::from_text(kDouble));
  const Future<Buffer> x = device.put(std::vector<float>(4096, first), {4096});
  const Future<Buffers> y = execute(device, program, {x});
  const Result<HostArray> out = wait_blocking(fetch(device, y, 0));
  if (!out) return std::unexpected(out.error());
  return out->as<float>()[4095];
}

Future<void> asleep(TimerQueue& timers) { return sleep_until(steady_clock().now() + 1h, timers); }

TEST(RuntimeThreadsTest, ACloseEndsWhatItsRuntimeHasBegunAndNoThread) {
  const auto threads = two_threads();
  std::optional<Runtime> first = runtime_on(threads);
  const Runtime second = runtime_on(threads, 2);
  EXPECT_EQ(doubled(*first, 1).value(), 2);
  EXPECT_EQ(doubled(second, 2).value(), 4);
  EXPECT_EQ(&first->loop(), &second.loop());

  const Future<void> of_first = asleep(*first->environment().timers);
  const Future<void> of_second = asleep(*second.environment().timers);
  const Future<void> of_all = asleep(threads->loop().timers());
  of_all.ignore();
  Promise<int> promise;
  const Future<int> later =
      promise.future().then(first->compute(), [](const Result<int>& r) { return *r; });
  const Device device = first->device(0);
  EXPECT_TRUE(wait_blocking(first->close()));
  EXPECT_EQ(of_first.result().error().code(), ErrorCode::kAborted);
  first.reset();
  promise.set(1);
  EXPECT_EQ(later.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(wait_blocking(device.put(std::vector<float>{1}, {1})).error().code(),
            ErrorCode::kUnavailable);

  EXPECT_FALSE(of_second.ready());
  EXPECT_FALSE(of_all.ready());
  EXPECT_EQ(doubled(second, 3).value(), 6);
  EXPECT_TRUE(wait_blocking(second.close()));
  EXPECT_EQ(of_second.result().error().code(), ErrorCode::kAborted);
  EXPECT_FALSE(of_all.ready());
  EXPECT_EQ(wait_blocking(make_ready(7).then(threads->compute(), [](Result<int> r) { return *r; }))
                .value(),
            7);
}

// What is on its way through one runtime's executors, timers and devices while that one closes.
TEST(RuntimeThreadsTest, OneRuntimeClosesWhileBothWork) {
  const auto threads = two_threads();
  const Runtime stays = runtime_on(threads);
  for (int round = 0; round < 20; ++round) {
    std::vector<Promise<int>> promises(50);
    std::vector<Future<int>> futures;
    std::vector<Future<void>> on_device;
    std::optional<Runtime> goes = runtime_on(threads);
    for (Promise<int>& promise : promises) {
      futures.push_back(promise.future().then(goes->compute(), [](Result<int> r) { return *r; }));
      futures.push_back(
          with_deadline(promise.future(), steady_clock().now() + 1h, *goes->environment().timers));
      for (const Runtime* const runtime : {std::as_const(goes).operator->(), &stays}) {
        const Future<Buffer> put = runtime->device(0).put(std::vector<float>(64, 1), {64});
        on_device.push_back(put.then(runtime->compute(), [](const Result<Buffer>&) {}));
      }
    }
    Future<void> set = make_ready().then(threads->blocking(), [&](const Status&) {
      for (Promise<int>& promise : promises) promise.set(1);
    });
    goes.reset();
    EXPECT_TRUE(wait_blocking(set));
    for (const Future<int>& future : futures) {
      const Result<int> result = wait_blocking(future);
      EXPECT_TRUE(result || result.error().code() == ErrorCode::kAborted);
    }
    for (std::size_t i = 0; i < on_device.size(); ++i) {
      const Status done = wait_blocking(on_device[i]);
      EXPECT_TRUE(done || i % 2 == 0) << "the other runtime's work is not ended";
    }
  }
  EXPECT_EQ(doubled(stays, 5).value(), 10);
}

std::vector<float> answer(const transfer::Batcher& batcher, std::vector<float> values) {
  const auto kept = std::make_shared<const std::vector<float>>(std::move(values));
  HostView view;
  view.data = kept->data();
  view.shape = Shape(DType::kF32, {1, 2});
  view.owner = kept;
  const Result<transfer::RowOutputs> rows =
      wait_blocking(batcher.run("scaler", {transfer::RowInput{.name = "x", .view = view}}));
  if (!rows) return {};
  const auto answers = rows->at(0).array.as<float>();
  return {answers.begin(), answers.end()};
}

TEST(RuntimeThreadsTest, TwoModelsOfTwoRuntimesAnswerOnTheSameThreads) {
  const auto threads = two_threads();
  const TempFolder folder;
  millrace::testing::write_model(folder);
  millrace::testing::write_weights(folder.file("twice.safetensors"), "scale", {2, 2});
  millrace::testing::write_weights(folder.file("thrice.safetensors"), "scale", {3, 3});
  struct Served {
    Served(std::shared_ptr<RuntimeThreads> threads, const TempFolder& folder,
           const std::string& weights)
        : runtime(runtime_on(std::move(threads))),
          model(wait_blocking(Model::load(runtime, {.folder = folder.path(),
                                                    .weights = folder.file(weights)}))
                    .value()),
          batcher(transfer::Batcher::create(runtime.actors(), {.devices = {runtime.device(0)}})
                      .value()) {
      EXPECT_TRUE(batcher.add(model.batches()));
    }
    Runtime runtime;
    Model model;
    transfer::Batcher batcher;
  };
  auto twice = std::make_unique<Served>(threads, folder, "twice.safetensors");
  const Served thrice(threads, folder, "thrice.safetensors");
  EXPECT_EQ(answer(twice->batcher, {1, 2}), (std::vector<float>{2, 4}));
  EXPECT_EQ(answer(thrice.batcher, {1, 2}), (std::vector<float>{3, 6}));
  EXPECT_TRUE(wait_blocking(twice->batcher.close()));
  twice.reset();
  EXPECT_EQ(answer(thrice.batcher, {2, 1}), (std::vector<float>{6, 3}));
  EXPECT_TRUE(wait_blocking(thrice.batcher.close()));
}

TEST(RuntimeThreadsTest, APluginAndTheCpuDeviceComputeSideBySide) {
  const auto threads = two_threads();
  const Runtime cpu = runtime_on(threads);
  RuntimeOptions options{.device = "plugin", .devices = 1};
  options.plugins.push_back({.name = "plugin",
                             .path = testing::build_folder() + "/lib/libmillrace_pjrt.so",
                             .origin = devices::pjrt::kGivenPlugin});
  options.shared_threads = threads;
  std::optional<Runtime> plugin = Runtime::create(options).value();
  EXPECT_EQ(doubled(cpu, 1).value(), 2);
  EXPECT_EQ(doubled(*plugin, 2).value(), 4);
  const Future<Buffer> there = plugin->device(0).put(std::vector<float>{1, 2}, {2});
  const Future<Buffer> here = cpu.device(0).copy_from(there);
  EXPECT_EQ(wait_blocking(cpu.device(0).fetch(here)).value().as<float>()[1], 2);
  EXPECT_TRUE(wait_blocking(plugin->close()));
  plugin.reset();
  EXPECT_EQ(doubled(cpu, 3).value(), 6);
}

// A plugin has a copy of our executors, and both have oneTBB's workers.
TEST(RuntimeThreadsTest, AfterAPluginOfOursAllThreadsRunAtOnce) {
  for (const char* device : {"plugin", "cpu"}) {
    RuntimeOptions options{.device = device, .devices = 1, .threads = 3};
    options.plugins.push_back({.name = "plugin",
                               .path = testing::build_folder() + "/lib/libmillrace_pjrt.so",
                               .origin = devices::pjrt::kGivenPlugin});
    const Runtime runtime = Runtime::create(options).value();
    EXPECT_EQ(doubled(runtime, 1).value(), 2);
    if (options.device == "plugin") continue;
    std::latch all(3);
    const auto meet = [&](const Status&) { all.arrive_and_wait(); };
    std::vector<Future<void>> meetings;
    for (int i = 0; i < 3; ++i) meetings.push_back(make_ready().then(runtime.compute(), meet));
    EXPECT_TRUE(wait_blocking(when_all(meetings)));
  }
}

TEST(RuntimeThreadsTest, AProgramsOwnExecutorsAndLoopRunOn) {
  EventLoopThread loop(create_uv_event_loop().value(), "test-loop");
  const auto compute = make_thread_executor(1, "test-compute");
  const auto blocking = make_thread_executor(1, "test-blocking");
  {
    const Runtime runtime = runtime_on(RuntimeThreads::make(
        {.loop = &loop.loop(), .compute = compute.get(), .blocking = blocking.get()}));
    EXPECT_EQ(doubled(runtime, 4).value(), 8);
    const Future<bool> there = make_ready().then(
        runtime.compute(), [&](const Status&) { return compute->on_own_thread(); });
    EXPECT_TRUE(wait_blocking(there).value());
    const Future<void> slept =
        sleep_until(steady_clock().now() + 1ms, *runtime.environment().timers);
    EXPECT_TRUE(wait_blocking(slept)) << "its timers are driven by the loop";
  }
  for (Executor* executor :
       {static_cast<Executor*>(compute.get()), static_cast<Executor*>(blocking.get()),
        static_cast<Executor*>(&loop.loop())}) {
    EXPECT_TRUE(wait_blocking(make_ready().then(*executor, [](const Status&) {})));
  }
}

std::vector<int> cores_here() {
  cpu_set_t set;
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

TEST(RuntimeThreadsTest, WhatComputesStaysOnItsCores) {
  const std::vector<int> all = cores_here();
  const std::vector<int> last = {all.back()};
  const auto threads = RuntimeThreads::create({.cores = last}).value();
  EXPECT_EQ(threads->threads(), 1) << "one per core";
  const auto seen = [](const Status&) { return cores_here(); };
  EXPECT_EQ(wait_blocking(make_ready().then(threads->compute(), seen)).value(), last);
  EXPECT_EQ(wait_blocking(make_ready().then(threads->programs(), seen)).value(), last);
  EXPECT_EQ(wait_blocking(make_ready().then(threads->blocking(), seen)).value(), all);
  EXPECT_EQ(doubled(runtime_on(threads), 1).value(), 2);
}

TEST(RuntimeThreadsTest, WhatCannotBeIsNamed) {
  const auto message = [](RuntimeThreadsOptions options) {
    const auto made = RuntimeThreads::create(options);
    EXPECT_FALSE(made);
    if (made) return std::string();
    EXPECT_EQ(made.error().code(), ErrorCode::kInvalidArgument);
    return made.error().message();
  };
  EXPECT_NE(message({.cores = {1 << 20}}).find("core 1048576"), std::string::npos);
  EXPECT_NE(message({.threads = -1}).find("threads is -1"), std::string::npos);
  EXPECT_NE(message({.blocking_threads = 0}).find("blocking_threads is 0"), std::string::npos);
}

TEST(RuntimeThreadsTest, NoneOfTheirExecutorsMakesARuntimeOnThem) {
  RuntimeOptions options{.device = "cpu"};
  options.shared_threads = two_threads();
  const Future<Runtime> made = Runtime::create_on(options.shared_threads->blocking(), options);
  EXPECT_EQ(wait_blocking(made).error().code(), ErrorCode::kInvalidArgument);
}

TEST(RuntimeThreadsDeathTest, TheLastHandleOnOneOfTheirThreadsEndsTheProcessWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto threads = two_threads();
        Executor& compute = threads->compute();
        post(compute, [threads = std::exchange(threads, {})]() mutable { threads.reset(); });
        Promise<void> never;
        static_cast<void>(wait_blocking(never.future()));
      },
      "RuntimeThreads were destroyed on one of their own threads");
}

TEST(RuntimeThreadsDeathTest, ARuntimesEndOnOneOfTheirThreadsEndsTheProcessWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const auto threads = two_threads();
        const Runtime other = runtime_on(threads);
        auto runtime = std::make_shared<std::optional<Runtime>>(runtime_on(threads));
        post(other.compute(), [runtime] { runtime->reset(); });
        Promise<void> never;
        static_cast<void>(wait_blocking(never.future()));
      },
      "a Runtime was destroyed on one of its own threads");
}

}  // namespace
}  // namespace millrace
