// Between the entry of one thread and its wake-up: what no loop shows; the rest: bridge_test.cc.
#include "millrace/core/loop/completion_queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

namespace millrace {
namespace {

// A loop that several threads run, and that ends where nothing keeps it alive and no wake-up came.
class StubPort final : public LoopPort {
 public:
  ~StubPort() override {
    if (gone != nullptr) *gone = true;
  }
  void wake() noexcept override {
    if (before_wake) std::exchange(before_wake, {})();
    ++wakes;
  }
  void keep_alive(bool on) noexcept override { alive = on; }
  void detach(Ref<CompletionQueue> queue) noexcept override { queue->detached(); }
  void leave_in_child() noexcept override {}
  bool one_thread() const override { return false; }
  bool made_on_loop() const override { return false; }

  std::function<void()> before_wake;  // once
  int wakes = 0;
  bool alive = true;
  bool* gone = nullptr;
};

class CompletionQueueTest : public ::testing::Test {
 protected:
  CompletionQueueTest() { queue_->drain(); }
  ~CompletionQueueTest() override { queue_->close_now(); }

  // What others do while a thread has entered and has not woken the loop yet.
  template <class First, class Others>
  void do_before_wake(First first, Others others) {
    ASSERT_FALSE(port_->alive);
    port_->wakes = 0;
    int after_others = 0;
    port_->before_wake = [&] {
      others();
      after_others = port_->wakes;
    };
    first();
    EXPECT_EQ(after_others, 1) << "the loop may end before what the others have entered";
    EXPECT_EQ(port_->wakes, 2);
  }

  StubPort* const port_ = new StubPort;  // the queue's
  const Ref<CompletionQueue> queue_ =
      make_ref<CompletionQueue>(std::unique_ptr<LoopPort>(port_), BridgeOptions());
};

TEST_F(CompletionQueueTest, ALoopDoesNotEndBeforeTheWorkOfASecondThread) {  // CQ-2
  int ran = 0;
  const auto enter = [&] { post(*queue_, [&] { ++ran; }); };
  do_before_wake(enter, enter);
  enter();
  EXPECT_EQ(port_->wakes, 2) << "a wake-up is under way";
  EXPECT_EQ(queue_->drain(), 3u);
  do_before_wake(enter, enter);
  queue_->drain();
  EXPECT_EQ(ran, 5);
}

TEST_F(CompletionQueueTest, ALoopDoesNotEndBeforeTheWaitOfASecondThread) {  // CQ-4
  Promise<int> promise;
  int ran = 0;
  const auto enter = [&, future = promise.future()] {
    future.then(*queue_, [&](const Result<int>&) { ++ran; }).ignore();
  };
  do_before_wake(enter, enter);
  enter();
  EXPECT_EQ(port_->wakes, 2) << "a wake-up is under way";
  queue_->drain();
  EXPECT_TRUE(port_->alive);
  enter();
  EXPECT_EQ(port_->wakes, 2) << "the loop is kept alive";
  promise.set(1);
  queue_->drain();
  EXPECT_EQ(ran, 4);
}

TEST_F(CompletionQueueTest, ALoopDoesNotEndBeforeTheCloseOfASecondThread) {  // CQ-5
  Future<void> closed;
  const auto close = [&] { closed = queue_->close(); };
  do_before_wake(close, close);
  queue_->drain();
  EXPECT_TRUE(closed.ready());
}

TEST(CompletionQueueEndTest, WorkThatDestroysTheBridgeLeavesItToItsPusherUntilThatIsDone) {
  auto* const port = new StubPort;
  auto queue = make_ref<CompletionQueue>(std::unique_ptr<LoopPort>(port), BridgeOptions());
  bool gone = false, gone_before_wake = false;
  port->gone = &gone;
  port->before_wake = [&] {  // others woke the loop
    queue->drain();
    gone_before_wake = gone;
  };
  post(*queue, [&] {
    queue->close_now();
    queue = {};
  });
  EXPECT_FALSE(gone_before_wake);
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace millrace
