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
