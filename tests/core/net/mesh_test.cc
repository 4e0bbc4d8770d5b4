#include "millrace/core/net/mesh.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/net/mesh_job.h"

namespace millrace::net {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::drawn;
using testing::kKind;
using testing::MeshJob;
using testing::numbered;

void expect_numbered(const std::vector<MeshJob::Kept>& came, std::size_t count) {
  ASSERT_EQ(came.size(), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(came[i].frame.header.sequence, i);
}
bool mentions(const Error& error, const std::string& words) {
  return error.message().find(words) != std::string::npos;
}

TEST(MeshTest, TheFirstFrameMakesTheLinkAndAllArriveInOrder) {
  for_each_seed(100, [](Simulation& sim) {  // ME-1, ME-2
    MeshJob job(sim, 2);
    job.start_all();
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 20; ++i)
      sent.push_back(job.mesh(1).send(0, numbered(i, sim.below(3000))));
    for (const auto& one : sent) EXPECT_TRUE(job.run(one).has_value());
    sim.run_for(seconds(1));
    expect_numbered(job.came(0), 20);
    EXPECT_EQ(job.came(0)[0].from, 1u);
    job.close_all();
  });
}

TEST(MeshTest, FramesToOneselfUseNoWireAndKeepTheirOrder) {
  for_each_seed(50, [](Simulation& sim) {  // ME-1
    MeshJob job(sim, 1);
    job.start_all();
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 200; ++i) sent.push_back(job.mesh(0).send(0, numbered(i)));
    for (const auto& one : sent) EXPECT_TRUE(job.run(one).has_value());
    expect_numbered(job.came(0), 200);
    job.close_all();
  });
}

TEST(MeshTest, WhereBothDialAtOnceThereIsOneLink) {
  for_each_seed(300, [](Simulation& sim) {  // ME-3
    MeshJob job(sim, 2);
    job.start_all();
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 5; ++i) {
      sent.push_back(job.mesh(0).send(1, numbered(i)));
      sent.push_back(job.mesh(1).send(0, numbered(i)));
    }
    for (const auto& one : sent) EXPECT_TRUE(job.run(one).has_value());
    sim.run_for(seconds(2));
    expect_numbered(job.came(0), 5);
    expect_numbered(job.came(1), 5);
    EXPECT_EQ(job.network.links(), 1u);
    job.close_all();
  });
}

TEST(MeshTest, ASecondProcessOfARankIsRefusedAndNamesTheFirst) {
  Simulation sim(1);
  MeshJob job(sim, 2);
  job.start_all();
  MeshOptions options = job.options(1);
  options.incarnation = drawn(77);
  MeshJob::Process& second = job.add(options);
  const Future<void> waits = second.mesh->send(0, numbered(0));
  EXPECT_EQ(job.run(waits).error().code(), ErrorCode::kFailedPrecondition) << "not started";
  const Future<void> started = job.start(second);
  const Future<void> sent = second.mesh->send(0, numbered(0));
  const Error error = job.run(started).error();
  EXPECT_EQ(error.code(), ErrorCode::kAlreadyExists);
  EXPECT_TRUE(mentions(error, "rank 1 (host node-1, pid 101)")) << error.message();
  EXPECT_EQ(*error.detail<JobMember>(), (JobMember{1, "node-1", 101}));
  EXPECT_EQ(job.run(sent).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(0))).has_value());
  sim.run_for(seconds(1));
  EXPECT_EQ(job.came(1).size(), 1u) << "the holder is untouched";
  job.close_all();
}

TEST(MeshTest, ARankThatDoesNotComeIsNamedWhenPatienceEnds) {
  Simulation sim(1);
  MeshJob job(sim, 3);
  job.keep(job.add(job.options(0)));
  EXPECT_TRUE(job.run(job.start(*job.processes[0])).has_value());
  const Error error = job.run(job.mesh(0).send(2, numbered(0))).error();
  EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(mentions(error, "rank 2")) << error.message();
  job.close_all();
}

