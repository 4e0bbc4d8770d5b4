// Handlers of every form, one message at a time, and what an ask gives when there is no answer.
#include "millrace/actors/actor.h"

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "millrace/actors/system.h"
#include "tests/support/allocation_count.h"
#include "tests/support/simulation.h"

#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;

struct Add {
  int n;
};
struct Get {};
struct Fail {};
struct Throw {};
struct Slow {
  Future<int> until;
};
struct SlowConcurrent {
  static constexpr bool kConcurrent = true;
  Future<int> until;
};
struct Later {};
struct Quit {
  Error error;
};

class Counter : public Actor {
 public:
  void on(const Add& add) {
    sum_ += add.n;
    seen_.push_back(add.n);
  }
  Result<int> on(const Get&) { return sum_; }
  Result<int> on(const Fail&) { return fail(ErrorCode::kOutOfRange, "no such number"); }
  int on(Throw) { throw std::runtime_error("boom"); }
  Future<int> on(Slow&& slow) { return slow.until; }
  Future<int> on(SlowConcurrent&& slow) { return slow.until; }
  void on(const Later&, Reply<int> reply) { kept_.push_back(std::move(reply)); }
  void on(const Quit& quit) { context().fail(quit.error); }

  std::vector<int> seen_;

 private:
  int sum_ = 0;
  std::vector<Reply<int>> kept_;
};

class Sink : public Actor {
 public:
  void on(const Add& add) { sum_ += add.n; }
  Result<int> on(const Get&) { return sum_; }
  Future<int> on(SlowConcurrent&& slow) { return slow.until; }

 private:
  int sum_ = 0;
};

TEST(ActorTest, EveryFormOfHandlerAnswersItsAsk) {
  for_each_seed(20, [](Simulation& sim) {
    auto counter = sim.actors().spawn<Counter>("counter", {}).value();
    EXPECT_TRUE(sim.run(counter.ask(Add{2})).has_value());
    EXPECT_EQ(sim.run(counter.ask(Get{})).value(), 2);
    EXPECT_EQ(sim.run(counter.ask(Fail{})).error().code(), ErrorCode::kOutOfRange);
    EXPECT_EQ(sim.run(counter.ask(Slow{make_ready(7)})).value(), 7);
  });
}

TEST(ActorTest, MessagesOfOneSenderArriveInOrder) {
  for_each_seed(20, [](Simulation& sim) {
    auto counter = sim.actors().spawn<Counter>("counter", {}).value();
    for (int i = 0; i < 100; ++i) (void)counter.tell(Add{i});
    EXPECT_EQ(sim.run(counter.ask(Get{})).value(), 4950);
  });
}

TEST(ActorTest, AHandlerThatAnswersLaterHoldsTheActor) {
  for_each_seed(20, [](Simulation& sim) {
    auto counter = sim.actors().spawn<Counter>("counter", {}).value();
    Promise<int> promise;
    auto slow = counter.ask(Slow{promise.future()});
    auto get = counter.ask(Get{});
    sim.run_until_idle();
    EXPECT_FALSE(get.ready());
    promise.set(5);
    EXPECT_EQ(sim.run(slow).value(), 5);
    EXPECT_EQ(sim.run(get).value(), 0);
  });
}

TEST(ActorTest, AConcurrentHandlerLetsMessagesPass) {
  for_each_seed(20, [](Simulation& sim) {
    auto counter = sim.actors().spawn<Counter>("counter", {}).value();
    Promise<int> promise;
    auto slow = counter.ask(SlowConcurrent{promise.future()});
    EXPECT_EQ(sim.run(counter.ask(Get{})).value(), 0);
    EXPECT_FALSE(slow.ready());
    promise.set(5);
    EXPECT_EQ(sim.run(slow).value(), 5);
  });
}

