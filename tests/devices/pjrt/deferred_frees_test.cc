#include "millrace/devices/pjrt/call_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/devices/device_scope.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"

namespace millrace::devices::pjrt {
namespace {

using ::testing::ElementsAre;
using testing::FakePlugin;

TEST(DeferredFreesTest, CallsAreMadeInOrderAndTheFirstAddAsksForADrain) {
  std::vector<int> made;
  DeferredFrees handed;
  EXPECT_TRUE(handed.add([&] { made.push_back(1); }));
  EXPECT_FALSE(handed.add([&] {
    made.push_back(2);
    EXPECT_TRUE(handed.draining_here());
    handed.drain();  // as what is freed may free more
    handed.add([&] { made.push_back(4); });
  }));
  EXPECT_FALSE(handed.add([&] { made.push_back(3); }));
  handed.drain();
  EXPECT_THAT(made, ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(handed.draining_here());
  EXPECT_TRUE(handed.add([&] { made.push_back(5); }));
}

// On two threads, since the point is that one waits for the other.
TEST(DeferredFreesTest, DrainWaitsForWhatAnotherThreadIsMaking) {
  std::latch begun(1), go_on(1);
  bool made = false;
  const ManualClock clock;  // stands still, so patience does not end
  DeferredFrees handed(clock);
  handed.add([&] {
    begun.count_down();
    go_on.wait();
    made = true;
  });
  std::thread other([&] { handed.drain(); });
  begun.wait();
  std::thread releaser([&] { go_on.count_down(); });
  handed.drain();
  EXPECT_TRUE(made);
  other.join();
  releaser.join();
}

// Drains while the time goes on, so that patience ends.
void drain_impatiently(DeferredFrees& handed, ManualClock& clock) {
  std::atomic<bool> drained{false};
  std::thread time([&] {
    while (!drained) {
      clock.advance(std::chrono::seconds(1));
      std::this_thread::yield();
    }
  });
  handed.drain();
  drained = true;
  time.join();
}

// One thread is stuck in the first of three.
TEST(DeferredFreesTest, CallThatDoesNotReturnDelaysNothingElse) {
  std::latch begun(1), unblock(1);
  std::vector<int> made;
  ManualClock clock;
  DeferredFrees handed(clock);
  handed.add([&] {
    begun.count_down();
    unblock.wait();
  });
  handed.add([&] { made.push_back(2); });
  handed.add([&] { made.push_back(3); });
  std::thread stuck([&] { handed.drain(); });
  begun.wait();
  drain_impatiently(handed, clock);
  EXPECT_THAT(made, ElementsAre(2, 3));
  EXPECT_TRUE(handed.add([&] { made.push_back(4); })) << "this caller has to drain";
  handed.drain();
  EXPECT_THAT(made, ElementsAre(2, 3, 4));
  EXPECT_FALSE(handed.empty());
  unblock.count_down();
  stuck.join();
  EXPECT_TRUE(handed.empty());
  // What was not waited for has ended: the next one is waited for again, while the time stands.
  std::latch again(1);
  std::atomic<bool> ended{false};
  handed.add([&] {
    again.count_down();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    ended = true;
  });
  std::thread other([&] { handed.drain(); });
  again.wait();
  handed.drain();
  EXPECT_TRUE(ended);
  other.join();
}

// It is made without the lock; those that come while it is stuck, with it.
TEST(DeferredFreesTest, CallThatIsAloneAndDoesNotReturnDelaysNothingElse) {
  std::latch begun(1), unblock(1);
  std::vector<int> made;
  ManualClock clock;
  DeferredFrees handed(clock);
  handed.add([&] {
    begun.count_down();
    unblock.wait();
  });
  std::thread stuck([&] { handed.drain(); });
  begun.wait();
  EXPECT_FALSE(handed.empty());
  for (const int number : {2, 3}) {
    EXPECT_TRUE(handed.add([&made, number] { made.push_back(number); }));
    drain_impatiently(handed, clock);
  }
  EXPECT_THAT(made, ElementsAre(2, 3));
  unblock.count_down();
  stuck.join();
  EXPECT_TRUE(handed.empty());
  // The next one is waited for again.
  std::latch again(1);
  std::atomic<bool> ended{false};
  handed.add([&] {
    again.count_down();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    ended = true;
  });
  std::thread other([&] { handed.drain(); });
  again.wait();
  handed.drain();
  EXPECT_TRUE(ended);
  other.join();
}

// Only the thread that add() asks to drain drains: nothing may be left when all have ended.
TEST(DeferredFreesTest, NothingIsLeftBehindWhereThreadsAddWhileOneMakes) {
  constexpr int kThreads = 4, kCalls = 20'000;
  DeferredFrees handed;
  std::atomic<int> made{0};
  std::latch begin(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      for (int i = 0; i < kCalls; ++i) {
        if (handed.add([&made] { made.fetch_add(1); })) handed.drain();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made.load(), kThreads * kCalls);
}

class HandOverTest : public ::testing::Test {
 protected:
  Buffer put() {
    const DeviceScope scope(*client_, DeviceId{0});  // as its actor does
    const std::array<float, 4> values{};
    return client_
        ->put({.data = values.data(), .shape = Shape(DType::kF32, {4})},
              HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
        ->buffer;
  }
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  SerialExecutor driver_{SerialExecutor::InOrder{}};
  ManualClock clock_;
  TimerQueue timers_{clock_};
  std::unique_ptr<PjrtClient> client_ =
      PjrtClient::create(*plugin_, {.completions = &executor_, .driver = &driver_}).value();
};

TEST_F(HandOverTest, WithTimersNoThreadIsWokenForEachBuffer) {
  client_ =
      PjrtClient::create(
          *plugin_,
          {.completions = &executor_, .driver = &driver_, .clock = &clock_, .timers = &timers_})
          .value();
  Buffer first = put(), second = put();
  first = Buffer();
  second = Buffer();
  EXPECT_EQ(driver_.run_until_idle(), 0U);
  EXPECT_EQ(timers_.pending(), 1U);
  EXPECT_EQ(FakePlugin::buffers_alive, 2);
  clock_.advance(std::chrono::milliseconds(20));
  timers_.run_due();
  driver_.run_until_idle();
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  first = put();
  first = Buffer();
  const Future<void> closed = client_->close();  // does not wait for the timer
  driver_.run_until_idle();
  executor_.run_until_idle();
  EXPECT_TRUE(closed.ready());
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
}

TEST_F(HandOverTest, BufferIsFreedByTheDriverOrBeforeTheNextCall) {
  put();
  EXPECT_EQ(FakePlugin::buffers_alive, 1);
  driver_.run_until_idle();
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  Buffer buffer = put();
  buffer = Buffer();
  EXPECT_EQ(FakePlugin::buffers_alive, 1);
  buffer = put();
  EXPECT_EQ(FakePlugin::buffers_alive, 1) << "the first one went before the second came";
  buffer = Buffer();
  const Future<void> closed = client_->close();
  EXPECT_FALSE(closed.ready()) << "it waits for what is handed over";
  driver_.run_until_idle();
  ASSERT_TRUE(closed.ready());
  EXPECT_TRUE(closed.result());
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

// What frees has a thread of its own, which is there until the client has gone.
class FreesTest : public HandOverTest {
 protected:
  FreesTest() {
    client_ = PjrtClient::create(*plugin_,
                                 {.completions = &executor_, .driver = &driver_, .frees = &frees_})
                  .value();
  }
  void TearDown() override {
    if (!client_) return;
    const Future<void> destroyed = client_->destroy();
    frees_.run_until_idle();
    EXPECT_TRUE(destroyed.ready());
    client_.reset();
  }
  SerialExecutor frees_{SerialExecutor::InOrder{}};
};

TEST_F(FreesTest, BufferIsFreedThereAndNotByWhatElseMayBlock) {
  put();
  EXPECT_EQ(driver_.run_until_idle(), 0U);
  EXPECT_EQ(FakePlugin::buffers_alive, 1);
  frees_.run_until_idle();
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  EXPECT_TRUE(client_->close().ready());
}

TEST_F(FreesTest, AfterTheCloseCallsAreMadeThereToo) {
  Buffer buffer = put();
  ASSERT_TRUE(client_->close().ready());
  buffer = Buffer();
  EXPECT_EQ(FakePlugin::buffers_alive, 1);
  frees_.run_until_idle();
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
}

TEST_F(FreesTest, ClientGoesThereBehindAllThatWasHandedOver) {
  Buffer buffer = put();
  ASSERT_TRUE(client_->close().ready());
  buffer = Buffer();
  const Future<void> destroyed = client_->destroy();
  EXPECT_FALSE(destroyed.ready());
  EXPECT_EQ(FakePlugin::clients_alive, 1);
  frees_.run_until_idle();
  EXPECT_TRUE(destroyed.ready());
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

TEST_F(HandOverTest, AfterTheCloseCallsAreMadeWhereTheyCome) {
  Buffer buffer = put();
  const Future<void> closed = client_->close();
  ASSERT_TRUE(closed.ready());
  buffer = Buffer();
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
}

}  // namespace
}  // namespace millrace::devices::pjrt
