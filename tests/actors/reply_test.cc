// An ask fails when the actor that holds its reply dies, wherever the reply has gone and whatever
// else the dead actor is still busy with. "Within 50 ms" is here: without any time passing.
#include "millrace/actors/reply.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/core/async/coroutine.h"
#include "tests/support/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using ::testing::HasSubstr;

struct Ask {};
struct Carry {
  Reply<int> reply;
};
struct CarryPerhaps {
  std::optional<Reply<int>> reply;
};
struct Await {
  Reply<int> reply;
};
struct Wedge {
  static constexpr bool kConcurrent = true;
  Future<void> until;
};
struct Answer {
  int number;
};

class Node;
struct Next {
  ActorRef<Node> node;
};

// Takes its reply as the members of Throwing say, and throws, or not.
struct Throwing {
  bool throws = true;
  bool kept_before = false;  // an older reply is in the frame too
  bool keeps = false;        // its own is not in the frame any more
};

class Thrower final : public Actor {
 public:
  void on(const Ask&, Reply<int> reply) { kept_.push_back(std::move(reply)); }
  void on(const Throwing& how, Reply<int> reply) {
    Reply<int> older;
    if (how.kept_before) older = std::move(kept_.back());
    if (how.keeps) kept_.push_back(std::move(reply));
    const Reply<int> frame = std::move(reply);
    if (how.throws) throw std::runtime_error("out of luck");
  }

 private:
  std::vector<Reply<int>> kept_;
};

// Answers nothing: keeps a reply, or passes it on.
class Node final : public Actor {
 public:
  explicit Node(Future<void> wedge, Future<void> stop = {})
      : wedge_(std::move(wedge)), stop_(std::move(stop)) {}
  Future<void> on_stop(const Exit&) override { return stop_; }
  void on(const Next& next) { next_ = next.node; }
  void on(const Ask&, Reply<int> reply) { take(std::move(reply)); }
  void on(Carry&& carry) { take(std::move(carry.reply)); }
  void on(CarryPerhaps&& carry) { take(*std::move(carry.reply)); }
  Future<void> on(Await&& await) {
    return spawn(context().executor(), hold(std::move(await.reply), wedge_));
  }
  Future<void> on(const Wedge& wedge) { return wedge.until; }
  void on(const Answer& answer) {
    for (Reply<int>& reply : kept_) reply.set(answer.number);
  }

 private:
  static Task<void> hold(Reply<int> reply, Future<void> until) {
    static_cast<void>(co_await until);
    reply.set(1);
  }
  void take(Reply<int> reply) {
    if (!next_) return kept_.push_back(std::move(reply));
    // Alternately as a member and in an optional.
    if (++passed_ % 2 == 0) return next_.tell(Carry{std::move(reply)}).ignore();
    next_.tell(CarryPerhaps{std::move(reply)}).ignore();
  }

  const Future<void> wedge_;
  const Future<void> stop_;
  ActorRef<Node> next_;
  int passed_ = 0;
  std::vector<Reply<int>> kept_;
};

// The error of an ask whose reply was with `holder` when that one was killed.
void expect_gone(const Future<int>& asked, const std::string& holder) {
  ASSERT_TRUE(asked.ready()) << "no time may pass";
  ASSERT_FALSE(asked.result());
  const Error& error = asked.result().error();
  EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
  ASSERT_NE(error.detail<ActorGone>(), nullptr) << error.to_string();
  EXPECT_EQ(error.detail<ActorGone>()->name, holder) << error.to_string();
  EXPECT_THAT(error.message(), HasSubstr("power cut"));
}
Error power_cut() { return Error(ErrorCode::kInternal, "power cut"); }

TEST(ReplyTest, AKeptReplyFailsWithItsHolderThoughAnotherHandlerOfThatOneHangs) {
  for_each_seed(30, [](Simulation& sim) {
    Promise<void> wedge;
    auto node = sim.actors().spawn<Node>("node", {}, wedge.future()).value();
    node.tell(Wedge{wedge.future()}).ignore();
    auto asked = node.ask(Ask{});
    sim.run_until_idle();
    auto down = node.kill(power_cut());
    sim.run_until_idle();
    expect_gone(asked, "node");
    EXPECT_FALSE(down.ready()) << "its handler has not ended";
    wedge.set_value();
    EXPECT_TRUE(sim.run(down));
  });
}

TEST(ReplyTest, AForwardedReplyFailsWithItsHolderAfterAnyNumberOfHops) {
  for_each_seed(100, [](Simulation& sim) {
    Promise<void> wedge;
    std::vector<ActorRef<Node>> nodes;
    const std::size_t hops = 1 + sim.below(4);
    for (std::size_t i = 0; i <= hops; ++i) {
      nodes.push_back(
          sim.actors().spawn<Node>("node" + std::to_string(i), {}, wedge.future()).value());
      if (i > 0) nodes[i - 1].tell(Next{nodes[i]}).ignore();
    }
    const bool hangs = sim.chance(0.7);
    if (hangs) {
      for (auto& node : nodes) node.tell(Wedge{wedge.future()}).ignore();
    }
    sim.run_until_idle();
    auto asked = nodes[0].ask(Ask{});
    sim.run_until_idle();
    for (std::size_t i = 0; i < hops; ++i) nodes[i].kill(power_cut()).ignore();
    sim.run_until_idle();
    EXPECT_FALSE(asked.ready()) << "those who passed it on are none of its business (HR-1)";
    nodes[hops].kill(power_cut()).ignore();
    sim.run_until_idle();
    expect_gone(asked, "node" + std::to_string(hops));
    wedge.set_value();
    sim.finish();
  });
}