TEST(ActorTest, AnExceptionFailsTheAskAndTheActor) {
  for_each_seed(20, [](Simulation& sim) {
    auto counter = sim.actors().spawn<Counter>("counter", {}).value();
    auto down = counter.down();
    const Error error = sim.run(counter.ask(Throw{})).error();
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_NE(error.message().find("boom"), std::string::npos);
    const Down notice = sim.run(down).value();
    EXPECT_EQ(notice.exit.reason, ExitReason::kFailed);
    EXPECT_EQ(notice.name, "counter");
  });
}

TEST(ActorTest, AnAskOfAFailedActorNamesItAndItsReason) {
  for_each_seed(20, [](Simulation& sim) {
    auto counter = sim.actors().spawn<Counter>("counter", {}).value();
    (void)counter.tell(Quit{Error(ErrorCode::kDataLoss, "disk gone")});
    const Error error = sim.run(counter.ask(Get{})).error();
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_NE(error.message().find("disk gone"), std::string::npos);
    ASSERT_NE(error.detail<ActorGone>(), nullptr);
    EXPECT_EQ(error.detail<ActorGone>()->name, "counter");
    EXPECT_EQ(error.detail<ActorGone>()->reason, ExitReason::kFailed);
  });
}

TEST(ActorTest, AKeptReplyFailsWhenItsHolderStops) {
  for_each_seed(20, [](Simulation& sim) {
    auto counter = sim.actors().spawn<Counter>("counter", {}).value();
    auto later = counter.ask(Later{});
    sim.run_until_idle();
    EXPECT_FALSE(later.ready());
    EXPECT_EQ(sim.run(counter.stop()).value().exit.reason, ExitReason::kStopped);
    ASSERT_TRUE(later.ready());
    EXPECT_EQ(later.result().error().code(), ErrorCode::kUnavailable);
  });
}

TEST(ActorTest, AKillFailsWhatIsInFlightAtOnce) {
  for_each_seed(20, [](Simulation& sim) {
    auto counter = sim.actors().spawn<Counter>("counter", {}).value();
    Promise<int> promise;
    auto slow = counter.ask(SlowConcurrent{promise.future()});
    sim.run_until_idle();
    auto down = counter.kill(Error(ErrorCode::kInternal, "rank 3 is dead"));
    const Error error = sim.run(slow).error();
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_NE(error.message().find("rank 3 is dead"), std::string::npos);
    sim.run_until_idle();
    EXPECT_FALSE(down.ready()) << "its handler has not ended";
    promise.set(1);
    EXPECT_EQ(sim.run(down).value().exit.reason, ExitReason::kKilled);
  });
}

// Held up until it is unblocked; what it is sent meanwhile holds something.
struct Stick {
  Future<void> until;
};
struct Pin {
  std::shared_ptr<int> held;
  std::size_t bytes() const { return sizeof(Pin) + 1024; }
};
class Stuck final : public Actor {
 public:
  Future<void> on(const Stick& stick) { return stick.until; }
  void on(const Pin&) { ++pinned_; }
  Result<int> on(const Get&) { return pinned_; }

 private:
  int pinned_ = 0;
};

TEST(ActorTest, WithdrawnMessageOfAStuckActorIsReleasedAndTakesNoRoom) {
  for_each_seed(20, [](Simulation& sim) {
    const ActorOptions options{.mailbox_bytes = 4 << 10, .waiting_bytes = 64 << 10};
    auto stuck = sim.actors().spawn<Stuck>("stuck", options).value();
    Promise<void> end;
    stuck.tell(Stick{end.future()}).ignore();
    sim.run_until_idle();
    const auto held = std::make_shared<int>(1);
    int accepted = 0;
    std::stop_source stop;
    // Ten times what the line takes, half of it given up by its deadline, half by a stop.
    for (int round = 0; round < 20; ++round) {
      std::vector<Future<void>> told;
      stop = std::stop_source();
      for (int i = 0; i < 30; ++i) {
        CallOptions call;
        if (i % 2 == 0) {
          call.deadline = sim.now() + std::chrono::seconds(1);
        } else {
          call.stop = stop.get_token();
        }
        told.push_back(stuck.tell(Pin{held}, call));
      }
      sim.run_for(std::chrono::seconds(2));
      stop.request_stop();
      for (const Future<void>& one : told) {
        ASSERT_TRUE(one.ready());
        if (one.result()) {
          ++accepted;
          continue;
        }
        EXPECT_NE(one.result().error().code(), ErrorCode::kResourceExhausted)
            << one.result().error().to_string();
      }
      EXPECT_EQ(held.use_count(), 1 + accepted) << "only the messages in the mailbox hold it";
    }
    EXPECT_GE(accepted, 1);
    end.set_value();
    EXPECT_EQ(sim.run(stuck.ask(Get{})).value(), accepted);
  });
}

