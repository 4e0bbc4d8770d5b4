#include "millrace/actors/supervisor.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/core/observe/log.h"
#include "tests/support/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Failures are what it is about: no line for each.
class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override { EXPECT_TRUE(set_log_levels("warn,actors=error")); }
  void TearDown() override { EXPECT_TRUE(set_log_levels("warn")); }
};

struct Fail {};
struct Count {};

// What the children of a test have done; each start reads how it shall go.
struct Script {
  std::vector<std::string> events;
  int failing_starts = 0;
  bool throwing = false;
};

class Worker final : public Actor {
 public:
  Worker(std::string name, Script* script) : name_(std::move(name)), script_(script) {
    if (script_->throwing) throw std::runtime_error("no memory");
  }
  Future<void> on_start() override {
    if (script_->failing_starts > 0) {
      --script_->failing_starts;
      return Error(ErrorCode::kNotFound, "no such file");
    }
    script_->events.push_back(name_ + " starts");
    return {};
  }
  Future<void> on_stop(const Exit&) override {
    script_->events.push_back(name_ + " stops");
    return {};
  }
  void on(const Fail&) { context().fail(Error(ErrorCode::kDataLoss, "scripted")); }
  Result<int> on(const Count&) { return ++count_; }

 private:
  const std::string name_;
  Script* const script_;
  int count_ = 0;
};

ChildSpec worker(const std::string& name, Script& script, ChildOptions options = {}) {
  return child<Worker>(name, std::move(options), name, &script);
}

ActorRef<Supervisor> supervise(Simulation& sim, std::vector<ChildSpec> children) {
  auto root = sim.actors().spawn<Supervisor>("root", {}, std::move(children)).value();
  sim.run_until_idle();
  return root;
}

ActorRef<Worker> find(Simulation& sim, std::string_view name) {
  auto found = sim.actors().find<Worker>(name);
  EXPECT_TRUE(found) << name;
  return found ? *found : ActorRef<Worker>();
}

void fail_and_settle(Simulation& sim, std::string_view name) {
  find(sim, name).tell(Fail{}).ignore();
  sim.run_until_idle();
}

TEST_F(SupervisorTest, AFailedChildIsRestartedUnderItsNameAndTheOthersRunOn) {
  for_each_seed(30, [](Simulation& sim) {
    Script script;
    supervise(sim, {worker("a", script), worker("b", script)});
    EXPECT_THAT(script.events, UnorderedElementsAre("a starts", "b starts"));
    script.events.clear();
    const ActorRef<Worker> before = find(sim, "a");
    EXPECT_EQ(sim.run(before.ask(Count{})).value(), 1);
    EXPECT_EQ(sim.run(find(sim, "b").ask(Count{})).value(), 1);
    fail_and_settle(sim, "a");
    EXPECT_THAT(script.events, ElementsAre("a stops", "a starts"));
    EXPECT_EQ(sim.run(before.ask(Count{})).error().detail<ActorGone>()->name, "a");
    EXPECT_NE(find(sim, "a").id(), before.id());
    EXPECT_EQ(sim.run(find(sim, "a").ask(Count{})).value(), 1) << "a fresh one";
    EXPECT_EQ(sim.run(find(sim, "b").ask(Count{})).value(), 2) << "SV-1";
    sim.finish();
  });
}

TEST_F(SupervisorTest, WhatStoppedInGoodOrderStaysStopped) {
  for_each_seed(10, [](Simulation& sim) {
    Script script;
    const auto root = supervise(sim, {worker("a", script)});
    EXPECT_TRUE(sim.run(find(sim, "a").stop()));
    sim.run_until_idle();
    EXPECT_FALSE(sim.actors().find<Worker>("a"));
    EXPECT_FALSE(root.down().ready());
    sim.finish();
  });
}

