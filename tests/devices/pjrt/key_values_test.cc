// The key-value callbacks, called as a plugin calls them: the fake one, since XLA's CPU client, the
// only one at hand that needs no hardware, never does (the last test).
#include "millrace/devices/pjrt/key_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"
#include "tests/support/plugins.h"

namespace millrace::devices::pjrt {
namespace {

using testing::FakePlugin;
using ::testing::HasSubstr;

// What the plugin was created with.
abi::ClientCreateArgs given;

struct Answer {
  ErrorCode code{};
  std::string text;  // the value or the error's message
};

class KeyValuesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    given = {};
    fake_.replace(+[](abi::ClientCreateArgs* args) -> abi::Error* {
      given = *args;
      return FakePlugin::make_error(14, "that was all that I wanted");
    });
  }
  void TearDown() override {
    EXPECT_TRUE(wait_blocking(threads_->close()));
    EXPECT_EQ(FakePlugin::errors_alive, 0);
  }
  void create(KeyValueStore* store) {
    client_ = std::make_unique<Result<std::unique_ptr<PjrtClient>>>(PjrtClient::create(
        *plugin_, {.completions = threads_.get(), .store = store, .store_prefix = "pjrt/npu/"}));
    EXPECT_FALSE(*client_);
  }
  // An error that the callbacks have made, as the plugin reads it.
  Answer read(abi::Error* error) {
    const Error taken = plugin_->take_error(error, "callback");
    return {taken.code(), taken.message()};
  }
  static abi::Error* make(int code, const char* message, std::size_t size) {
    return FakePlugin::make_error(code, std::string(message, size));
  }
  template <class A>
  Answer call_for_value(void* callback, A args, void* user_arg, const std::string& key) {
    abi::CallbackError make_error = &make;
    args.struct_size = sizeof(A);
    args.key = key.data();
    args.key_size = key.size();
    args.callback_error = &make_error;
    args.user_arg = user_arg;
    if (abi::Error* error = reinterpret_cast<abi::Function<A>>(callback)(&args)) return read(error);
    Answer answer{.text = std::string(args.value, args.value_size)};
    args.deleter(args.value);
    return answer;
  }

  EventLoopThread loop_{create_uv_event_loop().value(), "loop"};
  LocalKeyValueStore store_{loop_.loop().timers()};
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 1, "events");
  std::unique_ptr<Result<std::unique_ptr<PjrtClient>>> client_;
};

TEST_F(KeyValuesTest, WithoutAStoreAPluginIsGivenNoCallbacks) {
  create(nullptr);
  EXPECT_EQ(given.kv_get_callback, nullptr);
  EXPECT_EQ(given.kv_put_callback, nullptr);
  EXPECT_EQ(given.kv_try_get_callback, nullptr);
}

