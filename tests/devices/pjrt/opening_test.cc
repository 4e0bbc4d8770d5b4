// Opening a plugin that does not answer: the opener completes in time with an error that names the
// call, and a client that comes after all goes. On threads, because those are what is stuck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/key_value_store.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/backends.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"
#include "tests/support/logged_words.h"

namespace millrace::devices::pjrt {
namespace {

using testing::FakePlugin;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The gate of the function that the fake plugin is stuck in.
struct Gate {
  std::latch entered{1}, open{1};
};

class OpeningTest : public ::testing::Test {
 protected:
  // PJRT_Client_Create does not return before the gate opens.
  void SetUp() override {
    gate.emplace();
    create = reinterpret_cast<abi::Function<abi::ClientCreateArgs>>(
        fake_.api()->functions[static_cast<std::size_t>(abi::Slot::kClient_Create)]);
    fake_.replace(+[](abi::ClientCreateArgs* args) -> abi::Error* {
      gate->entered.count_down();
      gate->open.wait();
      return create(args);
    });
  }
  Result<std::unique_ptr<PjrtClient>> open(const CallOptions& call,
                                           KeyValueStore* store = nullptr) {
    PjrtClientOptions options{.completions = executor_.get(), .frees = frees_.get()};
    options.store = store;
    return open_client(*plugin_, std::move(options), {.thread = opener_.get(), .call = call});
  }

  static inline std::optional<Gate> gate;
  static inline abi::Function<abi::ClientCreateArgs> create = nullptr;
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  std::unique_ptr<PoolExecutor> executor_ = make_executor(ExecutorBackend::kThreads, 1, "events");
  std::unique_ptr<PoolExecutor> frees_ = make_executor(ExecutorBackend::kThreads, 1, "frees");
  std::unique_ptr<PoolExecutor> opener_ = make_executor(ExecutorBackend::kThreads, 1, "opener");
};

TEST(OpeningPatienceTest, WhatLastsLongerIsReportedOnceAndWaitedFor) {
  Promise<void> promise;
  const Opening opening{.plugin = "npu", .ended = promise.future(), .patience = Duration()};
  {
    testing::LoggedWords logged;
    const Status late =
        wait_for(opening, {.deadline = steady_clock().now() + std::chrono::milliseconds(1)});
    EXPECT_FALSE(late);
    EXPECT_THAT(logged.text(), StartsWith("opening the plugin npu takes longer than most: "
                                          "its thread has not returned after "));
    EXPECT_THAT(logged.text(), ::testing::EndsWith(" s, and is waited for\n"));
  }
  promise.set_value();
  const testing::LoggedWords logged;
  EXPECT_TRUE(wait_for(opening, {}));
  EXPECT_EQ(logged.text(), "");
}

TEST_F(OpeningTest, StopEndsTheWaitAndNamesTheCall) {
  std::stop_source stop;
  std::thread stopper([&] {
    gate->entered.wait();
    stop.request_stop();
  });
  const auto client = open({.stop = stop.get_token(), .deadline = kNoDeadline});
  stopper.join();
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code(), ErrorCode::kCancelled);
  EXPECT_THAT(client.error().message(),
              StartsWith("opening the plugin fake.so was given up after "));
  EXPECT_THAT(client.error().message(), HasSubstr(" s: PJRT_Client_Create has not returned, and"));
  const auto* detail = client.error().detail<OpeningGivenUp>();
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->call, "PJRT_Client_Create");
  EXPECT_TRUE(detail->left);
  // The client comes after all, and no caller wants it.
  gate->open.count_down();
  EXPECT_TRUE(wait_blocking(opener_->close()));
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

TEST_F(OpeningTest, DeadlineEndsTheWait) {
  const TimePoint soon = steady_clock().now() + std::chrono::milliseconds(20);
  const auto client = open({.stop = {}, .deadline = soon});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code(), ErrorCode::kDeadlineExceeded);
  gate->open.count_down();
  EXPECT_TRUE(wait_blocking(opener_->close()));
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

TEST_F(OpeningTest, WhatWasStoppedBeforeIsNotBegun) {
  std::stop_source stop;
  stop.request_stop();
  const auto client = open({.stop = stop.get_token(), .deadline = kNoDeadline});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message(),
            "the plugin fake.so was not opened, because a stop was requested before that");
  const auto* detail = client.error().detail<OpeningGivenUp>();
  ASSERT_NE(detail, nullptr);
  EXPECT_FALSE(detail->left);
  EXPECT_TRUE(wait_blocking(opener_->close()));
  EXPECT_FALSE(gate->entered.try_wait()) << "the plugin was asked";
}