TEST_F(SupervisorTest, TheRemedyDecides) {
  for_each_seed(10, [](Simulation& sim) {
    Script script;
    const auto always = [](Remedy remedy) {
      return ChildOptions{.remedy = [remedy](const Down&) { return remedy; }};
    };
    const auto root = supervise(sim, {worker("again", script, always(Remedy::kRestart)),
                                      worker("gone", script, always(Remedy::kStop)),
                                      worker("vital", script, always(Remedy::kEscalate))});
    EXPECT_TRUE(sim.run(find(sim, "again").stop()));
    fail_and_settle(sim, "gone");
    EXPECT_EQ(sim.run(find(sim, "again").ask(Count{})).value(), 1);
    EXPECT_FALSE(sim.actors().find<Worker>("gone"));
    EXPECT_FALSE(root.down().ready());
    fail_and_settle(sim, "vital");
    const Exit exit = sim.run(root.down()).value().exit;
    EXPECT_EQ(exit.reason, ExitReason::kFailed);
    EXPECT_EQ(exit.error->detail<Escalation>()->child, "vital");
    EXPECT_FALSE(sim.actors().find<Worker>("again")) << "SV-3";
  });
}

TEST_F(SupervisorTest, MoreFailuresThanTheLimitEscalate) {  // SV-2
  for_each_seed(20, [](Simulation& sim) {
    Script script;
    const int restarts = static_cast<int>(sim.below(4));
    const ChildOptions options{.limit = {.restarts = restarts, .window = seconds(10)}};
    const auto root = supervise(sim, {worker("a", script, options), worker("b", script)});
    for (int i = 0; i < restarts; ++i) {
      fail_and_settle(sim, "a");
      sim.run_for(milliseconds(100));
      ASSERT_FALSE(root.down().ready()) << i;
    }
    fail_and_settle(sim, "a");
    const Exit exit = sim.run(root.down()).value().exit;
    EXPECT_EQ(exit.reason, ExitReason::kFailed);
    EXPECT_EQ(exit.error->code(), ErrorCode::kDataLoss) << "the child's own error is the cause";
    EXPECT_THAT(exit.error->message(), HasSubstr("supervisor 'root' gives up: its child 'a'"));
    EXPECT_THAT(exit.error->message(), HasSubstr(options.limit.to_string()));
    EXPECT_THAT(exit.error->message(), HasSubstr("scripted"));
    ASSERT_NE(exit.error->detail<Escalation>(), nullptr);
    EXPECT_EQ(exit.error->detail<Escalation>()->restarts, restarts);
    EXPECT_EQ(script.events.back(), "b stops") << "SV-3";
  });
}

TEST_F(SupervisorTest, FailuresFarApartNeverEscalate) {
  for_each_seed(5, [](Simulation& sim) {
    Script script;
    const ChildOptions options{.limit = {.restarts = 2, .window = seconds(10)}};
    const auto root = supervise(sim, {worker("a", script, options)});
    for (int i = 0; i < 20; ++i) {
      fail_and_settle(sim, "a");
      sim.run_for(milliseconds(5001));
    }
    EXPECT_FALSE(root.down().ready());
    sim.finish();
  });
}

TEST_F(SupervisorTest, AStartThatFailsCountsLikeAnyEnd) {  // SV-2
  for_each_seed(20, [](Simulation& sim) {
    Script script;
    script.failing_starts = 3;
    const auto root = supervise(sim, {worker("a", script)});
    EXPECT_EQ(sim.run(find(sim, "a").ask(Count{})).value(), 1) << "the fourth time";
    script.throwing = true;
    fail_and_settle(sim, "a");
    const Exit exit = sim.run(root.down()).value().exit;
    EXPECT_EQ(exit.error->detail<Escalation>()->restarts, 3);
  });
}

