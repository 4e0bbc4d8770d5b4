// When a thread waits for its pass, by a clock that moves with each look.
#include "millrace/devices/device_pass.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace millrace::devices {
namespace {

using namespace std::chrono_literals;

class LookedAtClock final : public Clock {
 public:
  TimePoint now() const override {
    if (on_look) on_look();
    return now_ += 100us;
  }
  Duration passed() const { return now_ - TimePoint(); }

  std::function<void()> on_look;

 private:
  mutable TimePoint now_{};
};

// A thread remembers that it has waited for nothing, whatever test it ran then.
void on_a_thread_of_its_own(const std::function<void()>& body) { std::thread(body).join(); }

// DA-3
TEST(DevicePassTest, ThreadWaitsHalfAMillisecondForACallAndThenQueues) {
  on_a_thread_of_its_own([] {
    LookedAtClock clock;
    PassGate gate(&clock);
    ASSERT_TRUE(gate.enter());
    EXPECT_FALSE(gate.enter());
    const Duration waited = clock.passed();
    EXPECT_GE(waited, 500us);
    EXPECT_LE(waited, 700us);
    for (int i = 0; i < 8; ++i) EXPECT_FALSE(gate.enter());
    EXPECT_EQ(clock.passed(), waited) << "the next calls queue at once";
    gate.leave();
    EXPECT_TRUE(gate.enter());
  });
}

// DA-3
TEST(DevicePassTest, ThreadWaitsWhileCallsReturnButNotForEver) {
  on_a_thread_of_its_own([] {
    LookedAtClock clock;
    PassGate gate(&clock);
    gate.set_busy(true);
    clock.on_look = [&gate] { gate.call_returned(); };
    EXPECT_FALSE(gate.enter());
    EXPECT_GE(clock.passed(), 20ms);
    EXPECT_LE(clock.passed(), 21ms);
    for (int i = 0; i < 8; ++i) EXPECT_FALSE(gate.enter());
    clock.on_look = [&gate] { gate.set_busy(false); };
    EXPECT_TRUE(gate.enter()) << "the call returned while the thread waited";
  });
}

// DA-3
TEST(DevicePassTest, ThreadOfALoopNeverWaits) {
  on_a_thread_of_its_own([] {
    LookedAtClock clock;
    PassGate gate(&clock);
    gate.set_busy(true);
    const BridgedThreadScope loop;
    EXPECT_FALSE(gate.enter());
    EXPECT_EQ(clock.passed(), Duration());
  });
}

}  // namespace
}  // namespace millrace::devices