struct Halt {};
// Keeps a turn of its own going until it is told to halt.
class Spinner : public Actor {
 public:
  Future<void> on_start() override {
    spin();
    return {};
  }
  void on(const Halt&) { halted_ = true; }

 private:
  void spin() {
    post(context().executor(), [this] {
      if (!halted_) spin();
    });
  }
  bool halted_ = false;
};

TEST(ActorTest, TurnsWithoutEndDoNotStarveMessages) {
  for_each_seed(6, [](Simulation& sim) {
    auto spinner = sim.actors().spawn<Spinner>("spinner", {}).value();
    EXPECT_TRUE(sim.run(spinner.ask(Halt{})).has_value());
  });
}

TEST(ActorTest, MessagesAllocateNothingInTheSteadyState) {
  if (!millrace::testing::kAllocationsCountable) GTEST_SKIP() << "the sanitizer sees every block";
  Simulation sim(1);
  auto sink = sim.actors().spawn<Sink>("sink", {}).value();
  const auto step = [&] {
    for (int i = 0; i < 20; ++i) (void)sink.tell(Add{i});
    auto later = sink.ask(SlowConcurrent{make_ready(1)});
    auto asked = sink.ask(Get{}, {.stop = {}, .deadline = sim.now() + std::chrono::seconds(1)});
    EXPECT_TRUE(sim.run(asked).has_value());
  };
  for (int i = 0; i < 10; ++i) step();
  const millrace::testing::AllocationCount allocations;
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(allocations.count(), 0);
}

TEST(ActorTest, CallsOnAnEmptyReferenceAreInvalidArguments) {
  const ActorRef<Counter> none;
  const auto expect_refused = [](const auto& result, const std::string& call) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(result.error().message(), call + " was called on an empty ActorRef");
  };
  expect_refused(none.ask(Get()).result(), "ask");
  expect_refused(none.tell(Add{1}).result(), "tell");
  expect_refused(none.try_tell(Add{1}), "try_tell");
  expect_refused(none.down().result(), "down");
  expect_refused(none.stop().result(), "stop");
  expect_refused(none.kill(Error(ErrorCode::kInternal, "x")).result(), "kill");
  EXPECT_DEATH(static_cast<void>(none.name()), "an ActorRef that is empty was used");
}

TEST(ActorTest, MessagesThatComeTooLateAreNotSent) {
  Simulation sim(1);
  const auto ref = sim.actors().spawn<Counter>("counter", {}).value();
  std::stop_source stop;
  stop.request_stop();
  for (const auto& [late, code] :
       {std::pair(CallOptions{.deadline = sim.now()}, ErrorCode::kDeadlineExceeded),
        std::pair(CallOptions{.stop = stop.get_token()}, ErrorCode::kCancelled)}) {
    EXPECT_EQ(sim.run(ref.tell(Add{1}, late)).error().code(), code);
    EXPECT_EQ(sim.run(ref.ask(Get{}, late)).error().code(), code);
  }
  EXPECT_EQ(sim.run(ref.ask(Get{})).value(), 0);
  sim.finish();
}

}  // namespace
}  // namespace millrace::actors
