// Names, life, end and bounds of actors: what the system promises around the handlers.
#include "millrace/actors/system.h"

#include <string>
#include <vector>

#include "tests/support/simulation.h"

#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::milliseconds;

using Log = std::vector<std::string>;

struct Note {
  std::string text;
};
struct Wait {
  Future<void> until;
};
struct Big {
  int number = 0;
  std::size_t bytes() const { return 1000; }
};
struct Forward;

class Recorder : public Actor {
 public:
  explicit Recorder(Log& log, Future<void> start = {}, Future<void> stop = {})
      : log_(log), start_(std::move(start)), stop_(std::move(stop)) {}
  ~Recorder() override { log_.push_back(context().name() + " destroyed"); }
  Future<void> on_start() override {
    log_.push_back(context().name() + " starts");
    return start_;
  }
  Future<void> on_stop(const Exit& exit) override {
    log_.push_back(context().name() + " stops: " + std::string(to_string(exit.reason)));
    return stop_;
  }
  void on(const Note& note) { log_.push_back(note.text); }
  Future<void> on(const Wait& wait) { return wait.until; }
  void on(const Big& big) { log_.push_back("big " + std::to_string(big.number)); }
  void on(const Down& down) { log_.push_back(down.name + " is down"); }

 private:
  Log& log_;
  Future<void> start_;
  Future<void> stop_;
};

struct Question {
  Reply<int> reply;
};
struct Ask {};
class Answerer : public Actor {
 public:
  void on(Question&& question) { kept_.push_back(std::move(question.reply)); }
  std::vector<Reply<int>> kept_;
};
class Forwarder : public Actor {
 public:
  explicit Forwarder(ActorRef<Answerer> to) : to_(std::move(to)) {}
  void on(const Ask&, Reply<int> reply) {
    to_.tell(Question{std::move(reply)}).cell()->ignore_error();  // the reply tells
  }

 private:
  ActorRef<Answerer> to_;
};
class Thrower : public Actor {
 public:
  Thrower() { throw std::runtime_error("no luck"); }
};

TEST(SystemTest, ALifeInOrder) {  // AC-4
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    auto a = sim.actors().spawn<Recorder>("a", {}, log).value();
    (void)a.tell(Note{"hello"});
    sim.run_until_idle();
    EXPECT_TRUE(sim.run(a.stop()).has_value());
    EXPECT_EQ(log, (Log{"a starts", "hello", "a stops: stopped", "a destroyed"}));
  });
}

TEST(SystemTest, MessagesWaitForOnStart) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    Promise<void> started;
    auto a = sim.actors().spawn<Recorder>("a", {}, log, started.future()).value();
    auto noted = a.ask(Note{"hello"});
    sim.run_until_idle();
    EXPECT_EQ(a.cell()->state(), ActorState::kStarting);
    EXPECT_FALSE(noted.ready());
    started.set_value();
    EXPECT_TRUE(sim.run(noted).has_value());
    sim.finish();
  });
}

TEST(SystemTest, AFailedStartRejectsWhatWaitedAndSkipsOnStop) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    Promise<void> started;
    auto a = sim.actors().spawn<Recorder>("a", {}, log, started.future()).value();
    auto noted = a.ask(Note{"hello"});
    sim.run_until_idle();
    started.set_error(Error(ErrorCode::kNotFound, "no such device"));
    EXPECT_EQ(sim.run(noted).error().code(), ErrorCode::kUnavailable);
    const Down down = sim.run(a.down()).value();
    EXPECT_EQ(down.exit.reason, ExitReason::kFailed);
    EXPECT_EQ(down.exit.error->code(), ErrorCode::kNotFound);
    EXPECT_EQ(log, (Log{"a starts", "a destroyed"}));
  });
}

TEST(SystemTest, DrainHandlesWhatWasAcceptedAndRefusesTheRest) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    auto a = sim.actors().spawn<Recorder>("a", {}, log).value();
    sim.run_until_idle();
    for (int i = 0; i < 5; ++i) (void)a.tell(Note{"n"});
    auto down = a.stop(StopMode::kDrain);
    sim.run_until_idle();
    EXPECT_EQ(sim.run(a.tell(Note{"late"})).error().code(), ErrorCode::kUnavailable);
    EXPECT_TRUE(sim.run(down).has_value());
    EXPECT_EQ(log, (Log{"a starts", "n", "n", "n", "n", "n", "a stops: stopped", "a destroyed"}));
  });
}

TEST(SystemTest, StopNowRejectsWhatIsQueued) {  // AC-3
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    Promise<void> promise;
    auto a = sim.actors().spawn<Recorder>("a", {}, log).value();
    auto held = a.ask(Wait{promise.future()});
    auto noted = a.ask(Note{"n"});
    sim.run_until_idle();
    auto down = a.stop();
    EXPECT_EQ(sim.run(noted).error().code(), ErrorCode::kUnavailable);
    EXPECT_FALSE(held.ready()) << "what was begun may end";
    promise.set_value();
    EXPECT_TRUE(sim.run(held).has_value());
    EXPECT_TRUE(sim.run(down).has_value());
  });
}

