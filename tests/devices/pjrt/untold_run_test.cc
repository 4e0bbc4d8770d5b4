// Launches that do not want to know of their end (LaunchArguments::wants_done): the plugin makes no
// event for them, and still no run is forgotten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/blocking.h"
#include "millrace/core/make_executor.h"
#include "millrace/core/trace.h"
#include "tests/devices/pjrt/fake_programs.h"

namespace millrace::devices::pjrt {
namespace {

using ::testing::HasSubstr;

constexpr int kInternalCode = 13;  // as plugins number it

class UntoldRunTest : public FakePrograms {
 protected:
  void SetUp() override {
    FakePrograms::SetUp();
    asked.clear();
    told = 0;
    fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
      a->output_lists[0][0] = FakePlugin::make_buffer();
      if (a->device_complete_events == nullptr) return nullptr;
      ++told;
      a->device_complete_events[0] = FakePlugin::make_event();
      FakePlugin::set_event(a->device_complete_events[0], 0, "");
      return nullptr;
    });
    fake_.replace(+[](abi::BufferReadyEventArgs* a) -> abi::Error* {
      a->event = FakePlugin::make_event();
      asked.push_back(a->event);
      return nullptr;
    });
  }
  // The output of a run that goes on.
  Buffer run_on(const Buffer& input) {
    LaunchResult result;
    EXPECT_TRUE(launch(input, result, false));
    EXPECT_FALSE(result.done.valid());
    return result.outputs[0];
  }
  Buffer run() { return run_on(put().value()); }
  // close() has begun, and waits for one run, whose output's event is the last one asked for.
  void expect_waits(const Future<void>& closed) {
    executor_.run_until_idle();
    EXPECT_FALSE(closed.ready());
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(FakePlugin::buffers_alive, 0);
    FakePlugin::set_event(asked[0], 0, "");
    executor_.run_until_idle();
    ASSERT_TRUE(closed.ready());
    EXPECT_TRUE(closed.result());
  }

  static inline std::vector<abi::Event*> asked;  // events of states of buffers
  static inline int told = 0;                    // runs with an event of their own
};

TEST_F(UntoldRunTest, ChainMakesNoEventAndItsLastOutputTellsOfAll) {
  Buffer y = put().value();
  for (int i = 0; i < 10; ++i) y = run_on(y);
  EXPECT_EQ(told, 0);
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_EQ(FakePlugin::buffers_alive, 1);
  const Future<void> ready = y.ready();
  ASSERT_EQ(asked.size(), 1U);
  FakePlugin::set_event(asked[0], kInternalCode, "the third fell over");
  executor_.run_until_idle();
  ASSERT_TRUE(ready.ready());
  EXPECT_THAT(ready.result().error().message(), HasSubstr("the third fell over"));
  y = Buffer();
  ASSERT_EQ(asked.size(), 2U) << "what has failed may still run";
  FakePlugin::set_event(asked[1], kInternalCode, "the third fell over");
  executor_.run_until_idle();
}

TEST_F(UntoldRunTest, CloseWaitsForARunWhoseOutputIsGone) {
  run();
  expect_waits(client_->close());
}

TEST_F(UntoldRunTest, CloseWaitsForARunWhoseOutputWasRemoved) {
  Buffer y = run();
  y.remove();
  y = Buffer();
  expect_waits(client_->close());
}

TEST_F(UntoldRunTest, OutputThatIsKnownToBeThereIsNotAskedAgain) {
  Buffer y = run();
  fake_.replace(+[](abi::BufferReadyEventArgs* a) -> abi::Error* {
    a->event = FakePlugin::make_event();
    asked.push_back(a->event);
    FakePlugin::set_event(a->event, 0, "");
    return nullptr;
  });
  EXPECT_TRUE(y.ready().ready());
  y = Buffer();
  EXPECT_EQ(asked.size(), 1U);
  run();  // of which nobody has asked
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_EQ(FakePlugin::events_alive, 0);
}

TEST_F(UntoldRunTest, OutputThatALaunchHasTakenIsNotAsked) {
  const Buffer y = run();
  LaunchResult result;
  ASSERT_TRUE(launch(y, result));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(result.done.result());
  EXPECT_TRUE(asked.empty());
}

TEST_F(UntoldRunTest, OutputThatARefusedLaunchHasNotTakenIsAsked) {
  Buffer y = run();
  refuse<abi::LoadedExecutableExecuteArgs>();
  LaunchResult result;
  EXPECT_FALSE(launch(y, result, false));
  y = Buffer();
  expect_waits(client_->close());
}

// The client closes, and the run still goes on when its output goes.
TEST_F(UntoldRunTest, ClientIsNotDestroyedWhileARunGoesOn) {
  Buffer y = run();
  const Future<void> closed = client_->close();
  executor_.run_until_idle();
  EXPECT_TRUE(closed.ready());
  y = Buffer();
  ASSERT_EQ(asked.size(), 1U);
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 1) << "the plugin owes it an event";
  FakePlugin::set_event(asked[0], 0, "");
  EXPECT_EQ(FakePlugin::events_alive, 0);
  FakePlugin::clients_alive = 0;
  client_ = PjrtClient::create(*plugin_, {.completions = &executor_}).value();  // to be closed
}