TEST(MeshTest, ARankThatComesLateGetsWhatWaitsForIt) {
  Simulation sim(1);
  MeshJob job(sim, 2);
  job.keep(job.add(job.options(0)));
  EXPECT_TRUE(job.run(job.start(*job.processes[0])).has_value());
  const Future<void> sent = job.mesh(0).send(1, numbered(0));
  sim.run_for(seconds(20));
  job.keep(job.add(job.options(1)));
  EXPECT_TRUE(job.run(job.start(*job.processes[1])).has_value());
  EXPECT_TRUE(job.run(sent).has_value());
  sim.run_for(seconds(1));
  expect_numbered(job.came(1), 1);
  job.close_all();
}

TEST(MeshTest, FramesThatComeBeforeTheirSinkWaitAndThenTheSenderDoes) {
  for_each_seed(20, [](Simulation& sim) {  // ME-6
    MeshJob job(sim, 2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      MeshOptions options = job.options(rank);
      options.most_stashed = 10'000;
      EXPECT_TRUE(job.run(job.start(job.add(options))).has_value());
    }
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 40; ++i) sent.push_back(job.mesh(0).send(1, numbered(i, 1000)));
    sim.run_for(seconds(1));
    EXPECT_TRUE(sent[5].ready());
    EXPECT_FALSE(sent.back().ready());
    job.keep(*job.processes[1]);
    for (const auto& one : sent) EXPECT_TRUE(job.run(one).has_value());
    sim.run_for(seconds(1));
    expect_numbered(job.came(1), 40);
    job.close_all();
  });
}

TEST(MeshTest, WhatWaitsForALinkIsBounded) {
  Simulation sim(1);  // ME-6
  MeshJob job(sim, 2);
  MeshOptions options = job.options(0);
  options.most_queued = 10'000;
  options.max_payload = 5000;
  EXPECT_TRUE(job.run(job.start(job.add(options))).has_value());
  std::vector<Future<void>> sent;
  for (std::uint64_t i = 0; i < 9; ++i) sent.push_back(job.mesh(0).send(1, numbered(i, 1000)));
  for (const std::uint32_t rank : {0u, 1u}) {
    Future<void> last;
    for (int i = 0; i < 10; ++i) {
      last = job.mesh(0).send(rank, numbered(9, 1000));
      if (last.ready()) break;
      last.ignore();
    }
    EXPECT_EQ(last.result().error().code(), ErrorCode::kResourceExhausted) << rank;
  }
  EXPECT_EQ(job.run(job.mesh(0).send(1, numbered(9, 5001))).error().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(job.run(job.mesh(0).send(2, numbered(9))).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(job.run(job.mesh(0).send(1, {{.kind = FrameKind::kGoodbye}, {}})).error().code(),
            ErrorCode::kInvalidArgument);
  job.close_all();
  for (const auto& one : sent) EXPECT_EQ(job.run(one).error().code(), ErrorCode::kUnavailable);
}

TEST(MeshTest, AGoodbyeIsNoLossAndLaterSendsNameIt) {
  for_each_seed(100, [](Simulation& sim) {  // ME-5
    MeshJob job(sim, 2);
    job.start_all();
    const Future<PeerLoss> lost = job.mesh(0).peer_lost(1);
    for (std::uint64_t i = 0; i < 5; ++i) job.mesh(1).send(0, numbered(i, 1000)).ignore();
    EXPECT_TRUE(job.run(job.mesh(1).send(0, numbered(5))).has_value());
    EXPECT_TRUE(job.run(job.mesh(1).close()).has_value());
    const Error ended = job.run(lost).error();
    EXPECT_EQ(ended.detail<PeerEnded>()->who, (JobMember{1, "node-1", 101}));
    expect_numbered(job.came(0), 6);
    const Error error = job.run(job.mesh(0).send(1, numbered(0))).error();
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_TRUE(mentions(error, "rank 1 (host node-1, pid 101) has ended")) << error.message();
    job.close_all();
  });
}

TEST(MeshTest, ARankThatEndedBeforeThereWasALinkIsNoLossEither) {
  Simulation sim(1);  // ME-5
  MeshJob job(sim, 2);
  job.start_all();
  EXPECT_TRUE(job.run(job.mesh(1).close()).has_value());
  const Future<PeerLoss> lost = job.mesh(0).peer_lost(1);
  const Error error = job.run(job.mesh(0).send(1, numbered(0))).error();
  EXPECT_NE(error.detail<PeerEnded>(), nullptr) << error.message();
  EXPECT_NE(job.run(lost).error().detail<PeerEnded>(), nullptr);
  job.close_all();
}

TEST(MeshTest, ARankThatEndsWithoutAStartIsWaitedForNoLonger) {
  Simulation sim(1);
  MeshJob job(sim, 2);
  job.keep(job.add(job.options(0)));
  EXPECT_TRUE(job.run(job.start(*job.processes[0])).has_value());
  const Future<void> sent = job.mesh(0).send(1, numbered(0));
  sim.run_for(seconds(1));
  EXPECT_FALSE(sent.ready());
  job.keep(job.add(job.options(1)));
  EXPECT_TRUE(job.run(job.mesh(1).close()).has_value());
  const Error error = job.run(sent).error();
  EXPECT_NE(error.detail<PeerEnded>(), nullptr) << error.message();
  EXPECT_TRUE(mentions(error, "before it had talked to any rank")) << error.message();
  job.close_all();
}

TEST(MeshTest, ACutLinkIsALossOnBothSidesAndFailsWhatIsQueued) {
  for_each_seed(100, [](Simulation& sim) {  // ME-2, ME-5
    MeshJob job(sim, 3);
    job.start_all();
    EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(0))).has_value());
    const Future<PeerLoss> here = job.mesh(0).peer_lost(1), there = job.mesh(1).peer_lost(0);
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 1; i < 50; ++i) sent.push_back(job.mesh(0).send(1, numbered(i, 1000)));
    sim.run_for(std::chrono::microseconds(sim.below(3000)));
    job.network.cut_all();
    const PeerLoss loss = job.run(here).value();
    EXPECT_EQ(loss.cause, LossCause::kReset);
    EXPECT_EQ(loss.who, (JobMember{1, "node-1", 101}));
    EXPECT_EQ(job.run(there).value().who, (JobMember{0, "node-0", 100}));
    int failed = 0;
    for (const auto& one : sent) {
      const auto result = job.run(one);
      if (result) continue;
      ++failed;
      EXPECT_EQ(result.error().detail<PeerLoss>()->who.pid, 101);
    }
    EXPECT_GT(failed, 0);
    EXPECT_NE(job.run(job.mesh(0).send(1, numbered(0))).error().detail<PeerLoss>(), nullptr);
    EXPECT_EQ(job.run(job.mesh(0).peer_lost(1)).value().who.rank, 1u) << "it stays lost";
    EXPECT_TRUE(job.run(job.mesh(0).send(2, numbered(0))).has_value()) << "others are untouched";
    job.close_all();
  });
}

