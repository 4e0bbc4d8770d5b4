#include "millrace/actors/supervisor.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/combinators.h"
#include "millrace/core/log.h"
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

TEST_F(SupervisorTest, AFailedChildIsRestartedUnderItsNameAndTheOthersGoOn) {
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

TEST_F(SupervisorTest, MoreFailuresThanTheLimitEscalate) {
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

TEST_F(SupervisorTest, AStartThatFailsCountsLikeAnyEnd) {
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

TEST_F(SupervisorTest, AConstructorThatThrowsAtTheFirstStartEscalatesAndLeavesNobody) {
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
    EXPECT_TRUE(sim.run(root.stop())) << "a pause holds nobody up";
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

// Children that fail at any time, systems that close at any time: everything ends, and nobody is
// left. (The simulation checks that no future, timer or actor is.)
TEST_F(SupervisorTest, WhateverFailsWheneverNobodyIsLeft) {
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
