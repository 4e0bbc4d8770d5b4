#include "millrace/actors/remote/remote_actors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/actors/remote/remote_job.h"

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT(google-build-using-namespace): the actors of remote_job.h

constexpr const char* kRank1 = "rank 1 (host node-1, pid 101)";

TEST(RemoteTest, AnAskReachesTheActorOfThatNameAndATellComesBeforeIt) {
  for_each_seed(100, [](Simulation& sim) {
    RemoteJob job(sim, 3);
    job.spawn<Store>(1, "store");
    const auto store = job.find<Store>(0, 1, "store");
    EXPECT_EQ(store.to_string(), std::string("actor 'store' of ") + kRank1);
    EXPECT_EQ(store, job.find<Store>(0, 1, "store"));
    EXPECT_TRUE(job.run(store.tell(Put{"x", -7})).has_value());
    EXPECT_EQ(job.run(store.ask(Get{"x"})).value(), std::optional<std::int64_t>(-7));
    EXPECT_EQ(job.run(store.ask(Get{"y"})).value(), std::nullopt);
    EXPECT_TRUE(job.run(store.ask(Put{"y", 1})).has_value()) << "an answer without a value";
    const Error error = job.run(store.ask(Fail{"so it is"})).error();
    EXPECT_EQ(error.code(), ErrorCode::kOutOfRange);
    EXPECT_EQ(error.message(), std::string(kRank1) + ": so it is");
    job.close_all();
  });
}

TEST(RemoteTest, MessagesOfOneSenderKeepTheirOrder) {
  for_each_seed(100, [](Simulation& sim) {  // AK-1, SE-1
    RemoteJob job(sim, 2, {.stalls = 0.01, .most_room = 300});
    const ActorRef<Store> here =
        job.spawn<Store>(1, "store", {.mailbox_bytes = 200 + sim.below(3000)});
    const auto store = job.find<Store>(0, 1, "store");
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 100; ++i) {
      const Append append{i, std::vector<std::byte>(sim.below(400))};
      sent.push_back(sim.chance(0.5) ? store.tell(append) : store.ask(append));
    }
    for (const auto& one : sent) EXPECT_TRUE(job.run(one).has_value());
    std::vector<std::uint64_t> expected(100);
    std::iota(expected.begin(), expected.end(), std::uint64_t{0});
    EXPECT_EQ(job.run(store.ask(Numbers{})).value(), expected);
    job.close_all();
  });
}