TEST(MeshTest, ASinksErrorIsAProtocolErrorOfTheSender) {
  for_each_seed(20, [](Simulation& sim) {  // ME-5
    MeshJob job(sim, 2);
    job.start_all();
    job.mesh(0).set_sink({kKind, 9}, [](std::uint32_t, const Frame&) -> Future<void> {
      return Error(ErrorCode::kInvalidArgument, "of another shape");
    });
    EXPECT_TRUE(job.run(job.mesh(1).send(0, numbered(0, 0, 9))).has_value());
    const PeerLoss loss = job.run(job.mesh(0).peer_lost(1)).value();
    EXPECT_EQ(loss.cause, LossCause::kProtocolError);
    EXPECT_EQ(loss.words, "of another shape");
    EXPECT_EQ(job.run(job.mesh(1).peer_lost(0)).value().cause, LossCause::kReset);
    job.close_all();
  });
}

TEST(MeshTest, NewsFromOutsideFailsWhatWaitsForTheRank) {
  for (const bool linked : {false, true}) {
    Simulation sim(1);
    MeshJob job(sim, 2);
    job.keep(job.add(job.options(0)));
    EXPECT_TRUE(job.run(job.start(*job.processes[0])).has_value());
    if (linked) {
      EXPECT_TRUE(job.run(job.start(job.add(job.options(1)))).has_value());
      EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(0))).has_value());
    }
    const Future<PeerLoss> lost = job.mesh(0).peer_lost(1);
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 30; ++i) sent.push_back(job.mesh(0).send(1, numbered(i, 1000)));
    const Error news(ErrorCode::kUnavailable, "killed by signal 9");
    job.mesh(0).declare_lost(1, news);
    job.mesh(0).declare_lost(1, news);
    job.mesh(0).declare_lost(0, news);
    job.mesh(0).declare_lost(5, news);
    const PeerLoss loss = job.run(lost).value();
    EXPECT_EQ(loss.cause, LossCause::kDeclared);
    EXPECT_EQ(loss.words, "killed by signal 9");
    EXPECT_EQ(loss.who.pid, linked ? 101 : 0);
    const Error error = job.run(sent.back()).error();
    EXPECT_EQ(error.detail<PeerLoss>()->cause, LossCause::kDeclared);
    job.close_all();
  }
}