TEST_F(SupervisorTest, AConstructorThatThrowsAtTheFirstStartEscalatesAndLeavesNoChild) {
  for_each_seed(10, [](Simulation& sim) {
    Script good;
    Script bad;
    bad.throwing = true;
    const auto root = supervise(sim, {worker("a", good), worker("b", bad), worker("c", good)});
    const Exit exit = sim.run(root.down()).value().exit;
    EXPECT_EQ(exit.reason, ExitReason::kFailed);
    EXPECT_THAT(exit.error->message(), HasSubstr("no memory"));
    EXPECT_FALSE(sim.actors().find<Worker>("a")) << "SV-3";
    EXPECT_FALSE(sim.actors().find<Worker>("c"));
  });
}

class Late final : public Actor {
 public:
  explicit Late(int* failing_starts) {
    if (--*failing_starts >= 0) throw std::runtime_error("not yet");
  }
};

TEST_F(SupervisorTest, AConstructorThatThrowsAgainAndAgainTakesNoStackAndHoldsUpNoMessage) {
  Simulation sim(1);
  int failing_starts = 100000;
  const ChildOptions options{.limit = {.restarts = 1000000}};
  const auto root =
      sim.actors()
          .spawn<Supervisor>("root", {}, std::vector{child<Late>("late", options, &failing_starts)})
          .value();
  EXPECT_TRUE(sim.run(Supervisor::child<Late>(root, "late")));
  EXPECT_GT(failing_starts, 0);
  sim.run_until_idle();
  EXPECT_LT(failing_starts, 0);
  EXPECT_TRUE(sim.actors().find<Late>("late"));
  sim.finish();
}

TEST_F(SupervisorTest, ARestartWaitsForItsPause) {
  for_each_seed(10, [](Simulation& sim) {
    Script script;
    const auto root =
        supervise(sim, {worker("a", script, ChildOptions{.pause = milliseconds(250)})});
    fail_and_settle(sim, "a");
    sim.run_for(milliseconds(249));
    EXPECT_FALSE(sim.actors().find<Worker>("a"));
    sim.run_for(milliseconds(2));
    EXPECT_TRUE(sim.actors().find<Worker>("a"));
    fail_and_settle(sim, "a");
    EXPECT_TRUE(sim.run(root.stop())) << "a pause does not delay the stop";
    EXPECT_FALSE(sim.actors().find<Worker>("a"));
  });
}

TEST_F(SupervisorTest, ASupervisorStopsItsChildrenTheNewestFirst) {
  for_each_seed(10, [](Simulation& sim) {
    Script script;
    const auto root =
        supervise(sim, {worker("a", script), worker("b", script), worker("c", script)});
    fail_and_settle(sim, "a");
    script.events.clear();
    EXPECT_TRUE(sim.run(root.stop()));
    EXPECT_THAT(script.events, ElementsAre("a stops", "c stops", "b stops"));
  });
}

TEST_F(SupervisorTest, AnEscalationIsCuredOneLevelUp) {
  for_each_seed(20, [](Simulation& sim) {
    Script script;
    const ChildOptions once{.limit = {.restarts = 1, .window = seconds(10)}};
    std::vector<ChildSpec> inner = {worker("a", script, once), worker("b", script)};
    const auto root =
        supervise(sim, {child<Supervisor>("inner", {}, std::move(inner)), worker("c", script)});
    EXPECT_EQ(sim.run(find(sim, "b").ask(Count{})).value(), 1);
    EXPECT_EQ(sim.run(find(sim, "c").ask(Count{})).value(), 1);
    fail_and_settle(sim, "a");
    fail_and_settle(sim, "a");
    EXPECT_FALSE(root.down().ready());
    EXPECT_EQ(sim.run(find(sim, "a").ask(Count{})).value(), 1);
    EXPECT_EQ(sim.run(find(sim, "b").ask(Count{})).value(), 1) << "made again with its supervisor";
    EXPECT_EQ(sim.run(find(sim, "c").ask(Count{})).value(), 2);
    sim.finish();
  });
}

ChildRef<Worker> follow(Simulation& sim, const ActorRef<Supervisor>& root, std::string name) {
  return sim.run(Supervisor::child<Worker>(root, std::move(name))).value();
}

