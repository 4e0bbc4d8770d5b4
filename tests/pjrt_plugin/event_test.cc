// PP-1 and PP-2: callbacks on events. Real threads, because that is what is promised.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

class EventTest : public PluginTest {
 protected:
  static abi::Event* make_event() {
    abi::EventCreateArgs args;
    must(args);
    return args.event;
  }
  static Outcome set(abi::Event* event, int code = 0, std::string_view text = {}) {
    abi::EventSetArgs args{{}, event, code, text.data(), text.size()};
    return call(args);
  }
  static void on_ready(abi::Event* event, void (*callback)(abi::Error*, void*), void* user_arg) {
    abi::EventOnReadyArgs args{{}, event, callback, user_arg};
    must(args);
  }
};

struct Called {
  std::promise<void> promise;
  std::thread::id thread;
  abi::Event* to_destroy = nullptr;
  Outcome outcome;
  std::atomic<int> times{0};
  static void call(abi::Error* error, void* user_arg) {
    auto& called = *static_cast<Called*>(user_arg);
    called.outcome = taken(error);
    called.thread = std::this_thread::get_id();
    if (called.to_destroy != nullptr) {
      abi::EventDestroyArgs args{{}, called.to_destroy};
      must(args);
    }
    if (called.times.fetch_add(1) == 0) called.promise.set_value();
  }
};

// PP-1
TEST_F(EventTest, ACallbackOnAnEventThatIsSetRunsInsideOnReady) {
  abi::Event* const event = make_event();
  EXPECT_TRUE(set(event).ok());
  Called called;
  on_ready(event, &Called::call, &called);
  EXPECT_EQ(called.times, 1);
  EXPECT_EQ(called.thread, std::this_thread::get_id());
  destroy(event);
}

// PP-1: also where the thread that sets it is the caller's.
TEST_F(EventTest, AWaitingCallbackRunsOnceOnAThreadOfItsOwn) {
  abi::Event* const event = make_event();
  Called called;
  on_ready(event, &Called::call, &called);
  EXPECT_EQ(called.times, 0);
  EXPECT_TRUE(set(event).ok());
  called.promise.get_future().wait();
  EXPECT_EQ(called.times, 1);
  EXPECT_NE(called.thread, std::this_thread::get_id());
  destroy(event);
}

// PP-2
TEST_F(EventTest, ACallbackMayDestroyItsEvent) {
  for (const bool is_set : {false, true}) {
    abi::Event* const event = make_event();
    Called called;
    called.to_destroy = event;
    if (is_set) {
      EXPECT_TRUE(set(event, 13, "no more").ok());
    }
    on_ready(event, &Called::call, &called);
    if (!is_set) {
      EXPECT_TRUE(set(event, 13, "no more").ok());
    }
    called.promise.get_future().wait();
    EXPECT_EQ(called.outcome.code, 13);
    EXPECT_EQ(called.outcome.message, "no more");
  }
}

// PP-2
TEST_F(EventTest, AnEventMayGoWhileACallbackWaits) {
  const std::vector<float> values(1 << 22, 1.0f);
  abi::Buffer* const x = put(values);
  std::vector<float> there(values.size());
  abi::BufferToHostBufferArgs args{{}, x};
  args.dst = there.data();
  args.dst_size = there.size() * sizeof(float);
  must(args);
  Called called;
  on_ready(args.event, &Called::call, &called);
  destroy(args.event);
  called.promise.get_future().wait();
  EXPECT_TRUE(called.outcome.ok());
  EXPECT_EQ(there.back(), 1.0f);
  destroy(x);
}

TEST_F(EventTest, TheErrorOfAnEventThatIsNotSetIsRefused) {
  abi::Event* const event = make_event();
  abi::EventErrorArgs args{{}, event};
  const Outcome outcome = call(args);
  EXPECT_EQ(outcome.code, 9);
  EXPECT_TRUE(set(event, 4, "late").ok());
  const Outcome after = call(args);
  EXPECT_EQ(after.code, 4);
  EXPECT_EQ(after.message, "late");
  EXPECT_EQ(set(event).code, 9);
  destroy(event);
}

}  // namespace
}  // namespace millrace::testing