TEST(MeshTest, AnEpochHasLinksOfItsOwnAndLeavingOneIsNoLoss) {
  for_each_seed(200, [](Simulation& sim) {  // ME-4, ME-5
    MeshJob job(sim, 3);
    job.start_all();
    for (std::uint32_t to = 0; to < 3; ++to) job.mesh(0).send(to, numbered(0, 500)).ignore();
    job.mesh(2).send(0, numbered(0, 500)).ignore();
    sim.run_for(std::chrono::microseconds(sim.below(6000)));
    const Future<PeerLoss> lost = job.mesh(1).peer_lost(0);
    std::vector<Future<void>> entered;
    for (const int rank : {0, 1, 2}) {
      sim.run_for(std::chrono::microseconds(sim.below(3000)));
      entered.push_back(job.mesh(rank).set_epoch(7));
      job.mesh(rank).send((rank + 1) % 3, numbered(1)).ignore();
    }
    for (const auto& one : entered) EXPECT_TRUE(job.run(one).has_value());
    EXPECT_FALSE(job.run(lost).has_value());
    sim.run_for(seconds(2));
    for (const int rank : {0, 1, 2}) {
      EXPECT_EQ(job.mesh(rank).epoch(), 7u);
      int later = 0;
      bool seen = false;
      for (const auto& kept : job.came(rank)) {
        seen = seen || kept.frame.header.epoch == 7;
        EXPECT_TRUE(!seen || kept.frame.header.epoch == 7) << "nothing of before comes after";
        later += kept.frame.header.epoch == 7 ? 1 : 0;
      }
      EXPECT_EQ(later, 1);
    }
    EXPECT_EQ(job.run(job.mesh(0).set_epoch(7)).error().code(), ErrorCode::kInvalidArgument);
    job.close_all();
  });
}

TEST(MeshTest, WhatALinkDidNotTakeBeforeTheNextEpochNamesTheEpoch) {
  for_each_seed(20, [](Simulation& sim) {
    MeshJob job(sim, 2);
    job.start_all();
    EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(0))).has_value());
    job.network.hold(100, 101);  // so that the link takes a few of them only
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 1; i < 20; ++i) {
      const Frame frame = numbered(i, 1000);
      sent.push_back(sim.chance(0.5) ? job.mesh(0).send(1, frame)
                                     : job.mesh(0).send_now(1, frame.header, frame.payload));
    }
    EXPECT_TRUE(job.run(job.mesh(0).set_epoch(1)).has_value());
    const Result<void> last = job.run(sent.back());
    ASSERT_FALSE(last);
    EXPECT_EQ(last.error().code(), ErrorCode::kAborted) << last.error().message();
    job.network.release();
    job.close_all();
  });
}

