// The simulation is a fixture that other tests trust, so it is tested like a product.
#include "tests/support/simulation.h"

#include <set>
#include <vector>

#include "millrace/core/async/combinators.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace millrace::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

std::vector<int> order_of_events(std::uint64_t seed) {
  std::vector<int> order;
  Simulation sim(seed);
  for (int i = 0; i < 8; ++i) post(sim.executor(), [&order, i] { order.push_back(i); });
  sim.run_until_idle();
  return order;
}

TEST(SimulationTest, TheSameSeedGivesTheSameOrderAndOthersDiffer) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(order_of_events(seed), order_of_events(seed));
    orders.insert(order_of_events(seed));
  }
  EXPECT_GT(orders.size(), 15u);
}

TEST(SimulationTest, AWaitMovesVirtualTimeToTheNextTimer) {
  for_each_seed(5, [](Simulation& sim) {
    const TimePoint start = sim.now();
    EXPECT_TRUE(sim.run(sleep_until(start + hours(30), sim.timers())).has_value());
    EXPECT_EQ(sim.now(), start + hours(30));
  });
}

TEST(SimulationTest, RunForStopsAtItsEndWhateverTimersSay) {
  for_each_seed(5, [](Simulation& sim) {
    const TimePoint start = sim.now();
    const auto early = sleep_until(start + milliseconds(3), sim.timers());
    const auto late = sleep_until(start + milliseconds(9), sim.timers());
    sim.run_for(milliseconds(5));
    EXPECT_EQ(sim.now(), start + milliseconds(5));
    EXPECT_TRUE(early.ready());
    EXPECT_FALSE(late.ready());
    EXPECT_TRUE(sim.run(late).has_value());
  });
}

TEST(SimulationTest, ADeadlockFailsTheTestAndListsWhatIsPending) {
  Simulation sim(1);
  sim.on_stuck([] { return std::string("  the promise is never set"); });
  Promise<int> promise;
  EXPECT_NONFATAL_FAILURE(
      EXPECT_FALSE(sim.run(promise.future()).has_value()),
      "1 futures pending, 0 pieces of work, 0 timers\n  the promise is never set");
  promise.set(1);
}

TEST(SimulationTest, AFutureThatNeverCompletesFailsTheTest) {
  Promise<int>* unset = nullptr;
  EXPECT_NONFATAL_FAILURE(
      {
        Simulation sim(1);
        unset = new Promise<int>;
        sim.finish();
        delete unset;
      },
      "futures never completed");
}

TEST(SimulationTest, AFutureThatIsHeldForEverFailsTheTest) {
  auto* leaked = new Future<int>;
  EXPECT_NONFATAL_FAILURE(
      {
        Simulation sim(1);
        *leaked = make_ready(1);
      },
      "futures are still held");
  delete leaked;
}

TEST(SimulationTest, ATimerThatIsLeftOverFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        Simulation sim(1);
        sim.timers().schedule(sim.now() + hours(1), [] {});
        sim.finish();
      },
      "timers are left over");
}

TEST(SimulationTest, CloseablesCloseInReverseOrder) {
  std::vector<int> closed;
  {
    Simulation sim(1);
    for (int i = 0; i < 3; ++i) {
      sim.on_finish("closeable", [&closed, i] {
        closed.push_back(i);
        return make_ready();
      });
    }
  }
  EXPECT_EQ(closed, (std::vector<int>{2, 1, 0}));
}

TEST(SimulationTest, ForEachSeedRunsEverySeedOnceAndStopsAtAFailure) {
  if (std::getenv("MILLRACE_SEED") != nullptr || std::getenv("MILLRACE_LONG") != nullptr)
    GTEST_SKIP();
  std::vector<std::uint64_t> seeds;
  for_each_seed(3, [&seeds](Simulation& sim) { seeds.push_back(sim.seed()); });
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace millrace::testing
