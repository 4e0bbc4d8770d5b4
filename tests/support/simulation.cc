#include "tests/support/simulation.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "tests/support/sanitized.h"

namespace millrace::testing {
namespace {

constexpr std::size_t kMostSteps = 200'000'000;  // of one wait: more is a loop that never ends

// Cells that outlive every test must exist before counting begins.
void make_lasting_cells() {
  SerialExecutor executor{SerialExecutor::InOrder{}};
  ManualClock clock;
  TimerQueue timers(clock);
  struct Nothing {};
  struct Sink : actors::Actor {
    void on(Nothing) {}
  };
  actors::ActorSystem system(Environment{&clock, &timers, &executor, &executor});
  if (auto sink = system.spawn<Sink>("sink", {})) (void)sink->tell(Nothing{});
  const Future<void> closed = system.close();
  executor.run_until_idle();
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

std::string describe(const actors::ActorSnapshot& row) {
  std::string line = "  actor '" + row.name + "' " + std::string(to_string(row.state));
  if (!row.handler.message.empty()) line += ", held by its handler of " + row.handler.message;
  if (row.in_flight != 0) {
    line += ", " + std::to_string(row.in_flight) + " handlers in flight, the oldest of " +
            row.oldest_in_flight.message;
  }
  return line + ", " + std::to_string(row.messages) + " messages (" + std::to_string(row.bytes) +
         " bytes), " + std::to_string(row.waiting_bytes) + " bytes waiting\n";
}

}  // namespace

Simulation::Simulation(std::uint64_t seed)
    : seed_(seed),
      trace_(__FILE__, __LINE__, "replay with MILLRACE_SEED=" + std::to_string(seed)),
      random_(seed ^ 0x9e3779b97f4a7c15ull),
      executor_(seed),
      environment_{&clock_, &timers_, &executor_, &executor_} {
  static const bool lasting = (make_lasting_cells(), true);
  static_cast<void>(lasting);
  AsyncValue::set_counting(true);
}

Simulation::~Simulation() {
  finish();
  EXPECT_EQ(AsyncValue::counts().alive, 0) << "futures are still held";
  AsyncValue::set_counting(false);
}

actors::ActorSystem& Simulation::actors() {
  if (!actors_) {
    static constexpr int kSlices[] = {1, 2, 64};
    actors_ = std::make_unique<actors::ActorSystem>(
        environment_,
        actors::ActorSystemOptions{.slice_messages = kSlices[seed_ % std::size(kSlices)]});
    on_finish("actors", [this] { return actors_->close(); });
  }
  return *actors_;
}

std::size_t Simulation::run_until_idle() {
  std::size_t steps = 0;
  do {
    steps += executor_.run_until_idle();
  } while (timers_.run_due() != 0);
  return steps;
}

bool Simulation::advance_to_next_timer() {
  const std::optional<TimePoint> next = timers_.next_deadline();
  if (!next) return false;
  clock_.advance_to(*next);
  timers_.run_due();
  return true;
}

bool Simulation::run_until_complete(AsyncValue& value) {
  for (std::size_t step = 0; step < kMostSteps; ++step) {
    if (value.complete()) return true;
    if (executor_.run_one()) continue;
    if (!advance_to_next_timer()) {
      ADD_FAILURE() << "deadlock: nothing can run and no timer is set\n" << pending();
      return false;
    }
  }
  ADD_FAILURE() << "no end after " << kMostSteps << " steps\n" << pending();
  return false;
}

void Simulation::run_for(Duration duration) {
  const TimePoint end = clock_.now() + duration;
  for (;;) {
    run_until_idle();
    const std::optional<TimePoint> next = timers_.next_deadline();
    if (!next || *next > end) break;
    advance_to_next_timer();
  }
  clock_.advance_to(end);
}

void Simulation::on_finish(std::string name, std::function<Future<void>()> close) {
  closeables_.push_back({std::move(name), std::move(close)});
}

std::string Simulation::pending() const {
  std::string text = "  virtual time " + std::to_string(clock_.now().time_since_epoch().count()) +
                     " ns, " + std::to_string(AsyncValue::counts().pending) + " futures pending, " +
                     std::to_string(executor_.pending()) + " pieces of work, " +
                     std::to_string(timers_.pending()) + " timers\n";
  if (actors_) {
    for (const actors::ActorSnapshot& row : actors_->snapshot()) text += describe(row);
  }
  for (const auto& describe : describe_) text += describe() + "\n";
  return text;
}

void Simulation::finish() {
  if (std::exchange(finished_, true)) return;
  while (!closeables_.empty()) {
    const Closeable last = std::move(closeables_.back());
    closeables_.pop_back();
    const Future<void> closed = last.close();
    if (!run_until_complete(*closed.cell())) {
      ADD_FAILURE() << last.name << " did not close";
      std::abort();  // what did not close still uses this object
    }
    const Result<void>& result = closed.result();
    EXPECT_TRUE(result.has_value()) << last.name << ": " << result.error().to_string();
  }
  run_until_idle();
  actors_ = nullptr;
  describe_.clear();
  EXPECT_EQ(executor_.pending(), 0u) << "work is left over\n" << pending();
  EXPECT_EQ(timers_.pending(), 0u) << "timers are left over\n" << pending();
  EXPECT_EQ(AsyncValue::counts().pending, 0) << "futures never completed\n" << pending();
}

void for_each_seed(std::uint64_t count, const std::function<void(Simulation&)>& body) {
  if (const char* one = std::getenv("MILLRACE_SEED"); one != nullptr && *one != '\0') {
    Simulation simulation(std::strtoull(one, nullptr, 10));
    body(simulation);
    return;
  }
  if (kSanitized) count = std::min(count, std::max<std::uint64_t>(count / 10, 5));
  if (is_set("MILLRACE_LONG")) count *= 10;
  for (std::uint64_t seed = 1; seed <= count && !::testing::Test::HasFailure(); ++seed) {
    {
      Simulation simulation(seed);
      body(simulation);
    }
    if (::testing::Test::HasFailure()) std::cerr << "failed with MILLRACE_SEED=" << seed << "\n";
  }
}

}  // namespace millrace::testing