TEST(SystemTest, NamesAreUniqueWhileTheirActorLives) {
  for_each_seed(5, [](Simulation& sim) {
    Log log;
    auto a = sim.actors().spawn<Recorder>("a", {}, log).value();
    EXPECT_EQ(sim.actors().spawn<Answerer>("a", {}).error().code(), ErrorCode::kAlreadyExists);
    EXPECT_EQ(sim.actors().find<Recorder>("a").value(), a);
    EXPECT_EQ(sim.actors().find<Answerer>("a").error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(sim.actors().find<Recorder>("b").error().code(), ErrorCode::kNotFound);
    EXPECT_TRUE(sim.run(a.stop()).has_value());
    EXPECT_TRUE(sim.actors().spawn<Answerer>("a", {}).has_value());
  });
}

TEST(SystemTest, ManyActorsAreFoundByNameWhileTheyLive) {
  constexpr int kActors = 1000;  // the table of names grows some times
  for_each_seed(3, [](Simulation& sim) {
    const auto name = [](int i) { return "actor-" + std::to_string(i); };
    std::vector<ActorRef<Answerer>> actors;
    for (int i = 0; i < kActors; ++i)
      actors.push_back(sim.actors().spawn<Answerer>(name(i), {}).value());
    for (int i = 0; i < kActors; i += 3) ASSERT_TRUE(sim.run(actors[i].stop()).has_value());
    for (int i = 0; i < kActors; ++i) {
      const auto found = sim.actors().find<Answerer>(name(i));
      ASSERT_EQ(found.has_value(), i % 3 != 0) << i;
      if (found) {
        EXPECT_EQ(*found, actors[i]);
      }
    }
    EXPECT_EQ(sim.actors().snapshot().size(), std::size_t{kActors} * 2 / 3);
    for (int i = 0; i < kActors; ++i)
      EXPECT_EQ(sim.actors().spawn<Answerer>(name(i), {}).has_value(), i % 3 == 0) << i;
  });
}

TEST(SystemTest, AConstructorThatThrowsIsAnErrorOfSpawn) {
  for_each_seed(5, [](Simulation& sim) {
    const Error error = sim.actors().spawn<Thrower>("t", {}).error();
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_NE(error.message().find("no luck"), std::string::npos);
    EXPECT_FALSE(sim.actors().find<Thrower>("t").has_value());
  });
}

TEST(SystemTest, CloseStopsTheNewestFirstAndRefusesNewActors) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    for (const char* name : {"a", "b", "c"}) {
      ASSERT_TRUE(sim.actors().spawn<Recorder>(name, {}, log).has_value());
    }
    sim.run_until_idle();
    log.clear();
    auto closed = sim.actors().close();
    EXPECT_EQ(sim.actors().spawn<Answerer>("d", {}).error().code(), ErrorCode::kUnavailable);
    EXPECT_TRUE(sim.run(closed).has_value());
    EXPECT_EQ(log, (Log{"c stops: closed with its system", "c destroyed",
                        "b stops: closed with its system", "b destroyed",
                        "a stops: closed with its system", "a destroyed"}));
  });
}

TEST(SystemTest, AMonitorGetsTheEnd) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    Log other;
    auto a = sim.actors().spawn<Recorder>("a", {}, log).value();
    auto b = sim.actors().spawn<Recorder>("b", {}, other).value();
    monitor(a, b);
    (void)b.kill(Error(ErrorCode::kInternal, "test"));
    sim.run_until_idle();
    EXPECT_EQ(log, (Log{"a starts", "b is down"}));
    monitor(a, b);  // of one that is gone: at once
    sim.run_until_idle();
    EXPECT_EQ(log, (Log{"a starts", "b is down", "b is down"}));
    sim.finish();
  });
}

TEST(SystemTest, AFullMailboxLetsSendersWaitInOrder) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    Promise<void> promise;
    auto a = sim.actors().spawn<Recorder>("a", ActorOptions{.mailbox_bytes = 3000}, log).value();
    (void)a.tell(Wait{promise.future()});
    sim.run_until_idle();
    std::vector<Future<void>> told;
    for (int i = 0; i < 6; ++i) told.push_back(a.tell(Big{i}));
    EXPECT_TRUE(told[0].ready());
    EXPECT_FALSE(told[5].ready());
    EXPECT_EQ(a.try_tell(Big{9}).error().code(), ErrorCode::kResourceExhausted);
    promise.set_value();
    EXPECT_TRUE(sim.run(when_all(told)).has_value());
    sim.run_until_idle();
    EXPECT_EQ(log, (Log{"a starts", "big 0", "big 1", "big 2", "big 3", "big 4", "big 5"}));
    sim.finish();
  });
}

