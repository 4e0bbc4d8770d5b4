#include "millrace/actors/handler_watch.h"

#include <string>
#include <vector>

#include "millrace/core/observe/log.h"
#include "tests/support/allocation_count.h"
#include "tests/support/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

struct Hold {
  Future<void> until;
};
struct Overlap {
  static constexpr bool kConcurrent = true;
  Future<void> until;
};
struct Note {};

class Slow final : public Actor {
 public:
  explicit Slow(Future<void> start = {}, Future<void> stop = {})
      : start_(std::move(start)), stop_(std::move(stop)) {}
  Future<void> on_start() override { return start_; }
  Future<void> on_stop(const Exit&) override { return stop_; }
  Future<void> on(Hold&& hold) { return hold.until; }
  Future<void> on(Overlap&& overlap) { return overlap.until; }
  void on(const Note&) {}

 private:
  Future<void> start_;
  Future<void> stop_;
};

// Keeps the lines of the log for itself.
class HandlerWatchTest : public ::testing::Test, private LogSink {
 protected:
  void SetUp() override { set_log_sink(this); }
  void TearDown() override { set_log_sink(nullptr); }
  std::vector<std::string> logged_;

 private:
  void write(LogLevel level, std::string_view module, std::string_view text) noexcept override {
    if (level == LogLevel::kWarning && module == "actors") logged_.emplace_back(text);
  }
};

// A watch that writes down what it names, and when.
struct Watched {
  struct Line {
    TimePoint at;
    OverdueHandler what;
  };
  Watched(Simulation& sim, Duration limit)
      : watch(sim.actors(), sim.environment(),
              {.limit = limit,
               .on_overdue =
                   [this, &sim](const OverdueHandler& what) { lines.push_back({sim.now(), what}); },
               .overdue = &count}) {}
  ~Watched() { EXPECT_TRUE(watch.close().ready()); }
  std::vector<Line> lines;
  Counter count;
  HandlerWatch watch;
};

TEST_F(HandlerWatchTest, NamesAHandlerWithinASecondOfItsLimitWithAgeAndQueue) {
  for_each_seed(200, [](Simulation& sim) {
    const Duration limit = milliseconds(1 + sim.below(5000));
    Watched watched(sim, limit);
    Promise<void> end;
    auto slow = sim.actors().spawn<Slow>("slow", {}).value();
    auto quick = sim.actors().spawn<Slow>("quick", {}).value();
    sim.run_for(milliseconds(sim.below(3000)));
    const bool holds = sim.chance(0.5);
    const TimePoint begin = sim.now();
    if (holds) {
      slow.tell(Hold{end.future()}).ignore();
    } else {
      slow.tell(Overlap{end.future()}).ignore();
    }
    const std::size_t behind = holds ? sim.below(20) : 0;
    for (std::size_t i = 0; i < behind; ++i) slow.tell(Note{}).ignore();
    quick.tell(Note{}).ignore();
    sim.run_for(limit + seconds(1));
    ASSERT_FALSE(watched.lines.empty());
    const auto& [at, what] = watched.lines[0];
    EXPECT_GE(at, begin + limit);
    EXPECT_LE(at, begin + limit + seconds(1));
    EXPECT_EQ(what.actor.name, "slow");
    EXPECT_EQ(what.handler.age, at - begin);
    EXPECT_EQ(what.queued(), behind);
    EXPECT_THAT(what.to_string(), HasSubstr("actor 'slow' has not ended its handler of "));
    EXPECT_THAT(what.to_string(), HasSubstr(holds ? "Hold for " : "Overlap for "));
    EXPECT_THAT(what.to_string(),
                HasSubstr("; " + std::to_string(behind) + " messages are queued behind it"));
    EXPECT_EQ(watched.count.value(), 1U);
    end.set_value();
    EXPECT_TRUE(sim.run(watched.watch.close()));
    sim.finish();
  });
}

TEST_F(HandlerWatchTest, IdleActorsAreNotTouched) {
  Simulation sim(1);
  for (int i = 0; i < 5000; ++i)
    ASSERT_TRUE(sim.actors().spawn<Slow>("idle " + std::to_string(i), {}));
  sim.run_for(seconds(1));
  if (millrace::testing::kAllocationsCountable) {
    // A list of them all would be one allocation at least.
    const millrace::testing::AllocationCount allocations;
    EXPECT_EQ(sim.actors().overdue(seconds(1)).size(), 0U);
    EXPECT_EQ(allocations.count(), 0);
  }
  Promise<void> end;
  auto slow = sim.actors().spawn<Slow>("slow", {}).value();
  slow.tell(Hold{end.future()}).ignore();
  sim.run_for(seconds(2));
  const std::vector<ActorSnapshot> overdue = sim.actors().overdue(seconds(1));
  ASSERT_EQ(overdue.size(), 1U);
  EXPECT_EQ(overdue[0].name, "slow");
  end.set_value();
  sim.finish();
}