TEST(RemoteTest, WhatIsNotThereIsNamedWithItsRank) {
  Simulation sim(1);
  RemoteJob job(sim, 2);
  job.system(1).spawn<Keeper>("keeper", {}).value();
  const Error none = job.run(job.remote(0).find<Store>(1, "store")).error();
  EXPECT_EQ(none.code(), ErrorCode::kNotFound);
  EXPECT_EQ(none.message(), std::string(kRank1) + ": there is no actor 'store'");
  EXPECT_EQ(none.detail<net::JobMember>()->pid, 101);
  const Error unserved = job.run(job.remote(0).find<Store>(1, "keeper")).error();
  EXPECT_EQ(unserved.code(), ErrorCode::kNotFound);
  EXPECT_THAT(unserved.message(), HasSubstr("serve<A>()"));
  EXPECT_EQ(job.run(job.remote(0).find<Store>(2, "store")).error().code(),
            ErrorCode::kInvalidArgument);
  const RemoteRef<Store> empty;
  EXPECT_EQ(job.run(empty.tell(Put{})).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(job.run(empty.ask(Get{})).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(job.run(empty.down()).error().code(), ErrorCode::kInvalidArgument);
  job.close_all();
}

TEST(RemoteTest, TheOwnRankIsReachedAsOthersAre) {
  Simulation sim(1);
  RemoteJob job(sim, 1);
  job.spawn<Store>(0, "store", {}, 5);
  const auto store = job.find<Store>(0, 0, "store");
  EXPECT_EQ(job.run(store.ask(Sum{})).value(), 5);
  job.close_all();
}

// ---- lists of fields

struct OldAdd {
  static constexpr std::string_view kWireName = "Add";
  std::int32_t number = 0;
  static constexpr auto fields() { return field_list("number", &OldAdd::number); }
};
struct NewAdd {
  static constexpr std::string_view kWireName = "Add";
  std::int64_t number = 0;
  static constexpr auto fields() { return field_list("number", &NewAdd::number); }
};
struct Extra {
  static void reduce(int& into, int&& next) { into += next; }
};
class OldAdder final : public Actor {
 public:
  static constexpr std::string_view kWireName = "Adder";
  using Remote = RemoteMessages<OldAdd, Numbers>;
  void on(const OldAdd& add) { sum_ += add.number; }
  std::int64_t on(const Numbers&) const { return sum_; }

 private:
  std::int64_t sum_ = 0;
};
class NewAdder final : public Actor {
 public:
  static constexpr std::string_view kWireName = "Adder";
  using Remote = RemoteMessages<NewAdd, Numbers, Extra>;
  void on(const NewAdd&) {}
  std::int64_t on(const Numbers&) const { return 0; }
  int on(const Extra&) const { return 0; }
};

TEST(RemoteTest, OtherListsOfFieldsAtTheOtherEndAreAnErrorWithBoth) {
  Simulation sim(1);
  RemoteJob job(sim, 2);
  job.spawn<OldAdder>(1, "adder");
  job.spawn<NewAdder>(0, "adder");
  const auto adder = job.find<NewAdder>(0, 1, "adder");
  for (const Error& error :
       {job.run(adder.ask(NewAdd{1})).error(), job.run(adder.tell(NewAdd{1})).error()}) {
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(error.message(), HasSubstr("here Add{number: i64}, there Add{number: i32}"));
    EXPECT_THAT(error.message(), HasSubstr(kRank1));
  }
  EXPECT_THAT(job.run(adder.ask(Extra{})).error().message(), HasSubstr("no such message"));
  EXPECT_EQ(job.run(adder.ask(Numbers{})).value(), 0) << "the others are not touched by it";
  const Error error = job.run(job.remote(0).cast<NewAdder>("adder", Extra{})).error();
  EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(error.message(), HasSubstr("rank 0 (host node-0, pid 100) has "));
  EXPECT_THAT(error.message(), HasSubstr("here no such message is served"));
  job.close_all();
}

// ---- bounds

TEST(RemoteTest, AFloodWaitsAndOtherActorsAreReached) {
  for_each_seed(10, [](Simulation& sim) {
    constexpr std::size_t kMailbox = 20'000, kLoad = 1000, kCount = 1000;
    RemoteJob job(sim, 2);
    Promise<void> go;
    const ActorRef<Store> slow = job.spawn<Store>(1, "slow", {.mailbox_bytes = kMailbox}, 0,
                                                  ActorRef<Keeper>(), go.future());
    job.spawn<Store>(1, "other", {}, 5);
    const auto flooded = job.find<Store>(0, 1, "slow");
    const auto other = job.find<Store>(0, 1, "other");
    const Future<void> blocked = flooded.ask(Block{});
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < kCount; ++i)
      sent.push_back(flooded.tell(Append{i, std::vector<std::byte>(kLoad)}));
    EXPECT_EQ(job.run(other.ask(Sum{})).value(), 5);
    sim.run_for(seconds(1));
    EXPECT_EQ(job.run(other.ask(Sum{})).value(), 5);
    EXPECT_FALSE(sent.back().ready());
    EXPECT_TRUE(sent.front().ready());
    const auto load = job.remote(0).load(1);
    EXPECT_GT(load.waiting_bytes, kCount * kLoad / 2);
    EXPECT_LE(load.under_way_bytes, LinkBudget().most_of_actor + 2 * kLoad);  // SW-3
    for (const ActorSnapshot& row : job.system(1).snapshot()) {
      EXPECT_LE(row.bytes, kMailbox);
      EXPECT_LE(row.waiting_bytes, 3 * kLoad) << "one message at a time";  // SE-1
    }
    go.set_value();
    for (const auto& one : sent) EXPECT_TRUE(job.run(one).has_value());
    EXPECT_TRUE(job.run(blocked).has_value());
    EXPECT_EQ(job.run(flooded.ask(Numbers{})).value().size(), kCount);
    EXPECT_EQ(job.remote(0).load(1).waiting_bytes, 0u);
    job.close_all();
  });
}

TEST(RemoteTest, WhatWaitsHereIsBoundedAndAMessageIsNoLongerThanAFrame) {
  Simulation sim(1);
  RemoteJob job(sim, 2);
  Promise<void> go;
  job.spawn<Store>(1, "slow", {.mailbox_bytes = 1000}, 0, ActorRef<Keeper>(), go.future());
  const auto slow = job.find<Store>(0, 1, "slow");
  const Future<void> blocked = slow.ask(Block{});
  std::vector<Future<void>> sent;
  std::optional<Error> full;
  for (std::uint64_t i = 0; i < 40 && !full; ++i) {
    sent.push_back(slow.tell(Append{i, std::vector<std::byte>(1'000'000)}));
    if (sent.back().ready() && !sent.back().result()) full = sent.back().result().error();
  }
  ASSERT_TRUE(full.has_value());  // AK-3
  EXPECT_EQ(full->code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(job.run(slow.ask(Append{0, std::vector<std::byte>(1'000'000)})).error().code(),
            ErrorCode::kResourceExhausted);
  EXPECT_EQ(job.run(slow.tell(Append{0, std::vector<std::byte>(2'000'000)})).error().code(),
            ErrorCode::kInvalidArgument);
  go.set_value();
  for (std::size_t i = 0; i + 1 < sent.size(); ++i) EXPECT_TRUE(job.run(sent[i]).has_value());
  EXPECT_TRUE(job.run(blocked).has_value());
  job.close_all();
}

TEST(RemoteTest, StopAndDeadlineWithdrawWhatWaitsHereAndThere) {
  for_each_seed(50, [](Simulation& sim) {  // SE-2
    RemoteJob job(sim, 2);
    Promise<void> go;
    job.spawn<Store>(1, "slow", {.mailbox_bytes = 500}, 0, ActorRef<Keeper>(), go.future());
    const auto slow = job.find<Store>(0, 1, "slow");
    const Future<void> blocked = slow.ask(Block{});
    std::vector<Future<void>> lasting, stopped;
    std::stop_source stop;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const Append append{i, std::vector<std::byte>(1000)};
      if (i % 10 == 0) lasting.push_back(slow.tell(append));
      if (i % 10 == 5) stopped.push_back(slow.ask(append, {.stop = stop.get_token()}));
      if (i % 10 == 7 && i > 500)
        stopped.push_back(slow.tell(append, {.deadline = sim.now() + milliseconds(500)}));
    }
    sim.run_for(milliseconds(sim.below(300)));
    stop.request_stop();
    sim.run_for(seconds(10));
    for (const auto& one : stopped) {
      ASSERT_TRUE(one.ready());
      one.ignore();
    }
    EXPECT_EQ(stopped.front().result().error().code(), ErrorCode::kCancelled);
    go.set_value();
    for (const auto& one : lasting) EXPECT_TRUE(job.run(one).has_value());
    const auto numbers = job.run(slow.ask(Numbers{})).value();
    EXPECT_GE(numbers.size(), lasting.size());
    for (const std::uint64_t number : numbers) EXPECT_NE(number % 10, 5u) << "it was withdrawn";
    EXPECT_TRUE(job.run(blocked).has_value());
    const Error late = job.run(slow.ask(Keep{}, {.deadline = sim.now() + seconds(1)})).error();
    EXPECT_EQ(late.code(), ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(late.message(), HasSubstr(kRank1));
    job.close_all();
  });
}

// ---- ends

TEST(RemoteTest, AnActorsEndIsSaidWithItsReasonAndFailsWhatIsAskedOfIt) {
  for_each_seed(100, [](Simulation& sim) {  // SE-3
    RemoteJob job(sim, 2);
    const ActorRef<Store> there = job.spawn<Store>(1, "store");
    const auto store = job.find<Store>(0, 1, "store");
    std::vector<Down> heard;
    monitor(job.system(0).spawn<Observer>("observer", {}, &heard).value(), store);
    const Future<int> kept = store.ask(Keep{});
    sim.run_for(milliseconds(sim.below(20)));
    const bool fails = sim.chance(0.5);
    if (fails) {
      store.tell(Fail{}).ignore();
    } else {
      there.stop().ignore();
    }
    const Down down = job.run(store.down()).value();
    EXPECT_EQ(down.exit.reason, fails ? ExitReason::kFailed : ExitReason::kStopped);
    if (fails) {
      EXPECT_EQ(down.exit.error->message(), "out of luck");
    }
    const Error error = job.run(kept).error();
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.to_string();
    EXPECT_EQ(error.detail<ActorGone>()->name, "store");
    const Error later = job.run(store.tell(Put{})).error();
    EXPECT_EQ(later.code(), ErrorCode::kUnavailable);
    EXPECT_EQ(later.detail<ActorGone>()->reason, down.exit.reason);
    EXPECT_THAT(later.message(), HasSubstr(kRank1));
    sim.run_for(milliseconds(1));
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_EQ(heard[0].name, "store");
    job.close_all();
  });
}

TEST(RemoteTest, TheLossOfAProcessEndsAllThatWaitsForItWithItsName) {
  for_each_seed(100, [](Simulation& sim) {  // AK-2, RA-1
    RemoteJob job(sim, 3);
    const auto keeper = job.system(1).spawn<Keeper>("keeper", {}).value();
    job.spawn<Store>(1, "store", {}, 0, keeper);
    const auto store = job.find<Store>(0, 1, "store");
    std::vector<Down> heard;
    monitor(job.system(0).spawn<Observer>("observer", {}, &heard).value(), store);
    std::vector<Future<int>> asks{store.ask(Keep{}), store.ask(PassOn{})};
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 400; ++i)
      sent.push_back(store.tell(Append{i, std::vector<std::byte>(1000)}));
    sim.run_for(std::chrono::microseconds(sim.below(30'000)));
    if (sim.chance(0.5)) {
      job.meshes.network.cut_all();
    } else {
      job.mesh(0).declare_lost(1, Error(ErrorCode::kUnavailable, "killed by signal 9"));
    }
    for (const auto& ask : asks) {
      const Error error = job.run(ask).error();
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
      EXPECT_THAT(error.message(), HasSubstr(kRank1));
      EXPECT_EQ(error.detail<net::PeerLoss>()->who.pid, 101);
    }
    for (const auto& one : sent) static_cast<void>(job.run(one));
    const Down down = job.run(store.down()).value();
    EXPECT_EQ(down.exit.reason, ExitReason::kUnreachable);
    EXPECT_NE(down.exit.error->detail<net::PeerLoss>(), nullptr);
    EXPECT_NE(job.run(store.tell(Put{})).error().detail<net::PeerLoss>(), nullptr);
    EXPECT_NE(job.run(job.remote(0).find<Store>(1, "store")).error().detail<net::PeerLoss>(),
              nullptr);
    sim.run_for(milliseconds(1));
    EXPECT_EQ(heard.size(), 1u);
    job.close_all();
  });
}

TEST(RemoteTest, AReplyThatAnotherActorHoldsFailsWithThatActor) {
  Simulation sim(1);
  RemoteJob job(sim, 2);
  const auto keeper = job.system(1).spawn<Keeper>("keeper", {}).value();
  job.spawn<Store>(1, "store", {}, 0, keeper);
  const auto store = job.find<Store>(0, 1, "store");
  const Future<int> passed = store.ask(PassOn{});
  sim.run_for(seconds(1));
  EXPECT_FALSE(passed.ready());
  keeper.kill(Error(ErrorCode::kInternal, "enough")).ignore();
  const Error error = job.run(passed).error();
  EXPECT_EQ(error.detail<ActorGone>()->name, "keeper") << error.to_string();
  job.close_all();
}

TEST(RemoteTest, TheFailureOfOneOfTwoThatAreLinkedKillsTheOther) {
  for (const int what : {0, 1, 2, 3}) {
    for_each_seed(20, [what](Simulation& sim) {
      RemoteJob job(sim, 2);
      const ActorRef<Store> there = job.spawn<Store>(1, "there");
      const ActorRef<Store> here = job.spawn<Store>(0, "here");
      const auto remote = job.find<Store>(0, 1, "there");
      link(here, remote);
      sim.run_for(milliseconds(100));
      if (what == 0) here.kill(Error(ErrorCode::kInternal, "enough")).ignore();
      if (what == 1) there.kill(Error(ErrorCode::kInternal, "enough")).ignore();
      if (what == 2) job.meshes.network.cut_all();
      if (what == 3) {  // in good order: the other one lives on
        job.run(here.stop()).value();
        sim.run_for(seconds(1));
        EXPECT_TRUE(job.run(remote.ask(Sum{})).has_value());
        return job.close_all();
      }
      const Down down_here = job.run(here.down()).value(),
                 down_there = job.run(there.down()).value();
      EXPECT_EQ(down_here.exit.reason, ExitReason::kKilled);
      EXPECT_EQ(down_there.exit.reason, ExitReason::kKilled);
      const Down& follower = what == 1 ? down_here : down_there;
      EXPECT_THAT(follower.exit.error->message(), HasSubstr("linked to actor"));
      job.close_all();
    });
  }
}

TEST(RemoteTest, ANewEpochEndsReferencesAndOthersAreFound) {
  for_each_seed(50, [](Simulation& sim) {  // RA-1
    RemoteJob job(sim, 2);
    job.spawn<Store>(1, "store", {}, 5);
    const auto old = job.find<Store>(0, 1, "store");
    const Future<int> kept = old.ask(Keep{});
    std::vector<Future<void>> entered;
    for (const std::size_t rank : job.shuffled()) {
      entered.push_back(job.mesh(rank).set_epoch(1));
      if (sim.chance(0.5)) sim.run_for(milliseconds(sim.below(50)));
    }
    for (const auto& one : entered) EXPECT_TRUE(job.run(one).has_value());
    const Error error = job.run(kept).error();
    EXPECT_THAT(error.message(), HasSubstr("rank 1")) << error.message();
    EXPECT_EQ(job.run(old.down()).value().exit.reason == ExitReason::kUnreachable ||
                  job.run(old.down()).value().exit.reason == ExitReason::kClosed,
              true);
    const auto fresh = job.find<Store>(0, 1, "store");
    EXPECT_FALSE(fresh == old);
    EXPECT_EQ(job.run(fresh.ask(Sum{})).value(), 5);
    EXPECT_EQ(job.run(old.ask(Sum{})).error().code(), ErrorCode::kUnavailable);
    job.close_all();
  });
}

TEST(RemoteTest, ACloseAnswersWhatItServesAndRefusesWhatComesLater) {
  for_each_seed(50, [](Simulation& sim) {  // RA-2
    RemoteJob job(sim, 2);
    job.spawn<Store>(1, "store");
    const auto store = job.find<Store>(0, 1, "store");
    const Future<int> kept = store.ask(Keep{});
    sim.run_for(milliseconds(sim.below(10)));
    EXPECT_TRUE(job.run(job.remote(1).close()).has_value());
    EXPECT_EQ(job.run(kept).error().code(), ErrorCode::kUnavailable);
    const Error closed = job.run(job.remote(0).find<Store>(1, "store")).error();
    EXPECT_THAT(closed.message(), HasSubstr("closed")) << closed.to_string();
    EXPECT_EQ(job.run(job.remote(1).find<Store>(0, "store")).error().code(),
              ErrorCode::kUnavailable);
    job.close_all();
  });
}

TEST(RemoteTest, ACloseAnswersWhatWaitsBehindAMessageWithoutRoom) {
  for (const bool cast : {false, true}) {
    Simulation sim(1);  // AK-2
    RemoteJob job(sim, 2);
    Promise<void> blocked;
    job.spawn<Store>(1, "store", {.mailbox_bytes = 1}, 1, ActorRef<Keeper>(), blocked.future());
    const auto store = job.find<Store>(0, 1, "store");
    store.tell(Block{}).ignore();
    for (std::uint64_t i = 0; i < 2; ++i) store.tell(Append{i}).ignore();
    const auto ask = [&] {
      return cast ? job.remote(0).cast<Store>("store", Sum{}, CastRanks::of({1}))
                  : store.ask(Sum{});
    };
    const Future<std::int64_t> answers[] = {ask(), ask()};
    sim.run_for(seconds(1));
    EXPECT_TRUE(job.run(job.remote(1).close()).has_value());
    for (const auto& answer : answers)
      EXPECT_EQ(job.run(answer).error().code(), ErrorCode::kUnavailable);
    blocked.set_value();
    job.close_all();
  }
}

// ---- a close while something of that rank is under way

struct Fill {
  std::uint64_t bytes = 0;
  static constexpr auto fields() { return field_list("bytes", &Fill::bytes); }
};
// Made here from what came: the hook runs after the frame was taken and before its call is known.
struct Hooked {
  Hooked() {
    if (hook) std::exchange(hook, nullptr)();
  }
  std::uint64_t number = 0;
  static constexpr auto fields() { return field_list("number", &Hooked::number); }
  static void reduce(std::uint64_t& into, std::uint64_t&& next) { into += next; }
  static inline std::function<void()> hook;
};
class Filler final : public Actor {
 public:
  using Remote = RemoteMessages<Fill, Hooked>;
  explicit Filler(int* filled = nullptr) : filled_(filled) {}
  std::vector<std::byte> on(const Fill& fill) {
    ++*filled_;
    return std::vector<std::byte>(fill.bytes);
  }
  std::uint64_t on(const Hooked& hooked) { return hooked.number; }

 private:
  int* const filled_;
};

TEST(RemoteTest, ACloseAnswersACallThatComesWhileItBegins) {
  for (const bool cast : {false, true}) {
    Simulation sim(1);  // AK-2
    RemoteJob job(sim, 2);
    job.spawn<Filler>(1, "filler");
    const auto filler = job.find<Filler>(0, 1, "filler");
    const Hooked message;
    Future<void> closed;
    Hooked::hook = [&] { closed = job.remote(1).close(); };
    const auto answer = cast ? job.remote(0).cast<Filler>("filler", message, CastRanks::of({1}))
                             : filler.ask(message);
    const Error error = job.run(answer).error();
    EXPECT_TRUE(closed.valid()) << "the hook ran";
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.to_string();
    EXPECT_THAT(error.message(), HasSubstr("closed")) << error.to_string();
    job.close_all();
  }
}

TEST(RemoteTest, ACloseLosesNoAnswerThatIsOnItsWay) {
  Simulation sim(1);  // AK-2
  RemoteJob job(sim, 2, {.stalls = 0, .most_room = std::size_t{1} << 20});
  constexpr int kAnswers = 20;
  int filled = 0;
  job.spawn<Filler>(1, "filler", {}, &filled);
  const auto filler = job.find<Filler>(0, 1, "filler");
  std::vector<Future<std::vector<std::byte>>> answers;
  for (int i = 0; i < kAnswers; ++i)  // more than the mesh is given at a time
    answers.push_back(filler.ask(Fill{FrameOutlet::kMostInMesh / 8}));
  while (filled < kAnswers) sim.run_for(std::chrono::microseconds(100));
  EXPECT_FALSE(answers.back().ready());
  EXPECT_TRUE(job.run(job.remote(1).close()).has_value());
  for (const auto& answer : answers) {
    const auto got = job.run(answer);
    EXPECT_TRUE(got.has_value()) << got.error().to_string();
  }
  job.close_all();
}

}  // namespace
}  // namespace millrace::actors
