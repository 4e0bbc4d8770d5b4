#include "millrace/core/async/byte_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/timer_queue.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;

class ByteGateTest : public ::testing::Test {
 protected:
  ~ByteGateTest() override {
    callers_.clear();
    EXPECT_TRUE(gate_->close().ready());
  }
  // One letter per caller, in the order of their calls: i inside, w waiting, x refused or gone.
  std::string states() {
    std::string states;
    for (Caller& caller : callers_) {
      if (caller.turn.valid() && caller.turn.ready()) {
        if (Result<ByteGate::Pass> pass = std::exchange(caller.turn, {}).take())
          caller.pass.emplace(*std::move(pass));
      }
      states += caller.pass ? 'i' : caller.turn.valid() ? 'w' : 'x';
    }
    return states;
  }
  void enter(std::size_t bytes, const CallOptions& options = {}) {
    callers_.push_back({gate_->enter(bytes, options), std::nullopt});
  }
  void leave(std::size_t caller) {
    static_cast<void>(states());
    callers_[caller].pass.reset();
  }
  ErrorCode code(const Future<ByteGate::Pass>& turn) { return turn.result().error().code(); }

  struct Caller {
    Future<ByteGate::Pass> turn;
    std::optional<ByteGate::Pass> pass;
  };
  ManualClock clock_;
  TimerQueue timers_{clock_};
  Ref<ByteGate> gate_ = make_ref<ByteGate>(10, 3, timers_, "a gate");
  std::vector<Caller> callers_;
};

// BG-1, BG-2 and BG-3 step by step: each row does one thing and says where each caller is then.
TEST_F(ByteGateTest, CallersEnterInOrderWithinTheLimit) {
  std::stop_source stop;
  const TimePoint late = clock_.now() + 5ms;
  const struct {
    const char* what;
    std::function<void()> act;
    const char* states;
  } rows[] = {
      {"there is room", [&] { enter(6); }, "i"},
      {"room for it, too", [&] { enter(4); }, "ii"},
      {"full", [&] { enter(9, {.stop = stop.get_token()}); }, "iiw"},
      {"behind it", [&] { enter(2, {.deadline = late}); }, "iiww"},
      {"small ones do not overtake", [&] { enter(1); }, "iiwww"},
      {"room for the small ones only", [&] { leave(1); }, "ixwww"},
      {"the large one leaves the line", [&] { stop.request_stop(); }, "ixxii"},
      {"full again", [&] { enter(4, {.deadline = late}); }, "ixxiiw"},
      {"its deadline", [&] { clock_.advance(5ms), timers_.run_due(); }, "ixxiix"},
      {"the whole room", [&] { enter(10); }, "ixxiixw"},
      {"not yet", [&] { leave(0), leave(3); }, "xxxxixw"},
      {"empty", [&] { leave(4); }, "xxxxxxi"},
  };
  for (const auto& row : rows) {
    row.act();
    EXPECT_EQ(states(), row.states) << row.what;
  }
  EXPECT_EQ(timers_.pending(), 0u);
}

TEST_F(ByteGateTest, WhatCannotEnterIsRefusedAtOnce) {
  EXPECT_EQ(code(gate_->enter(11)), ErrorCode::kResourceExhausted);
  EXPECT_EQ(code(gate_->enter(1, {.deadline = clock_.now()})), ErrorCode::kDeadlineExceeded);
  for (int i = 0; i < 4; ++i) enter(10);
  EXPECT_EQ(states(), "iwww");
  EXPECT_EQ(code(gate_->enter(1)), ErrorCode::kResourceExhausted) << "three wait";
  EXPECT_EQ(gate_->waiting(), 3u);
}

TEST_F(ByteGateTest, CloseCancelsThoseThatWaitAndWaitsForThoseInside) {
  enter(10);
  EXPECT_EQ(states(), "i");
  const Future<ByteGate::Pass> waiting = gate_->enter(1);
  const Future<void> closed = gate_->close();
  EXPECT_EQ(code(waiting), ErrorCode::kCancelled);
  EXPECT_EQ(code(gate_->enter(1)), ErrorCode::kUnavailable);
  EXPECT_FALSE(closed.ready());
  leave(0);
  EXPECT_TRUE(closed.ready());
}

TEST_F(ByteGateTest, ACallerWhoseTimersCloseIsAborted) {
  enter(10);
  const Future<ByteGate::Pass> waiting = gate_->enter(1, {.deadline = clock_.now() + 1h});
  timers_.close();
  EXPECT_EQ(code(waiting), ErrorCode::kAborted);
}

// Real threads, because stops, room and the end of the gate meet only there.
TEST(ByteGateStressTest, ManyThreadsStayWithinTheLimitAndAllGetTheirTurn) {
  constexpr int kThreads = 4, kRounds = 2000;
  constexpr std::size_t kLimit = 100;
  TimerQueue timers(steady_clock());
  const auto gate = make_ref<ByteGate>(kLimit, 1000, timers, "a gate");
  std::atomic<std::size_t> inside = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kRounds; ++i) {
          const std::size_t bytes = 1 + static_cast<std::size_t>(t * 31 + i * 17) % kLimit;
          std::stop_source stop;
          const Future<ByteGate::Pass> turn = gate->enter(bytes, {.stop = stop.get_token()});
          if (i % 4 == 0) stop.request_stop();
          while (!turn.ready()) std::this_thread::yield();
          const Result<ByteGate::Pass> pass = turn.take();
          if (!pass) continue;
          EXPECT_LE(inside.fetch_add(bytes) + bytes, kLimit) << "BG-1";
          inside.fetch_sub(bytes);
        }
      });
    }
  }
  EXPECT_EQ(gate->waiting(), 0u);
  EXPECT_TRUE(gate->close().ready());
}

}  // namespace
}  // namespace millrace