TEST_F(HandlerWatchTest, SaysSoAgainWhenTheAgeHasDoubledAndCountsOnce) {
  Simulation sim(1);
  Watched watched(sim, seconds(1));
  Promise<void> end;
  auto slow = sim.actors().spawn<Slow>("slow", {}).value();
  slow.tell(Hold{end.future()}).ignore();
  sim.run_for(seconds(30));
  std::vector<int> ages;
  for (const auto& line : watched.lines)
    ages.push_back(static_cast<int>(line.what.handler.age / milliseconds(500)));
  EXPECT_THAT(ages, ::testing::ElementsAre(2, 4, 8, 16, 32));
  EXPECT_EQ(watched.count.value(), 1U);
  ASSERT_EQ(logged_.size(), 5U);
  EXPECT_EQ(logged_[1], watched.lines[1].what.to_string());
  EXPECT_THAT(logged_[1], HasSubstr("Hold for 2.0 s (limit 1.0 s); 0 messages are queued"));
  end.set_value();
  sim.run_for(seconds(5));
  EXPECT_EQ(watched.lines.size(), 5U) << "it has ended";
  Promise<void> next;
  slow.tell(Hold{next.future()}).ignore();
  sim.run_for(seconds(2));
  EXPECT_EQ(watched.count.value(), 2U) << "another one";
  next.set_value();
  EXPECT_TRUE(sim.run(watched.watch.close()));
  sim.finish();
}

TEST_F(HandlerWatchTest, AnIdleActorThatWakesIsNotOverdue) {
  for_each_seed(5, [](Simulation& sim) {
    Watched watched(sim, milliseconds(400));
    auto slow = sim.actors().spawn<Slow>("slow", {}).value();
    for (int i = 0; i < 20; ++i) {
      sim.run_for(seconds(1) + milliseconds(sim.below(600)));
      Promise<void> end;
      slow.tell(Hold{end.future()}).ignore();
      sim.run_for(milliseconds(sim.below(400)));
      end.set_value();
      sim.run_until_idle();
    }
    EXPECT_TRUE(watched.lines.empty());
    EXPECT_TRUE(sim.run(watched.watch.close()));
    sim.finish();
  });
}

TEST_F(HandlerWatchTest, HooksThatDoNotEndAreNamedToo) {
  for_each_seed(5, [](Simulation& sim) {
    Watched watched(sim, seconds(1));
    Promise<void> start;
    Promise<void> stop;
    auto slow = sim.actors().spawn<Slow>("slow", {}, start.future(), stop.future()).value();
    slow.tell(Note{}).ignore();
    sim.run_for(milliseconds(1900));
    ASSERT_EQ(watched.lines.size(), 1U);
    EXPECT_EQ(watched.lines[0].what.handler.message, "on_start");
    start.set_value();
    sim.run_for(seconds(3));
    EXPECT_EQ(watched.lines.size(), 1U);
    auto down = slow.stop();
    sim.run_for(milliseconds(1900));
    ASSERT_EQ(watched.lines.size(), 2U);
    EXPECT_EQ(watched.lines[1].what.handler.message, "on_stop");
    EXPECT_EQ(watched.lines[1].what.actor.state, ActorState::kStopping);
    stop.set_value();
    EXPECT_TRUE(sim.run(down));
    EXPECT_TRUE(sim.run(watched.watch.close()));
    sim.finish();
  });
}

TEST_F(HandlerWatchTest, AWatchThatIsClosedLooksNoMore) {
  Simulation sim(1);
  Counter named;
  Promise<void> end;
  auto slow = sim.actors().spawn<Slow>("slow", {}).value();
  slow.tell(Hold{end.future()}).ignore();
  {
    HandlerWatch watch(sim.actors(), sim.environment(),
                       {.limit = seconds(1), .on_overdue = {}, .overdue = &named});
    sim.run_for(milliseconds(900));
    const Future<void> closed = watch.close();
    EXPECT_TRUE(closed.ready());
    EXPECT_EQ(sim.timers().pending(), 0U);
  }
  sim.run_for(seconds(5));
  EXPECT_EQ(named.value(), 0U);
  end.set_value();
  sim.finish();
}

}  // namespace
}  // namespace millrace::actors