TEST_F(UntoldRunTest, KilledDeviceEndsTheWaitForARun) {
  run();
  const Future<void> closed = client_->close();
  executor_.run_until_idle();
  EXPECT_FALSE(closed.ready());
  EXPECT_TRUE(client_->kill(DeviceId{0}, Error(ErrorCode::kUnavailable, "unplugged")));
  executor_.run_until_idle();
  ASSERT_TRUE(closed.ready());
  EXPECT_THAT(closed.result().error().message(),
              HasSubstr("has never ended PJRT_Buffer_ReadyEvent (1)"));
  ASSERT_EQ(asked.size(), 1U);
  FakePlugin::set_event(asked[0], 0, "");
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 0);
  client_ = PjrtClient::create(*plugin_, {.completions = &executor_}).value();  // to be closed
}

TEST_F(UntoldRunTest, PluginThatDoesNotTellOfAnOutputHoldsUpNothing) {
  refuse<abi::BufferReadyEventArgs>();
  run();
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

TEST_F(UntoldRunTest, ProgramWithoutOutputsTellsOfItsEnd) {
  fake_.replace(+[](abi::ExecutableOutputElementTypesArgs* a) -> abi::Error* {
    a->num_output_types = 0;
    return nullptr;
  });
  fake_.replace(+[](abi::ExecutableOutputDimensionsArgs* a) -> abi::Error* {
    a->num_outputs = 0;
    return nullptr;
  });
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    ++told;
    a->device_complete_events[0] = FakePlugin::make_event();
    FakePlugin::set_event(a->device_complete_events[0], 0, "");
    return nullptr;
  });
  LaunchResult result;
  ASSERT_TRUE(launch(put().value(), result, false));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(result.done.result());
}

TEST_F(UntoldRunTest, TimelineKnowsOfEveryEnd) {
  const Future<void> closed = client_->close();
  executor_.run_until_idle();
  client_.reset();
  TraceRecorder trace(steady_clock());
  client_ = PjrtClient::create(*plugin_, {.completions = &executor_, .trace = &trace}).value();
  LaunchResult result;
  ASSERT_TRUE(launch(put().value(), result, false));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(result.done.result());
  result = {};
  TearDown();  // before the timeline goes
  FakePrograms::SetUp();
}

// Events that a thread of the plugin's sets, each once somebody waits for it.
struct SetByAThread {
  static inline std::mutex mutex;
  static inline std::vector<abi::EventOnReadyArgs> waiting;

  explicit SetByAThread(FakePlugin& fake) {
    fake.replace(+[](abi::EventOnReadyArgs* a) -> abi::Error* {
      const std::lock_guard lock(mutex);
      waiting.push_back(*a);
      return nullptr;
    });
  }
  ~SetByAThread() {
    done = true;
    thread.join();
  }
  void run() {
    while (!done) {
      std::vector<abi::EventOnReadyArgs> set;
      {
        const std::lock_guard lock(mutex);
        set.swap(waiting);
      }
      for (const abi::EventOnReadyArgs& one : set) one.callback(nullptr, one.user_arg);
      std::this_thread::yield();
    }
  }
  std::atomic<bool> done{false};
  std::thread thread{[this] { run(); }};
};

// Real threads: outputs are taken, asked, removed and dropped by several at once, while the plugin
// calls back.
TEST_F(UntoldRunTest, RunsOfManyThreadsAreAllWaitedFor) {
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    a->output_lists[0][0] = FakePlugin::make_buffer();
    if (a->device_complete_events != nullptr)
      a->device_complete_events[0] = FakePlugin::make_event();
    return nullptr;
  });
  fake_.replace(+[](abi::BufferReadyEventArgs* a) -> abi::Error* {
    a->event = FakePlugin::make_event();
    return nullptr;
  });
  fake_.replace(+[](abi::BufferDeleteArgs*) -> abi::Error* { return nullptr; });
  const SetByAThread plugins(fake_);
  const auto completions = make_executor(ExecutorBackend::kThreads, 1, "completions");
  const auto frees = make_executor(ExecutorBackend::kThreads, 1, "frees");
  auto client =
      PjrtClient::create(*plugin_, {.completions = completions.get(), .frees = frees.get()})
          .value();
  std::swap(client, client_);
  {
    const Executable same = compile().value();
    const Buffer input = put().value();
    const auto run = [&](const Buffer& from, bool wants_done) {
      const std::span<const Buffer> lists[] = {{&from, 1}};
      const DeviceId devices[] = {DeviceId{0}};
      LaunchResult result;
      EXPECT_TRUE(same.body()->launch(
          {.devices = devices, .arguments = lists, .wants_done = wants_done}, {&result, 1}));
      if (result.done.valid()) result.done.ignore();
      return result.outputs[0];
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          const Buffer first = run(input, false);
          std::thread other;
          if (i % 50 == 0)
            other = std::thread([first] { EXPECT_TRUE(wait_blocking(first.ready())); });
          const Buffer second = run(first, i % 3 == 0);
          if (i % 2 == 0) {
            second.remove();
          } else {
            run(second, false);
          }
          if (other.joinable()) other.join();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::swap(client, client_);
  EXPECT_TRUE(wait_blocking(client->close()));
  EXPECT_TRUE(wait_blocking(client->destroy()));
  client.reset();
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  EXPECT_TRUE(wait_blocking(frees->close()));
  EXPECT_TRUE(wait_blocking(completions->close()));
}

}  // namespace
}  // namespace millrace::devices::pjrt