TEST_F(SupervisorTest, AChildRefFollowsItsChildThroughRestarts) {
  for_each_seed(30, [](Simulation& sim) {
    Script script;
    const auto root = supervise(sim, {worker("a", script)});
    const ChildRef<Worker> child = follow(sim, root, "a");
    EXPECT_EQ(sim.run(child.ask(Count{})).value(), 1);
    EXPECT_EQ(sim.run(child.ask(Count{})).value(), 2);
    for (int restart = 0; restart < 3; ++restart) {
      const ActorRef<Worker> before = child.now().value();
      const Future<ActorRef<Worker>> next = child.next_incarnation();
      EXPECT_FALSE(next.ready());
      EXPECT_TRUE(sim.run(child.tell(Fail{})));
      const ActorRef<Worker> after = sim.run(next).value();
      EXPECT_NE(after.id(), before.id());
      EXPECT_EQ(child.now().value(), after);
      EXPECT_EQ(sim.run(child.next_incarnation(before.id())).value(), after) << "it runs already";
      EXPECT_EQ(sim.run(child.ask(Count{})).value(), 1) << "a fresh one";
    }
    sim.finish();
  });
}

TEST_F(SupervisorTest, AChildOfAnotherClassIsRefusedByTheNamesOfBoth) {
  Simulation sim(1);
  Script script;
  const auto root = supervise(sim, {worker("a", script)});
  const auto other = sim.run(Supervisor::child<Supervisor>(root, "a"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(other.error().message(),
              ::testing::ContainsRegex("is a millrace::actors::.*Worker, not a "
                                       "millrace::actors::Supervisor"));
  sim.finish();
}

TEST_F(SupervisorTest, BetweenIncarnationsMessagesWaitInOrderWithinTheirDeadlines) {
  for_each_seed(30, [](Simulation& sim) {
    Script script;
    const auto root =
        supervise(sim, {worker("a", script, ChildOptions{.pause = milliseconds(250)})});
    const ChildRef<Worker> child = follow(sim, root, "a");
    fail_and_settle(sim, "a");
    EXPECT_EQ(child.now().error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(child.try_tell(Count{}).error().code(), ErrorCode::kUnavailable);
    const Future<int> first = child.ask(Count{});
    const Future<void> told = child.tell(Count{});
    const Future<int> late =
        child.ask(Count{}, CallOptions{.stop = {}, .deadline = sim.now() + milliseconds(100)});
    std::stop_source stop;
    const Future<int> stopped =
        child.ask(Count{}, CallOptions{.stop = stop.get_token(), .deadline = kNoDeadline});
    const Future<int> last = child.ask(Count{});
    stop.request_stop();
    sim.run_for(milliseconds(249));
    EXPECT_FALSE(first.ready() || told.ready() || last.ready());
    EXPECT_EQ(late.result().error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(late.result().error().message(), HasSubstr("child 'a' of supervisor 'root'"));
    EXPECT_EQ(stopped.result().error().code(), ErrorCode::kCancelled);
    EXPECT_EQ(sim.run(first).value(), 1);
    EXPECT_TRUE(sim.run(told));
    EXPECT_EQ(sim.run(last).value(), 3);
    sim.finish();
  });
}

TEST_F(SupervisorTest, WhatWaitsForTheNextIncarnationIsBounded) {
  for_each_seed(5, [](Simulation& sim) {
    Script script;
    ChildOptions options{.pause = milliseconds(10)};
    options.actor.waiting_bytes = 3 * sizeof(Count);
    const auto root = supervise(sim, {worker("a", script, options)});
    const ChildRef<Worker> child = follow(sim, root, "a");
    fail_and_settle(sim, "a");
    std::vector<Future<int>> asks;
    for (int i = 0; i < 5; ++i) asks.push_back(child.ask(Count{}));
    EXPECT_EQ(asks[3].result().error().code(), ErrorCode::kResourceExhausted);
    EXPECT_EQ(asks[4].result().error().code(), ErrorCode::kResourceExhausted);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(sim.run(asks[static_cast<std::size_t>(i)]).value(), i + 1);
    sim.finish();
  });
}

TEST_F(SupervisorTest, WhatHasGivenUpMakesRoomForOthers) {
  for_each_seed(5, [](Simulation& sim) {
    Script script;
    ChildOptions options{.pause = milliseconds(250)};
    options.actor.waiting_bytes = 3 * sizeof(Count);
    const auto root = supervise(sim, {worker("a", script, options)});
    const ChildRef<Worker> child = follow(sim, root, "a");
    fail_and_settle(sim, "a");
    const Future<int> first = child.ask(Count{});
    for (int i = 0; i < 6; ++i) {
      const CallOptions expired{.stop = {}, .deadline = sim.now()};
      EXPECT_EQ(sim.run(child.ask(Count{}, expired)).error().code(), ErrorCode::kDeadlineExceeded);
      std::stop_source stop;
      const Future<void> stopped =
          child.tell(Count{}, CallOptions{.stop = stop.get_token(), .deadline = kNoDeadline});
      EXPECT_FALSE(stopped.ready());
      stop.request_stop();
      EXPECT_EQ(stopped.result().error().code(), ErrorCode::kCancelled);
    }
    const Future<int> second = child.ask(Count{});
    const Future<int> third = child.ask(Count{});
    EXPECT_FALSE(second.ready() || third.ready());
    EXPECT_EQ(child.ask(Count{}).result().error().code(), ErrorCode::kResourceExhausted);
    EXPECT_EQ(sim.run(first).value(), 1);
    EXPECT_EQ(sim.run(second).value(), 2);
    EXPECT_EQ(sim.run(third).value(), 3);
    sim.finish();
  });
}

// The next message is sent as soon as the one before was taken, while the child is served.
struct Chain {
  ChildRef<Worker> child;
  bool over = false;
  int sent = 0;

  void send() {
    ++sent;
    child.tell(Count{})
        .then(inline_executor(),
              [this](const Status& taken) {
                EXPECT_TRUE(taken);
                if (!over) send();
              })
        .ignore();
  }
};

TEST_F(SupervisorTest, SendersThatNeverPauseDoNotKeepTheSupervisor) {
  for_each_seed(5, [](Simulation& sim) {
    Script script;
    const auto root =
        supervise(sim, {worker("a", script, ChildOptions{.pause = milliseconds(10)})});
    Chain chain{.child = follow(sim, root, "a")};
    fail_and_settle(sim, "a");
    EXPECT_EQ(chain.child.now().error().code(), ErrorCode::kUnavailable);
    chain.send();
    EXPECT_TRUE(sim.run(chain.child.next_incarnation()));
    EXPECT_TRUE(sim.run(Supervisor::child<Worker>(root, "a"))) << "it has time for others";
    chain.over = true;
    sim.run_until_idle();
    EXPECT_GT(chain.sent, 1);
    EXPECT_EQ(sim.run(chain.child.ask(Count{})).value(), chain.sent + 1) << "in order, each once";
    sim.finish();
  });
}

TEST_F(SupervisorTest, AChildThatIsStoppedOrEscalatesEndsItsReferences) {  // SV-4
  for_each_seed(20, [](Simulation& sim) {
    Script script;
    const ChildOptions never{.limit = {.restarts = 0, .window = seconds(1)}};
    const auto root =
        supervise(sim, {worker("a", script), worker("b", script, never), worker("c", script)});
    const ChildRef<Worker> stops = follow(sim, root, "a");
    const ChildRef<Worker> fails = follow(sim, root, "b");
    const ChildRef<Worker> other = follow(sim, root, "c");
    const Future<ActorRef<Worker>> of_stopped = stops.next_incarnation();
    const Future<ActorRef<Worker>> of_failed = fails.next_incarnation();
    const Future<ActorRef<Worker>> of_other = other.next_incarnation();
    EXPECT_TRUE(sim.run(stops.now().value().stop()));
    const Error gone = sim.run(of_stopped).error();
    EXPECT_EQ(gone.code(), ErrorCode::kUnavailable);
    EXPECT_THAT(gone.message(), HasSubstr(": it stopped"));
    EXPECT_EQ(gone.detail<ActorGone>()->reason, ExitReason::kStopped);
    EXPECT_EQ(sim.run(stops.ask(Count{})).error().code(), ErrorCode::kUnavailable);
    EXPECT_FALSE(of_other.ready());
    EXPECT_TRUE(sim.run(fails.tell(Fail{})));
    const Error gave_up = sim.run(of_failed).error();
    EXPECT_EQ(gave_up.code(), ErrorCode::kUnavailable);
    EXPECT_EQ(gave_up.detail<Escalation>()->child, "b");
    EXPECT_EQ(sim.run(of_other).error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(sim.run(other.ask(Count{})).error().code(), ErrorCode::kUnavailable);
    EXPECT_FALSE(sim.run(Supervisor::child<Worker>(root, "c"))) << "the supervisor is gone";
    sim.finish();
  });
}

TEST_F(SupervisorTest, WhoAsksForTheNextIncarnationWhileSendersAreServedGetsTheOneThatRuns) {
  Simulation sim(1);
  Script script;
  const auto root = supervise(sim, {worker("a", script, ChildOptions{.pause = seconds(10)})});
  const ChildRef<Worker> child = follow(sim, root, "a");
  const ActorId old = child.now().value().id();
  fail_and_settle(sim, "a");
  Future<ActorRef<Worker>> next;
  const auto told = child.tell(Count{}).then(
      inline_executor(), [&](const Status& /*sent*/) { next = child.next_incarnation(old); });
  EXPECT_TRUE(sim.run(told).has_value());
  EXPECT_EQ(sim.run(next).value(), child.now().value());
  sim.finish();
}

TEST_F(SupervisorTest, AClosingSystemEndsWhatWaitsForAPause) {  // SV-4
  for_each_seed(20, [](Simulation& sim) {
    Script script;
    const auto root = supervise(sim, {worker("a", script, ChildOptions{.pause = seconds(10)})});
    const ChildRef<Worker> child = follow(sim, root, "a");
    fail_and_settle(sim, "a");
    const Future<int> waiting = child.ask(Count{});
    const Future<ActorRef<Worker>> next = child.next_incarnation();
    sim.finish();
    EXPECT_EQ(waiting.result().error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(next.result().error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(child.ask(Count{}).result().error().code(), ErrorCode::kUnavailable);
  });
}

TEST_F(SupervisorTest, AChildIsAskedForByItsNameAndClass) {
  for_each_seed(3, [](Simulation& sim) {
    Script script;
    const auto root = supervise(sim, {worker("a", script)});
    EXPECT_EQ(sim.run(Supervisor::child<Worker>(root, "x")).error().code(), ErrorCode::kNotFound);
    EXPECT_EQ(sim.run(Supervisor::child<Supervisor>(root, "a")).error().code(),
              ErrorCode::kInvalidArgument);
    const ChildRef<Worker> empty;
    EXPECT_EQ(empty.ask(Count{}).result().error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(empty.try_tell(Count{}).error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(empty.next_incarnation().result().error().code(), ErrorCode::kInvalidArgument);
    sim.finish();
  });
}

// A user asks, is told ActorGone, and looks for the actor again.
TEST_F(SupervisorTest, FindAfterActorGoneNeverGivesTheDeadActor) {
  for_each_seed(100, [](Simulation& sim) {
    Script script;
    const auto root = supervise(sim, {worker("a", script)});
    const ActorRef<Worker> dying = find(sim, "a");
    dying.tell(Fail{}).ignore();
    const Future<int> asked = dying.ask(Count{});
    int looked = 0;
    asked
        .then(inline_executor(),
              [&](const Result<int>& answer) {
                if (answer) return;
                EXPECT_NE(answer.error().detail<ActorGone>(), nullptr);
                ++looked;
                const auto found = sim.actors().find<Worker>("a");
                if (found) {
                  EXPECT_NE(found->id(), dying.id());
                } else {
                  EXPECT_EQ(found.error().code(), ErrorCode::kNotFound);
                }
              })
        .ignore();
    sim.run_until_idle();
    EXPECT_EQ(looked, 1);
    sim.finish();
  });
}

// On real threads: senders come while an incarnation ends, while one starts, and in between.
using SupervisorStressTest = SupervisorTest;
TEST_F(SupervisorStressTest, SendersOfManyThreadsAreAllAnsweredWhileTheChildRestarts) {
  constexpr int kSenders = 4, kEach = 1500;
  const std::unique_ptr<PoolExecutor> threads = make_executor(ExecutorBackend::kThreads, 3, "t");
  TimerQueue timers(steady_clock());
  Environment environment;
  environment.clock = &steady_clock();
  environment.timers = &timers;
  environment.compute = environment.blocking = threads.get();
  ActorSystem system(environment);
  Script script;
  const ChildOptions often{.limit = {.restarts = 1 << 30, .window = seconds(1)}};
  const auto root =
      system.spawn<Supervisor>("root", {}, std::vector{worker("a", script, often)}).value();
  const ChildRef<Worker> child = wait_blocking(Supervisor::child<Worker>(root, "a")).value();
  std::atomic<int> answered{0};
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      for (int i = 0; i < kEach; ++i) {
        if (i % 37 == s) child.tell(Fail{}).ignore();
        if (i % 101 == s) child.next_incarnation().ignore();
        const Result<int> answer = wait_blocking(child.ask(Count{}));
        if (answer) {
          ++answered;
        } else {
          EXPECT_NE(answer.error().detail<ActorGone>(), nullptr) << answer.error().to_string();
        }
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_GT(answered, kEach);
  EXPECT_TRUE(wait_blocking(child.ask(Count{})));
  EXPECT_TRUE(wait_blocking(system.close()));
  EXPECT_EQ(wait_blocking(child.ask(Count{})).error().code(), ErrorCode::kUnavailable);
}

// Children fail at any time, systems close at any time: everything ends. (The simulation checks
// that no future, timer or actor is left.)
TEST_F(SupervisorTest, FailuresAtAnyTimeLeaveNoActorBehind) {
  int escalations = 0;
  for_each_seed(300, [&](Simulation& sim) {
    Script script;
    std::vector<ChildSpec> children;
    for (int i = 0; i < 4; ++i) {
      ChildOptions options{.limit = {.restarts = static_cast<int>(sim.below(5)),
                                     .window = milliseconds(1 + sim.below(60))},
                           .pause = milliseconds(sim.below(3))};
      children.push_back(worker("w" + std::to_string(i), script, options));
    }
    const auto root =
        sim.actors()
            .spawn<Supervisor>("root", {},
                               std::vector{child<Supervisor>("inner", {}, std::move(children))})
            .value();
    for (int i = 0; i < 40; ++i) {
      if (auto found = sim.actors().find<Worker>("w" + std::to_string(sim.below(4)))) {
        if (sim.chance(0.5)) {
          found->tell(Fail{}).ignore();
        } else {
          found->ask(Count{}).ignore();
        }
      }
      if (sim.chance(0.1)) script.failing_starts = 1 + static_cast<int>(sim.below(2));
      if (sim.chance(0.7)) sim.run_for(milliseconds(sim.below(10)));
    }
    if (sim.chance(0.3)) root.stop().ignore();
    sim.finish();
    ASSERT_TRUE(root.down().ready());
    escalations += root.down().result()->exit.failure() ? 1 : 0;
  });
  if (std::getenv("MILLRACE_SEED") == nullptr) {
    EXPECT_GT(escalations, 20);
    EXPECT_LT(escalations, 250);
  }
}

}  // namespace
}  // namespace millrace::actors