TEST_F(OpeningTest, ClientThatComesInTimeIsTheOneOfThePlugin) {
  gate->open.count_down();
  auto client = open({.stop = {}, .deadline = steady_clock().now() + std::chrono::hours(1)});
  ASSERT_TRUE(client) << client.error().to_string();
  EXPECT_EQ(FakePlugin::clients_alive, 1);
  EXPECT_TRUE(wait_blocking((*client)->close()));
  client->reset();
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

// The plugin waits for its peers, by a store that goes when no opener waits for the plugin any
// more.
TEST_F(OpeningTest, StoreIsRevokedFromAPluginThatWaitsForItsPeers) {
  static int refused = 0;
  refused = 0;
  fake_.replace(+[](abi::ClientCreateArgs* args) -> abi::Error* {
    abi::KeyValueGetArgs get;
    abi::CallbackError refuse = [](int code, const char*, std::size_t) {
      refused = code;
      return reinterpret_cast<abi::Error*>(&refused);
    };
    get.struct_size = 80;
    get.key = "peer";
    get.key_size = 4;
    get.timeout_in_ms = 1'000'000;
    get.callback_error = &refuse;
    get.user_arg = args->kv_get_user_arg;
    gate->entered.count_down();
    const auto ask =
        reinterpret_cast<abi::Error* (*)(abi::KeyValueGetArgs*)>(args->kv_get_callback);
    const int answers[] = {ask(&get) == nullptr ? 0 : refused, ask(&get) == nullptr ? 0 : refused};
    return FakePlugin::make_error(answers[1], "peers: " + std::to_string(answers[0]));
  });
  TimerQueue timers(steady_clock());
  auto store = std::make_unique<LocalKeyValueStore>(timers);
  std::stop_source stop;
  std::thread stopper([&] {
    gate->entered.wait();
    stop.request_stop();
  });
  const auto client = open({.stop = stop.get_token(), .deadline = kNoDeadline}, store.get());
  stopper.join();
  store.reset();
  ASSERT_FALSE(client);
  EXPECT_TRUE(wait_blocking(opener_->close())) << "what waited was cancelled";
  EXPECT_EQ(refused, static_cast<int>(ErrorCode::kUnavailable)) << "the second is refused";
}

// A registry that opens by itself tries no other backend then.
TEST(RegistryOpeningTest, OpeningThatIsGivenUpEndsTheChoice) {
  ClientRegistry registry = cpu::backends();
  const Error never =
      Error(ErrorCode::kDeadlineExceeded, "no answer").with_detail(OpeningGivenUp{.call = "f"});
  const auto fails = [&](const ClientOptions&) -> Result<std::unique_ptr<Client>> {
    return std::unexpected(never);
  };
  ASSERT_TRUE(registry.add("stuck", fails, 5));
  int tried = 0;
  const auto other = [&](const ClientOptions&) -> Result<std::unique_ptr<Client>> {
    ++tried;
    return fail(ErrorCode::kUnavailable, "nothing here");
  };
  ASSERT_TRUE(registry.add("other", other, 4));
  const Variables none = [](const std::string&) { return std::nullopt; };
  const auto opened = registry.open(none, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message(), "no answer");
  EXPECT_EQ(tried, 0);
}

}  // namespace
}  // namespace millrace::devices::pjrt
