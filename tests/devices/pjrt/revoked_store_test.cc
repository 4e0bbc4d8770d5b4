// The key-value store of a plugin whose client was given up: its threads may call back when the
// lender of the store has gone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"

namespace millrace::devices::pjrt {
namespace {

using testing::FakePlugin;

// Counts what it is asked for.
class CountingStore final : public KeyValueStore {
 public:
  Future<std::string> get(std::string_view, CallOptions) override { return ++calls, value(); }
  Future<std::string> try_get(std::string_view) override { return ++calls, value(); }
  Future<void> put(std::string_view, std::string_view) override { return ++calls, make_ready(); }
  std::atomic<int> calls{0};

 private:
  static Future<std::string> value() { return Result<std::string>("2 hosts"); }
};

class RevokedStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    create = reinterpret_cast<abi::Function<abi::ClientCreateArgs>>(
        fake_.api()->functions[static_cast<std::size_t>(abi::Slot::kClient_Create)]);
    fake_.replace(+[](abi::ClientCreateArgs* args) -> abi::Error* {
      given = *args;
      return create(args);
    });
    PjrtClientOptions options{.completions = &executor_, .frees = &frees_};
    options.store = &store_;
    client_ = PjrtClient::create(*plugin_, std::move(options)).value();
  }
  // As a thread of the plugin does: 0, or the code of the error.
  static int get() {
    static int refused;
    refused = 0;
    abi::CallbackError refuse = [](int code, const char*, std::size_t) {
      refused = code;
      return reinterpret_cast<abi::Error*>(&refused);
    };
    abi::KeyValueGetArgs args;
    args.struct_size = sizeof args;
    args.key = "peer";
    args.key_size = 4;
    args.timeout_in_ms = 1'000'000;
    args.callback_error = &refuse;
    args.user_arg = given.kv_get_user_arg;
    const auto ask = reinterpret_cast<abi::Function<abi::KeyValueGetArgs>>(given.kv_get_callback);
    if (ask(&args) == nullptr) args.deleter(args.value);
    return refused;
  }
  Result<PutResult> put() {
    static constexpr float kValues[4] = {};
    return client_->put({.data = kValues, .shape = Shape(DType::kF32, {4})},
                        HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1);
  }
  void run() {
    frees_.run_until_idle();
    executor_.run_until_idle();
  }
  void expect_taken_back() {
    EXPECT_EQ(get(), static_cast<int>(ErrorCode::kUnavailable));
    EXPECT_EQ(store_.calls, 0);
  }

  static inline abi::ClientCreateArgs given;
  static inline abi::Function<abi::ClientCreateArgs> create = nullptr;
  CountingStore store_;
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  SerialExecutor frees_{SerialExecutor::InOrder{}};
  std::unique_ptr<PjrtClient> client_;
};

TEST_F(RevokedStoreTest, ThePluginHasItWhileTheClientLives) {
  EXPECT_EQ(get(), 0);
  EXPECT_EQ(store_.calls, 1);
  const Future<void> closed = client_->close();
  EXPECT_TRUE(closed.ready());
  EXPECT_EQ(get(), 0) << "its client is yet to be destroyed, which may need its peers";
  const Future<void> destroyed = client_->destroy();
  run();
  EXPECT_TRUE(destroyed.ready());
}

TEST_F(RevokedStoreTest, ItIsRevokedWhenTheClientIsGivenUp) {
  client_->give_up(Error(ErrorCode::kDeadlineExceeded, "a test has waited long enough"));
  expect_taken_back();
  const Future<void> destroyed = client_->destroy();
  run();
  EXPECT_TRUE(destroyed.ready());
  client_.reset();
  expect_taken_back();  // it was not told that its client is no longer used
}

TEST_F(RevokedStoreTest, ItIsRevokedWhenTheClientStaysForABuffer) {
  Buffer buffer = put()->buffer;
  EXPECT_TRUE(client_->close().ready());
  const Future<void> destroyed = client_->destroy();
  run();
  ASSERT_TRUE(destroyed.ready());
  EXPECT_FALSE(destroyed.result());
  expect_taken_back();
  buffer = Buffer();
  run();
}

TEST_F(RevokedStoreTest, ItIsRevokedWhenTheClientStaysForAnEvent) {
  static abi::Event* release = nullptr;
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* args) -> abi::Error* {
    args->buffer = FakePlugin::make_buffer();
    args->done_with_host_buffer = release = FakePlugin::make_event();
    return nullptr;
  });
  put()->source_released.ignore();
  const Future<void> closed = client_->close();
  ASSERT_TRUE(client_->kill(DeviceId{0}, Error(ErrorCode::kUnavailable, "power cut")));
  run();
  EXPECT_TRUE(closed.ready());
  const Future<void> destroyed = client_->destroy();
  run();
  EXPECT_TRUE(destroyed.ready());
  EXPECT_EQ(FakePlugin::clients_alive, 1);
  client_.reset();
  expect_taken_back();
  FakePlugin::set_event(release, 0, "");
}

}  // namespace
}  // namespace millrace::devices::pjrt
