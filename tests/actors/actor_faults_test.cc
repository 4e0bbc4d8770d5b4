// Random lives: actors that ask each other, wait, forward and die at any point, under limits of
// every kind. Whatever the order, every ask and tell completes once and every close ends (AC-2);
// the simulation checks it.
#include <string>
#include <utility>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/core/async/combinators.h"
#include "tests/support/simulation.h"

#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::milliseconds;

struct Now {
  int number;
};
struct Held {
  int number;
  Duration time;
};
struct Overlapping {
  static constexpr bool kConcurrent = true;
  int number;
  Duration time;
};
struct Kept {
  int number;
};
struct Passed {
  int number;
  Reply<int> reply;
};
struct Broken {
  bool by_exception;
};

class Node;
struct Meet {
  ActorRef<Node> neighbour;
};

class Node : public Actor {
 public:
  explicit Node(Duration hooks) : hooks_(hooks) {}
  Future<void> on_start() override { return pause(hooks_); }
  Future<void> on_stop(const Exit&) override { return pause(hooks_); }

  Result<int> on(const Now& ask) { return ask.number; }
  Future<int> on(Held&& ask) { return after(ask.time, ask.number); }
  Future<int> on(Overlapping&& ask) { return after(ask.time, ask.number); }
  void on(const Kept& ask, Reply<int> reply) {
    if (!neighbour_) return kept_.push_back(std::move(reply));
    neighbour_.tell(Passed{ask.number, std::move(reply)}).cell()->ignore_error();
  }
  void on(Passed&& passed) {
    if (passed.number % 3 != 0) passed.reply.set(passed.number);
    if (passed.number % 3 == 1) kept_.push_back(std::move(passed.reply));
  }
  void on(const Broken& broken) {
    if (broken.by_exception) throw std::runtime_error("broken");
    context().fail(Error(ErrorCode::kInternal, "broken"));
  }
  void on(const Meet& meet) {
    neighbour_ = meet.neighbour;
    monitor(ActorRef(this), neighbour_);
  }
  void on(const Down& down) {
    if (neighbour_ && down.id == neighbour_.id()) neighbour_ = {};
  }

 private:
  Future<void> pause(Duration time) {
    if (time == Duration::zero()) return {};
    const Environment& environment = context().environment();
    return sleep_until(environment.clock->now() + time, *environment.timers);
  }
  Future<int> after(Duration time, int number) {
    const Environment& environment = context().environment();
    // Back in a turn of this actor: what it touches is safe beside other handlers.
    return sleep_until(environment.clock->now() + time, *environment.timers, context().stop_token())
        .then(context().executor(), [this, number](Result<void> waited) -> Result<int> {
          turns_ += 1;
          if (!waited) return std::unexpected(waited.error());
          return number;
        });
  }

  const Duration hooks_;
  ActorRef<Node> neighbour_;
  std::vector<Reply<int>> kept_;
  int turns_ = 0;
};

// One random life of three nodes; returns the asks with the number that a good answer has.
class RandomLife {
 public:
  explicit RandomLife(Simulation& sim) : sim_(sim) {
    for (int i = 0; i < 3; ++i) spawn(i);
  }

  void step() {
    const std::uint64_t who = sim_.below(nodes_.size());
    ActorRef<Node>& node = nodes_[who];
    const int number = static_cast<int>(asked_.size());
    const Duration time = milliseconds(sim_.below(20));
    switch (sim_.below(15)) {
      case 0:
      case 1:
        return expect(node.ask(Now{number}, limits()), number);
      case 2:
      case 3:
        return expect(node.ask(Held{number, time}, limits()), number);
      case 4:
      case 5:
        return expect(node.ask(Overlapping{number, time}, limits()), number);
      case 6:
        return expect(node.ask(Kept{number}, limits()), number);
      case 7:
        return told_.push_back(node.tell(Now{number}, limits()));
      case 8:
        if (sim_.chance(0.3)) told_.push_back(node.tell(Broken{sim_.chance(0.5)}));
        return;
      case 9:
        if (sim_.chance(0.3)) down_.push_back(node.kill(Error(ErrorCode::kInternal, "killed")));
        return;
      case 10:
        if (!sim_.chance(0.3)) return;
        down_.push_back(node.stop(sim_.chance(0.5) ? StopMode::kDrain : StopMode::kNow));
        return;
      case 11:
        if (node.down().ready()) spawn(who);
        return;
      case 12:
        stop_.request_stop();
        stop_ = std::stop_source();
        return;
      case 13:
        return told_.push_back(node.tell(Meet{nodes_[sim_.below(nodes_.size())]}));
      default:
        return sim_.run_for(time);
    }
  }

  void check() {
    for (auto& [future, number] : asked_) {
      ASSERT_TRUE(future.ready()) << "ask " << number;
      if (future.result()) {
        EXPECT_EQ(*future.result(), number);
      }
    }
    for (auto& told : told_) {
      EXPECT_TRUE(told.ready());
      told.cell()->ignore_error();
    }
    for (auto& down : down_) EXPECT_TRUE(down.ready());
  }
  std::size_t answered() const {
    std::size_t count = 0;
    for (const auto& [future, number] : asked_) count += future.result().has_value() ? 1 : 0;
    return count;
  }
  std::size_t asked() const { return asked_.size(); }

 private:
  void spawn(std::uint64_t index) {
    const Duration hooks = milliseconds(sim_.below(4));
    auto node = sim_.actors().spawn<Node>("node" + std::to_string(index),
                                          ActorOptions{.mailbox_bytes = 500}, hooks);
    ASSERT_TRUE(node.has_value()) << node.error().to_string();
    if (index < nodes_.size()) {
      nodes_[index] = *node;
    } else {
      nodes_.push_back(*node);
    }
  }
  CallOptions limits() {
    CallOptions options;
    if (sim_.chance(0.3)) options.deadline = sim_.now() + milliseconds(sim_.below(15));
    if (sim_.chance(0.3)) options.stop = stop_.get_token();
    return options;
  }
  void expect(Future<int> future, int number) { asked_.emplace_back(std::move(future), number); }

  Simulation& sim_;
  std::stop_source stop_;
  std::vector<ActorRef<Node>> nodes_;
  std::vector<std::pair<Future<int>, int>> asked_;
  std::vector<Future<void>> told_;
  std::vector<Future<Down>> down_;
};

TEST(ActorFaultsTest, EveryCallCompletesOnceWhateverHappens) {
  std::size_t asked = 0;
  std::size_t answered = 0;
  for_each_seed(500, [&](Simulation& sim) {
    RandomLife life(sim);
    for (int i = 0; i < 120; ++i) life.step();
    sim.finish();
    life.check();
    asked += life.asked();
    answered += life.answered();
  });
  // The faults must not be so many, nor so few, that nothing is tested.
  EXPECT_GT(answered, asked / 10);
  EXPECT_LT(answered, asked * 9 / 10);
}

}  // namespace
}  // namespace millrace::actors