TEST(MeshTest, ARankThatStartedAnewIsAnotherPeerInTheNextEpoch) {
  for_each_seed(100, [](Simulation& sim) {
    MeshJob job(sim, 3);
    job.start_all();
    EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(0))).has_value());
    const Future<PeerLoss> lost = job.mesh(0).peer_lost(1);
    job.mesh(1).declare_lost(0, Error(ErrorCode::kUnavailable, "the end of the process"));
    EXPECT_TRUE(job.run(job.mesh(1).close()).has_value());
    MeshOptions options = job.options(1);
    options.incarnation = drawn(50);
    options.pid = 150;
    options.epoch = 1;
    MeshJob::Process& anew = job.add(options);
    job.keep(anew);
    EXPECT_TRUE(job.run(job.start(anew)).has_value());
    const Future<void> early = anew.mesh->send(0, numbered(7));  // which is not there yet
    EXPECT_EQ(job.run(lost).value().who.pid, 101);
    sim.run_for(milliseconds(100));
    EXPECT_FALSE(early.ready());
    EXPECT_FALSE(job.run(job.mesh(0).send(1, numbered(1))).has_value()) << "not in this epoch";
    EXPECT_TRUE(job.run(job.mesh(0).set_epoch(1)).has_value());
    EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(2))).has_value());
    EXPECT_TRUE(job.run(early).has_value());
    sim.run_for(seconds(1));
    ASSERT_EQ(anew.came.size(), 1u);
    EXPECT_EQ(anew.came[0].frame.header.sequence, 2u);
    ASSERT_EQ(job.came(0).size(), 1u);
    EXPECT_EQ(job.came(0)[0].frame.header.sequence, 7u);
    job.close_all();
  });
}

TEST(MeshTest, AnEpochMayComeBeforeTheStart) {
  Simulation sim(3);
  MeshJob job(sim, 2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    MeshJob::Process& process = job.add(job.options(rank));
    job.keep(process);
    EXPECT_TRUE(job.run(process.mesh->set_epoch(4)).has_value());
    EXPECT_TRUE(job.run(job.start(process)).has_value());
    EXPECT_EQ(process.mesh->epoch(), 4U);
  }
  EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(1))).has_value());
  sim.run_for(seconds(1));
  ASSERT_EQ(job.came(1).size(), 1U);
  EXPECT_EQ(job.came(1)[0].frame.header.epoch, 4U);
  job.close_all();
}

TEST(MeshTest, ClosingWhileLinksBeginLeavesNothing) {
  for_each_seed(200, [](Simulation& sim) {  // ME-2, ME-7
    MeshJob job(sim, 3);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      job.keep(job.add(job.options(rank)));
      job.start(*job.processes[rank]).ignore();
    }
    std::vector<Future<void>> sent;
    std::vector<Future<PeerLoss>> lost;
    for (const int from : {0, 1, 2}) {
      sim.run_for(std::chrono::microseconds(sim.below(2000)));
      for (std::uint32_t to = 0; to < 3; ++to) {
        sent.push_back(job.mesh(from).send(to, numbered(0, sim.below(1000))));
        lost.push_back(job.mesh(from).peer_lost(to));
      }
    }
    sim.run_for(std::chrono::microseconds(sim.below(8000)));
    job.close_all();
    for (const auto& one : sent) EXPECT_TRUE(one.ready());
    for (const auto& one : lost) {
      ASSERT_TRUE(one.ready());
      EXPECT_FALSE(one.result().has_value()) << one.result()->error().message();
    }
    for (const int rank : {0, 1, 2}) {
      EXPECT_EQ(job.run(job.mesh(rank).send(0, numbered(0))).error().code(),
                ErrorCode::kUnavailable);
    }
  });
}

// The numbers of processes are those of MeshJob::options().
constexpr pid_t kFirst = 100, kSecond = 101;

TEST(MeshTest, ALinkThatFallsSilentIsALossAtBothItsEnds) {
  for_each_seed(100, [](Simulation& sim) {  // ME-8
    MeshJob job(sim, 2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      MeshOptions options = job.options(rank);
      options.silent_after = seconds(2);
      job.keep(job.add(options));
      EXPECT_TRUE(job.run(job.start(*job.processes[rank])).has_value());
    }
    EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(0))).has_value());
    const auto one = job.mesh(0).peer_lost(1), other = job.mesh(1).peer_lost(0);
    sim.run_for(seconds(60));
    EXPECT_FALSE(one.ready() || other.ready()) << "signs of life come";
    job.network.hold(kFirst, kSecond);
    if (sim.chance(0.5)) job.network.hold(kSecond, kFirst);
    sim.run_for(seconds(1));
    EXPECT_FALSE(one.ready() || other.ready());
    sim.run_for(milliseconds(1600));
    const PeerLoss silent = job.run(other).value();
    EXPECT_EQ(silent.cause, LossCause::kSilent);
    EXPECT_EQ(silent.who, (JobMember{0, "node-0", 100}));
    ASSERT_TRUE(one.ready()) << "the end of the other one, or its silence";
    EXPECT_EQ(job.run(one).value().who.rank, 1u);
    job.network.release();
    sim.run_for(seconds(1));
    job.close_all();
  });
}

