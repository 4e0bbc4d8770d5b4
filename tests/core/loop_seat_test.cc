#include "millrace/core/loop/loop_seat.h"

#include <gtest/gtest.h>

#include <thread>

namespace millrace {
namespace {

using State = LoopSeat::State;

TEST(LoopSeatTest, OneThreadHasItAtATime) {
  LoopSeat seat;
  EXPECT_FALSE(seat.take()) << "it was not offered";
  EXPECT_TRUE(seat.regain()) << "it is the loop's already";
  seat.offer();
  EXPECT_TRUE(seat.regain());
  EXPECT_FALSE(seat.take());
  seat.offer();
  EXPECT_TRUE(seat.take());
  EXPECT_FALSE(seat.take());
  EXPECT_FALSE(seat.regain());
  seat.give();
  EXPECT_TRUE(seat.take()) << "it is offered still";
  seat.give();
  seat.await();
  EXPECT_EQ(seat.state(), State::kOwn);
  seat.await();
  EXPECT_EQ(seat.state(), State::kOwn);
}

// The thread that waits for a loop again and again does not keep it from its own thread.
TEST(LoopSeatTest, ItIsHandedBackToTheLoopsThreadThatAwaitsIt) {
  LoopSeat seat;
  seat.offer();
  ASSERT_TRUE(seat.take());
  std::thread loop([&] { seat.await(); });
  while (seat.state() != State::kAwaited) std::this_thread::yield();
  seat.give();
  EXPECT_FALSE(seat.take());
  loop.join();
  EXPECT_EQ(seat.state(), State::kOwn);
}

}  // namespace
}  // namespace millrace