TEST(ReplyTest, AReplyInTheFrameOfAHandlerThatHangsFailsWithItsActor) {
  for_each_seed(30, [](Simulation& sim) {
    Promise<void> wedge;
    auto holder = sim.actors().spawn<Node>("holder", {}, wedge.future()).value();
    // From outside of any actor: the test asks and carries the reply over itself.
    auto cell = make_ref<Cell<int>>();
    const Future<int> asked(cell);
    auto first = sim.actors().spawn<Node>("first", {}, wedge.future()).value();
    holder.tell(Await{Reply<int>(cell, *first.cell(), kMessageType<Ask>)}).ignore();
    cell = nullptr;
    sim.run_until_idle();
    first.kill(power_cut()).ignore();
    sim.run_until_idle();
    EXPECT_FALSE(asked.ready());
    auto down = holder.kill(power_cut());
    sim.run_until_idle();
    expect_gone(asked, "holder");
    EXPECT_FALSE(down.ready());
    wedge.set_value();
    EXPECT_TRUE(sim.run(down));
    EXPECT_FALSE(asked.result()) << "set once (HR-2)";
  });
}

TEST(ReplyTest, AKeptReplyFailsAtOnceThoughOnStopHangs) {
  for_each_seed(30, [](Simulation& sim) {
    Promise<void> stop;
    auto node = sim.actors().spawn<Node>("node", {}, stop.future(), stop.future()).value();
    auto asked = node.ask(Ask{});
    sim.run_until_idle();
    const bool stopped_before = sim.chance(0.5);
    if (stopped_before) {
      node.stop().ignore();
      sim.run_until_idle();
      EXPECT_FALSE(asked.ready()) << "one that stops in good order may still answer";
    }
    node.kill(power_cut()).ignore();
    sim.run_until_idle();
    expect_gone(asked, "node");
    stop.set_value();
    sim.finish();
  });
}

TEST(ReplyTest, AHandlerMayAnswerWhileItsActorStopsInGoodOrder) {
  for_each_seed(30, [](Simulation& sim) {
    Promise<void> wedge;
    auto holder = sim.actors().spawn<Node>("holder", {}, wedge.future()).value();
    auto cell = make_ref<Cell<int>>();
    const Future<int> asked(cell);
    holder.tell(Await{Reply<int>(cell, *holder.cell(), kMessageType<Ask>)}).ignore();
    cell = nullptr;
    sim.run_until_idle();
    auto down = holder.stop();
    sim.run_until_idle();
    EXPECT_FALSE(asked.ready());
    wedge.set_value();
    EXPECT_EQ(sim.run(asked).value(), 1);
    EXPECT_TRUE(sim.run(down));
  });
}

TEST(ReplyTest, AnAnswerAfterTheForwardingArrives) {
  for_each_seed(20, [](Simulation& sim) {
    auto last = sim.actors().spawn<Node>("last", {}, Future<void>()).value();
    auto first = sim.actors().spawn<Node>("first", {}, Future<void>()).value();
    first.tell(Next{last}).ignore();
    auto asked = first.ask(Ask{});
    sim.run_until_idle();
    EXPECT_TRUE(sim.run(first.stop()));
    EXPECT_FALSE(asked.ready());
    last.tell(Answer{7}).ignore();
    EXPECT_EQ(sim.run(asked).value(), 7);
    sim.finish();
  });
}

TEST(ReplyTest, HandlerThatThrowsWhileItHoldsItsReplyAnswersWithItsException) {
  for_each_seed(10, [](Simulation& sim) {
    auto node = sim.actors().spawn<Thrower>("node", {}).value();
    const Error error = sim.run(node.ask(Throwing{})).error();
    EXPECT_EQ(error.code(), ErrorCode::kInternal) << error.to_string();
    EXPECT_THAT(error.message(), HasSubstr("actor 'node' failed in its handler of"));
    EXPECT_THAT(error.message(), HasSubstr("out of luck"));
  });
}

TEST(ReplyTest, ThrowingHandlerLeavesNoReplyUnanswered) {
  for_each_seed(10, [](Simulation& sim) {
    auto node = sim.actors().spawn<Thrower>("node", {}).value();
    const auto older = node.ask(Ask{});
    const auto own = node.ask(Throwing{.kept_before = true, .keeps = sim.chance(0.5)});
    EXPECT_THAT(sim.run(own).error().message(), HasSubstr("out of luck"));
    EXPECT_FALSE(sim.run(older));
  });
}

TEST(ReplyTest, HandlerThatDropsItsReplyAndReturnsIsNamed) {
  Simulation sim(1);
  auto node = sim.actors().spawn<Thrower>("node", {}).value();
  const Error error = sim.run(node.ask(Throwing{.throws = false})).error();
  EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.to_string();
  EXPECT_THAT(error.message(), HasSubstr("actor 'node' dropped the reply"));
}

}  // namespace
}  // namespace millrace::actors