TEST_F(KeyValuesTest, WhatOnePartPutsTheOtherGets) {
  KeyValues values(store_, steady_clock(), "pjrt/npu/");
  abi::ClientCreateArgs args;
  values.serve(args);
  abi::CallbackError make_error = &make;
  abi::KeyValuePutArgs put;
  put.struct_size = sizeof put;
  put.key = "topology", put.key_size = 8;
  put.value = "2 hosts", put.value_size = 7;
  put.callback_error = &make_error;
  put.user_arg = args.kv_put_user_arg;
  const auto put_it = reinterpret_cast<abi::Function<abi::KeyValuePutArgs>>(args.kv_put_callback);

  const Answer early = call_for_value(args.kv_try_get_callback, abi::KeyValueTryGetArgs{},
                                      args.kv_try_get_user_arg, "topology");
  EXPECT_EQ(early.code, ErrorCode::kNotFound);
  abi::KeyValueGetArgs soon;
  soon.timeout_in_ms = 20;
  const Answer timeout =
      call_for_value(args.kv_get_callback, soon, args.kv_get_user_arg, "topology");
  EXPECT_EQ(timeout.code, ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(timeout.text, HasSubstr("pjrt/npu/topology"));

  abi::KeyValueGetArgs later;
  later.timeout_in_ms = 300'000;
  Answer got;
  std::thread waiting(
      [&] { got = call_for_value(args.kv_get_callback, later, args.kv_get_user_arg, "topology"); });
  EXPECT_EQ(put_it(&put), nullptr);
  waiting.join();
  EXPECT_EQ(got.text, "2 hosts");
  EXPECT_EQ(call_for_value(args.kv_try_get_callback, abi::KeyValueTryGetArgs{},
                           args.kv_try_get_user_arg, "topology")
                .text,
            "2 hosts");
  EXPECT_EQ(wait_blocking(store_.try_get("pjrt/npu/topology")).value(), "2 hosts");

  put.value = "3 hosts";
  EXPECT_EQ(read(put_it(&put)).code, ErrorCode::kAlreadyExists);
  put.struct_size = 40;
  const Answer small = read(put_it(&put));
  EXPECT_EQ(small.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(small.text, HasSubstr("PJRT_KeyValuePutCallback_Args has 40 bytes, not 64"));
}

TEST_F(KeyValuesTest, ClientServesItsPluginWhileItIsCreated) {
  fake_.replace(+[](abi::ClientCreateArgs* args) -> abi::Error* {
    abi::CallbackError make_error = &make;
    abi::KeyValuePutArgs put;
    put.struct_size = sizeof put;
    put.key = "address", put.key_size = 7;
    put.value = "here", put.value_size = 4;
    put.callback_error = &make_error;
    put.user_arg = args->kv_put_user_arg;
    abi::Error* failed =
        reinterpret_cast<abi::Function<abi::KeyValuePutArgs>>(args->kv_put_callback)(&put);
    return failed != nullptr ? failed : FakePlugin::make_error(14, "no device");
  });
  create(&store_);
  EXPECT_THAT(client_->error().message(), HasSubstr("no device"));
  EXPECT_EQ(wait_blocking(store_.try_get("pjrt/npu/address")).value(), "here");
}

// Never answers.
class SilentStore final : public KeyValueStore {
 public:
  Future<std::string> get(std::string_view, CallOptions) override { return text_.future(); }
  Future<std::string> try_get(std::string_view) override { return text_.future(); }
  Future<void> put(std::string_view, std::string_view) override { return done_.future(); }

 private:
  Promise<std::string> text_;
  Promise<void> done_;
};

TEST_F(KeyValuesTest, StoreThatDoesNotAnswerHoldsNoThreadOfThePluginForEver) {
  SilentStore silent;
  KeyValues values(silent, steady_clock(), "pjrt/npu/", std::chrono::milliseconds(1));
  abi::ClientCreateArgs args;
  values.serve(args);
  abi::KeyValueGetArgs get;
  get.timeout_in_ms = 1;
  const Answer answers[] = {
      call_for_value(args.kv_get_callback, get, args.kv_get_user_arg, "topology"),
      call_for_value(args.kv_try_get_callback, abi::KeyValueTryGetArgs{}, args.kv_try_get_user_arg,
                     "topology"),
      [&] {
        abi::CallbackError make_error = &make;
        abi::KeyValuePutArgs put;
        put.struct_size = sizeof put;
        put.key = "topology", put.key_size = 8;
        put.value = "2 hosts", put.value_size = 7;
        put.callback_error = &make_error;
        put.user_arg = args.kv_put_user_arg;
        return read(
            reinterpret_cast<abi::Function<abi::KeyValuePutArgs>>(args.kv_put_callback)(&put));
      }()};
  const char* const names[] = {"a get", "a try_get", "a put"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(answers[i].code, ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(answers[i].text, HasSubstr(std::string("has not answered ") + names[i] +
                                           " of 'pjrt/npu/topology' within 0.00"));
  }
}

// Its network breaks, and it says so in C++.
class ThrowingStore final : public KeyValueStore {
 public:
  Future<std::string> get(std::string_view, CallOptions) override {
    throw std::runtime_error("the socket is gone");
  }
  Future<std::string> try_get(std::string_view) override { throw 7; }
  Future<void> put(std::string_view, std::string_view) override { throw std::bad_alloc(); }
};

TEST_F(KeyValuesTest, ExceptionOfTheStoreIsReportedToThePluginAndCrossesNoFrameOfIt) {
  ThrowingStore throwing;
  KeyValues values(throwing, steady_clock(), "pjrt/npu/");
  abi::ClientCreateArgs args;
  values.serve(args);
  const Answer got = call_for_value(args.kv_get_callback, abi::KeyValueGetArgs{},
                                    args.kv_get_user_arg, "topology");
  EXPECT_EQ(got.code, ErrorCode::kInternal);
  EXPECT_THAT(got.text, HasSubstr("store threw an exception in a get: the socket is gone"));
  const Answer tried = call_for_value(args.kv_try_get_callback, abi::KeyValueTryGetArgs{},
                                      args.kv_try_get_user_arg, "topology");
  EXPECT_EQ(tried.code, ErrorCode::kInternal);
  EXPECT_THAT(tried.text, HasSubstr("threw something that is no std::exception in a try_get"));
  abi::CallbackError make_error = &make;
  abi::KeyValuePutArgs put;
  put.struct_size = sizeof put;
  put.key = "topology", put.key_size = 8;
  put.value = "2 hosts", put.value_size = 7;
  put.callback_error = &make_error;
  put.user_arg = args.kv_put_user_arg;
  const Answer done =
      read(reinterpret_cast<abi::Function<abi::KeyValuePutArgs>>(args.kv_put_callback)(&put));
  EXPECT_EQ(done.code, ErrorCode::kInternal);
  EXPECT_THAT(done.text, HasSubstr("threw an exception in a put"));
}

// Counts what it is asked for.
class CountingStore final : public KeyValueStore {
 public:
  Future<std::string> get(std::string_view, CallOptions) override { return none(); }
  Future<std::string> try_get(std::string_view) override { return none(); }
  Future<void> put(std::string_view, std::string_view) override {
    ++calls;
    return make_ready();
  }
  std::atomic<int> calls{0};

 private:
  Future<std::string> none() {
    ++calls;
    return Error(ErrorCode::kNotFound, "nothing is here");
  }
};

// Only process_id of its create options concerns several processes: it moves the numbers of
// devices. It takes no count of processes ("Unexpected option name" for num_nodes and the like),
// so its parts have nothing to look for in a store.
TEST(XlaKeyValuesTest, XlasCpuClientOfOneOfSeveralProcessesAsksForNothing) {
  const auto plugins = testing::plugins_at_hand();
  if (!plugins.contains("Xla0115")) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
  const Plugin* const plugin = Plugin::load(plugins.at("Xla0115")).value();
  const auto threads = make_executor(ExecutorBackend::kThreads, 1, "events");
  CountingStore store;
  const auto create = [&](const char* option) {
    return PjrtClient::create(
        *plugin, {.completions = threads.get(),
                  .settings = {{"cpu_device_count", std::int64_t{2}}, {option, std::int64_t{1}}},
                  .store = &store});
  };
  {
    const auto client = create("process_id");
    ASSERT_TRUE(client) << client.error().to_string();
    EXPECT_EQ((*client)->devices()[1].process, 1);
    EXPECT_TRUE((*client)->compile(Program::from_text(R"(
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
})"),
                                   {}));
    EXPECT_TRUE(wait_blocking((*client)->close()));
  }
  EXPECT_EQ(store.calls, 0) << "then it can be tested with it: do so";
  for (const char* option : {"num_nodes", "num_processes"})
    EXPECT_THAT(create(option).error().message(), HasSubstr("Unexpected option name")) << option;
  EXPECT_TRUE(wait_blocking(threads->close()));
}

}  // namespace
}  // namespace millrace::devices::pjrt
