// Actors that run on the thread that wakes them, and what they leave for after their turn.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "millrace/actors/system.h"
#include "tests/support/simulation.h"

namespace millrace::actors {
namespace {

using testing::Simulation;

class Nothing final : public Actor {};

class InlineActorTest : public ::testing::Test {
 protected:
  ~InlineActorTest() override {
    static_cast<void>(cell_.stop());
    sim_.run_until_idle();
  }
  void turn(std::function<void()> work) { post(*cell_.cell(), std::move(work)); }
  // One that notes a number once the actor has been left.
  class Note final : public Work {
   public:
    Note(std::vector<int>& notes, int number, std::function<void()> then = {})
        : notes_(notes), number_(number), then_(std::move(then)) {}
    void run() noexcept override {
      EXPECT_EQ(current_actor().cell, nullptr) << "outside of every turn";
      notes_.push_back(number_);
      if (then_) then_();
    }
    void drop() noexcept override { ADD_FAILURE(); }

   private:
    std::vector<int>& notes_;
    const int number_;
    const std::function<void()> then_;
  };

  Simulation sim_{1};
  ActorRef<Nothing> cell_ =
      spawn_alone<Nothing>(sim_.environment(), "alone", {.inline_when_idle = true});
};

TEST_F(InlineActorTest, AnIdleOneRunsWithinTheCallThatWakesIt) {
  bool ran = false, nested = false;
  turn([&] {
    ran = true;
    turn([&] { nested = true; });
    EXPECT_FALSE(nested) << "one turn at a time";
  });
  EXPECT_TRUE(ran);
  EXPECT_TRUE(nested);
  bool elsewhere = false;
  struct Elsewhere final : Work {
    explicit Elsewhere(bool& flag) : done(flag) {}
    void run() noexcept override { done = true; }
    void drop() noexcept override {}
    bool& done;
  } work(elsewhere);
  cell_.cell()->submit_elsewhere(&work);
  EXPECT_FALSE(elsewhere);
  sim_.run_until_idle();
  EXPECT_TRUE(elsewhere);
}

TEST_F(InlineActorTest, TryTurnRunsAtOnceWhereTheActorIsIdleAndNowhereElse) {
  bool ran = false;
  EXPECT_TRUE(cell_.cell()->try_turn([&] {
    ran = true;
    EXPECT_EQ(current_actor().cell, cell_.cell().get());
    EXPECT_FALSE(cell_.cell()->try_turn([] { ADD_FAILURE() << "one turn at a time"; }));
  }));
  EXPECT_TRUE(ran);
  EXPECT_EQ(current_actor().cell, nullptr);
  auto elsewhere = spawn_alone<Nothing>(sim_.environment(), "elsewhere", {});
  sim_.run_until_idle();
  EXPECT_FALSE(elsewhere.cell()->try_turn([] { ADD_FAILURE() << "not on this thread"; }));
  static_cast<void>(elsewhere.stop());
}

TEST_F(InlineActorTest, WhatComesDuringATriedTurnRunsAfterIt) {
  std::vector<int> notes;
  Note after(notes, 3);
  EXPECT_TRUE(cell_.cell()->try_turn([&] {
    ActorCell::after_turn(&after);
    turn([&] { notes.push_back(2); });
    notes.push_back(1);
  }));
  EXPECT_EQ(notes, std::vector<int>({1, 2, 3}));
}

TEST_F(InlineActorTest, AnActorThatIsStoppedInATriedTurnTakesNoMore) {
  EXPECT_TRUE(cell_.cell()->try_turn([&] { static_cast<void>(cell_.stop()); }));
  sim_.run_until_idle();
  EXPECT_FALSE(cell_.cell()->try_turn([] { ADD_FAILURE() << "the actor is gone"; }));
}

TEST_F(InlineActorTest, WhatATurnLeavesRunsAfterItInOrderAndDoesNotNest) {
  std::vector<int> notes;
  Note third(notes, 3);
  Note second(notes, 2);
  Note first(notes, 1, [&] {
    turn([&] { ActorCell::after_turn(&third); });
    EXPECT_EQ(notes, std::vector<int>({1})) << "the stack does not grow";
  });
  turn([&] {
    ActorCell::after_turn(&first);
    ActorCell::after_turn(&second);
    EXPECT_TRUE(notes.empty());
  });
  EXPECT_EQ(notes, std::vector<int>({1, 2, 3}));
}

}  // namespace
}  // namespace millrace::actors