TEST(SystemTest, ATellThatWaitsIsWithdrawnAtItsDeadline) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    Promise<void> promise;
    auto a = sim.actors().spawn<Recorder>("a", ActorOptions{.mailbox_bytes = 1500}, log).value();
    (void)a.tell(Wait{promise.future()});
    (void)a.tell(Big{1});
    auto told = a.tell(Big{2}, {.stop = {}, .deadline = sim.now() + milliseconds(5)});
    EXPECT_EQ(sim.run(told).error().code(), ErrorCode::kDeadlineExceeded);
    promise.set_value();
    sim.run_until_idle();
    EXPECT_EQ(log, (Log{"a starts", "big 1"}));
    sim.finish();
  });
}

TEST(SystemTest, TheDeadlineOfAnAskSaysWhatTheActorWasDoing) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    Promise<void> promise;
    auto a = sim.actors().spawn<Recorder>("a", {}, log).value();
    (void)a.tell(Wait{promise.future()});
    sim.run_for(milliseconds(1));
    auto asked = a.ask(Note{"n"}, {.stop = {}, .deadline = sim.now() + milliseconds(7)});
    const Error error = sim.run(asked).error();
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
    EXPECT_NE(error.message().find("handling"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("Wait for 8 ms"), std::string::npos) << error.message();
    promise.set_value();
    sim.run_until_idle();
    EXPECT_EQ(log, (Log{"a starts"})) << "an ask that was given up is not handled";
    sim.finish();
  });
}

TEST(SystemTest, AStopTokenCancelsAnAsk) {
  for_each_seed(20, [](Simulation& sim) {
    Log log;
    Promise<void> promise;
    std::stop_source stop;
    auto a = sim.actors().spawn<Recorder>("a", {}, log).value();
    auto asked = a.ask(Wait{promise.future()}, {.stop = stop.get_token()});
    sim.run_until_idle();
    stop.request_stop();
    EXPECT_EQ(sim.run(asked).error().code(), ErrorCode::kCancelled);
    promise.set_value();
    sim.finish();
  });
}

TEST(SystemTest, AForwardedReplyFailsWithTheActorThatHoldsIt) {
  for_each_seed(20, [](Simulation& sim) {
    auto answerer = sim.actors().spawn<Answerer>("answerer", {}).value();
    auto forwarder = sim.actors().spawn<Forwarder>("forwarder", {}, answerer).value();
    auto asked = forwarder.ask(Ask{});
    sim.run_until_idle();
    EXPECT_FALSE(asked.ready());
    (void)answerer.kill(Error(ErrorCode::kInternal, "power cut"));
    const Error error = sim.run(asked).error();
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_EQ(error.detail<ActorGone>()->name, "answerer");
    EXPECT_NE(error.message().find("power cut"), std::string::npos) << error.message();
    auto again = forwarder.ask(Ask{});  // the holder is gone already
    EXPECT_EQ(sim.run(again).error().detail<ActorGone>()->name, "answerer");
  });
}

TEST(SystemTest, ASnapshotNamesTheHandlerThatDoesNotEnd) {
  for_each_seed(5, [](Simulation& sim) {
    Log log;
    Promise<void> promise;
    auto a = sim.actors().spawn<Recorder>("a", {}, log).value();
    (void)a.tell(Wait{promise.future()});
    (void)a.tell(Big{1});
    sim.run_for(milliseconds(30));
    const auto rows = sim.actors().snapshot();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_NE(rows[0].handler.message.find("Wait"), std::string::npos);
    EXPECT_EQ(rows[0].handler.age, milliseconds(30));
    EXPECT_EQ(rows[0].messages, 2u);
    EXPECT_GE(rows[0].bytes, 1000u);
    promise.set_value();
    sim.finish();
  });
}

TEST(SystemTest, ALostExecutorEndsItsActors) {
  for_each_seed(5, [](Simulation& sim) {
    Log log;
    auto executor = std::make_unique<SerialExecutor>(sim.seed());
    auto a =
        sim.actors().spawn<Recorder>("a", ActorOptions{.executor = executor.get()}, log).value();
    executor->run_until_idle();
    auto asked = a.ask(Note{"n"});
    executor = nullptr;
    EXPECT_EQ(sim.run(asked).error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(sim.run(a.down()).value().exit.reason, ExitReason::kLost);
  });
}

// 320 is a size of the pool, the next is 384.
TEST(SystemTest, AnIdleActorIsSmall) { EXPECT_LE(sizeof(ActorCell), 320u); }

}  // namespace
}  // namespace millrace::actors
