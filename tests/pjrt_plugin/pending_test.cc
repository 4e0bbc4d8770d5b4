// What callers may ask while a program runs: all that JAX asks while it holds Python's lock is
// answered at once. The program stands still until the test lets it go, on the client's only
// thread.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <semaphore>
#include <thread>

#include "millrace/devices/cpu/kernels/custom_call.h"
#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

std::counting_semaphore<2> go{0};
std::atomic<std::thread::id> ran_on;

Status stand_still(const devices::cpu::CustomCall& call) {
  ran_on.store(std::this_thread::get_id());
  go.acquire();
  const auto* from = reinterpret_cast<const float*>(call.operands[0].data);
  std::copy_n(from, 4, reinterpret_cast<float*>(call.results[0].data));
  return {};
}

class PendingTest : public PluginTest {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(devices::cpu::register_custom_call("test.stand_still", stand_still).has_value());
  }
  void SetUp() override {
    client_ = make_client({{"threads", 1}});
    executable_ = compiled(R"(
module @stands_still {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.custom_call @test.stand_still(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
)");
    x_ = put(values_);
    made_ = launch(executable_, {x_});
    ASSERT_TRUE(made_.outcome.ok()) << made_.outcome.message;
  }
  void TearDown() override {
    EXPECT_TRUE(awaited(made_.done).ok());
    EXPECT_EQ(fetched(made_.outputs[0]), values_);
    destroy(made_.outputs[0]);
    destroy(x_);
    destroy(executable_);
    PluginTest::TearDown();
  }
  static bool is_ready(abi::Event* event) {
    abi::EventIsReadyArgs args{{}, event};
    must(args);
    return args.is_ready;
  }

  const std::vector<float> values_ = {1, 2, 3, 4};
  abi::LoadedExecutable* executable_ = nullptr;
  abi::Buffer* x_ = nullptr;
  Launch made_;
};

TEST_F(PendingTest, QuestionsAreAnsweredWhileAProgramRuns) {
  abi::Buffer* const y = made_.outputs[0];
  EXPECT_FALSE(is_ready(made_.done));
  EXPECT_FALSE(is_deleted(y));
  abi::DeviceMemoryStatsArgs memory{{}, device(client_)};
  must(memory);
  abi::LoadedExecutableGetExecutableArgs get{{}, executable_};
  must(get);
  abi::ExecutableGetCostAnalysisArgs cost{{}, get.executable};
  must(cost);
  abi::ExecutableSerializeArgs serialize{{}, get.executable};
  must(serialize);
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  abi::ExecutableDestroyArgs end{{}, get.executable};
  must(end);
  std::vector<float> there(4);
  abi::BufferToHostBufferArgs fetch{{}, y, nullptr, there.data(), 16};
  must(fetch);
  EXPECT_FALSE(is_ready(fetch.event));
  abi::BufferReadyEventArgs ready{{}, y};
  must(ready);
  EXPECT_FALSE(is_ready(ready.event));
  // What is queued behind it is destroyed, and another program compiled.
  const Launch behind = launch(executable_, {y});
  ASSERT_TRUE(behind.outcome.ok()) << behind.outcome.message;
  destroy(behind.outputs[0]);
  destroy(compiled(kPlusOne));
  go.release(2);
  EXPECT_TRUE(awaited(behind.done).ok());
  EXPECT_TRUE(awaited(fetch.event).ok());
  EXPECT_TRUE(awaited(ready.event).ok());
  EXPECT_EQ(there, values_);
}

// PP-1
TEST_F(PendingTest, CallbacksRunOnNoThreadOfADevice) {
  struct Seen {
    std::promise<void> called;
    std::thread::id thread;
  } seen;
  abi::EventOnReadyArgs args{{}, made_.done};
  args.callback = [](abi::Error* error, void* user_arg) {
    EXPECT_TRUE(taken(error).ok());
    auto& here = *static_cast<Seen*>(user_arg);
    here.thread = std::this_thread::get_id();
    here.called.set_value();
  };
  args.user_arg = &seen;
  must(args);
  go.release();
  seen.called.get_future().wait();
  EXPECT_NE(seen.thread, std::this_thread::get_id());
  EXPECT_NE(seen.thread, ran_on.load());
}

}  // namespace
}  // namespace millrace::testing
