// Simulation: the default fixture of the tests of actors, devices, transfer and collectives. One
// thread, virtual time, and an order of events drawn from a seed; at its end it checks that nothing
// was left over.
//
//   for_each_seed(20, [](Simulation& sim) {
//     auto ref = sim.actors().spawn<Counter>("counter", {}).value();
//     EXPECT_EQ(sim.run(ref.ask(Get{})).value(), 0);
//   });
//
// MILLRACE_SEED=N replays one seed; MILLRACE_LONG=1 runs ten times as many. Builds with a sanitizer
// run a tenth.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/future.h"

#include <gtest/gtest.h>

namespace millrace::testing {

// Declare it before every other thing of the test: what is made later must be gone first. Ends with
// finish(). Thread-safety: confined.
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  std::uint64_t seed() const { return seed_; }
  // compute and blocking are the same shuffled executor, so everything interleaves with everything.
  const Environment& environment() const { return environment_; }
  Executor& executor() { return executor_; }
  TimerQueue& timers() { return timers_; }
  TimePoint now() const { return clock_.now(); }
  // An actor system of the test's, made when first asked for; slices are short or long, as the seed
  // says.
  actors::ActorSystem& actors();

  // Choices of the test itself; they do not disturb the order of events.
  std::mt19937_64& random() { return random_; }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }

  // Runs what can run now; time stands.
  std::size_t run_until_idle();
  // Runs, and moves time as far as needed, until the value is there. Nothing to run and no timer is
  // a deadlock: the test fails with a list of what is pending, and run() below gives kInternal.
  bool run_until_complete(AsyncValue& value);
  template <class T>
  Result<T> run(const Future<T>& future) {
    if (!run_until_complete(*future.cell()))
      return fail(ErrorCode::kInternal, "the simulation is stuck");
    return future.take();
  }
  // Runs everything up to now() + duration, then stands there.
  void run_for(Duration duration);

  // Something with a close(): closed in reverse order by finish(), before it is checked that
  // nothing is left.
  void on_finish(std::string name, std::function<Future<void>()> close);
  // Lines for the list of what is pending.
  void on_stuck(std::function<std::string()> describe) { describe_.push_back(std::move(describe)); }

  // Closes what was registered and checks that no work, no timer and no pending future is left.
  // Call it while what the actors refer to still lives. The destructor does it otherwise, and then
  // checks that no future is held any more.
  void finish();

 private:
  struct Closeable {
    std::string name;
    std::function<Future<void>()> close;
  };
  bool advance_to_next_timer();
  std::string pending() const;

  const std::uint64_t seed_;
  ::testing::ScopedTrace trace_;
  std::mt19937_64 random_;
  ManualClock clock_;
  TimerQueue timers_{clock_};
  SerialExecutor executor_;
  Environment environment_;
  std::unique_ptr<actors::ActorSystem> actors_;
  std::vector<Closeable> closeables_;
  std::vector<std::function<std::string()>> describe_;
  bool finished_ = false;
};

// Runs body in count simulations of different seeds (with a sanitizer in a tenth of them); stops at
// the first that fails and prints its seed.
void for_each_seed(std::uint64_t count, const std::function<void(Simulation&)>& body);

}  // namespace millrace::testing