TEST(MeshTest, AReaderThatIsHeldUpIsNotSilent) {
  for_each_seed(50, [](Simulation& sim) {  // ME-8
    MeshJob job(sim, 2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      MeshOptions options = job.options(rank);
      options.silent_after = seconds(2);
      options.most_stashed = 1000;
      job.add(options);
      EXPECT_TRUE(job.run(job.start(*job.processes[rank])).has_value());
    }
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 20; ++i) sent.push_back(job.mesh(0).send(1, numbered(i, 1000)));
    sim.run_for(seconds(30));
    EXPECT_FALSE(sent.back().ready()) << "it has no sink";
    job.keep(*job.processes[1]);
    job.keep(*job.processes[0]);
    for (const auto& one : sent) EXPECT_TRUE(job.run(one).has_value());
    sim.run_for(seconds(1));
    expect_numbered(job.came(1), 20);
    job.close_all();
  });
}

TEST(MeshTest, AnErasedSinkIsNotCalledAnyMore) {
  Simulation sim(1);
  MeshJob job(sim, 2);
  job.start_all();
  EXPECT_TRUE(job.run(job.mesh(1).send(0, numbered(0))).has_value());
  sim.run_for(seconds(1));
  EXPECT_TRUE(job.run(job.mesh(0).erase_sink({kKind})).has_value());
  EXPECT_TRUE(job.run(job.mesh(1).send(0, numbered(1))).has_value());
  sim.run_for(seconds(1));
  EXPECT_EQ(job.came(0).size(), 1u);
  job.close_all();
  EXPECT_EQ(job.mesh(0).counts().no_sink, 1u);
}

TEST(MeshTest, StrangersWithoutAHelloAreCountedAndDisturbNoLink) {
  for_each_seed(20, [](Simulation& sim) {
    MeshJob job(sim, 2);
    job.start_all();
    const auto stranger = job.network.make_transport(::geteuid(), 9);
    std::vector<Ref<Connection>> came;
    const auto come = [&](std::optional<Frame> says) {
      auto stream = sim.run(stranger->connect("sim:0/1"));
      came.push_back(Connection::make(*std::move(stream), *stranger, {}));
      came.back()->start([](const Frame&) -> Future<void> { return {}; });
      if (says) came.back()->send(*std::move(says)).ignore();
    };
    come({});
    come(numbered(0));
    LinkHello hello{{1, "node-1", 101}, drawn(1), 0, 2, 0, "another job"};
    come(encode_hello(hello));
    hello.job = "job";
    hello.from.rank = 0;
    come(encode_hello(hello));
    EXPECT_TRUE(job.run(job.mesh(0).send(1, numbered(0))).has_value());
    sim.run_for(seconds(10));
    EXPECT_EQ(job.mesh(0).counts().garbage, 2u);
    EXPECT_EQ(job.mesh(0).counts().refused, 2u);
    for (const auto& one : came) EXPECT_TRUE(one->end().ready());
    EXPECT_EQ(job.came(1).size(), 1u);
    job.close_all();
  });
}

TEST(MeshTest, OptionsThatFitNoJobAreRefused) {
  Simulation sim(1);
  MeshJob job(sim, 2);
  const auto transport = job.network.make_transport(::geteuid(), 1);
  const auto code = [&](auto change) {
    MeshOptions options = job.options(0);
    change(options);
    return Mesh::make(*transport, job.store, options).error().code();
  };
  EXPECT_EQ(code([](MeshOptions& o) { o.rank = 2; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.size = (1u << 20) + 1; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.host = ""; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.job = std::string(256, 'j'); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](MeshOptions& o) { o.pid = -1; }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::net
