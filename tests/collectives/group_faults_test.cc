// What ends a collective before its result, in simulation.
#include "tests/collectives/sim_ranks.h"

#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::DType;
using devices::Shape;
using testing::for_each_seed;
using testing::SimRanks;
using testing::Simulation;

std::vector<Rank> culprits_of(const Error& error) {
  const auto* culprits = error.detail<Culprits>();
  return culprits == nullptr ? std::vector<Rank>() : culprits->ranks;
}

// All ranks' next collectives meet: no rank is a number behind.
void expect_in_step(SimRanks& ranks) {
  std::vector<Future<Buffers>> sums;
  for (std::size_t r = 0; r < ranks.members.size(); ++r) {
    sums.push_back(
        ranks.members[r].all_reduce({ranks.put(static_cast<int>(r), {1})}, ReduceOp::kSum));
  }
  for (const auto& sum : sums) {
    const auto result = ranks.sim.run(sum);
    EXPECT_TRUE(result) << result.error().to_string();
  }
}

TEST(GroupFaultsTest, CallThatTypesDoNotHaveFailsForEverybodyAndNamesItsCaller) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    const auto floats = ranks.put(0, {1});
    const auto integers = ranks.put_as<std::int32_t>(1, DType::kI32, {1});
    const Future<Buffers> results[] = {ranks.members[0].all_reduce({floats}, ReduceOp::kMean),
                                       ranks.members[1].all_reduce({integers}, ReduceOp::kMean)};
    for (const auto& future : results) {
      const auto result = sim.run(future);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code(), ErrorCode::kUnimplemented);
      EXPECT_EQ(culprits_of(result.error()), std::vector<Rank>{Rank{1}});
      EXPECT_NE(result.error().message().find("rank 1 called all_reduce(mean, tensor<1xi32>)"),
                std::string::npos)
          << result.error().message();
    }
    expect_in_step(ranks);
    sim.finish();
  });
}

TEST(GroupFaultsTest, EmptyBufferFailsForEverybodyAndNamesItsCaller) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    const Buffer there = ranks.put(0, {1});
    const Future<Buffers> results[] = {
        ranks.members[0].all_reduce({there}, ReduceOp::kSum),
        ranks.members[1].all_reduce({Buffer()}, ReduceOp::kSum),
        ranks.members[0].broadcast({there}, Rank{0}),
        ranks.members[1].broadcast({Shape()}, Rank{0}),
    };
    for (const auto& future : results) {
      const auto result = sim.run(future);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(culprits_of(result.error()), std::vector<Rank>{Rank{1}});
    }
    EXPECT_NE(results[0].result().error().message().find("array 0 is an empty Buffer"),
              std::string::npos)
        << results[0].result().error().message();
    expect_in_step(ranks);
    const std::vector<devices::Device> some = {ranks.devices[0], devices::Device()};
    const auto none = ProcessGroup::create(sim.actors(), "none", some);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(none.error().message().find("the device of rank 1 is an empty Device"),
              std::string::npos);
    sim.finish();
  });
}

TEST(GroupFaultsTest, CallWhoseDeadlineHasPassedFailsForEverybodyAndNamesItsCaller) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    const Buffer a = ranks.put(0, {1}), b = ranks.put(1, {2});
    const Future<Buffers> late =
        ranks.members[0].all_reduce({a}, ReduceOp::kSum, ranks.within(Duration(0)));
    ASSERT_TRUE(late.ready());
    EXPECT_EQ(late.result().error().code(), ErrorCode::kDeadlineExceeded);
    const auto other = sim.run(ranks.members[1].all_reduce({b}, ReduceOp::kSum));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(culprits_of(other.error()), std::vector<Rank>{Rank{0}});
    // A stop is this rank's alone: the others go on with what it gives.
    std::stop_source stop;
    stop.request_stop();
    const Future<Buffers> stopped =
        ranks.members[0].all_reduce({a}, ReduceOp::kSum, {.call = {.stop = stop.get_token()}});
    EXPECT_EQ(stopped.result().error().code(), ErrorCode::kCancelled);
    EXPECT_TRUE(sim.run(ranks.members[1].all_reduce({b}, ReduceOp::kSum)));
    expect_in_step(ranks);
    sim.finish();
  });
}

TEST(GroupFaultsTest, RootThatIsNoRankFailsForEverybodyAndNamesItsCaller) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 3);
    const Shape shape(DType::kF32, {1});
    const Future<Buffers> results[] = {ranks.members[0].broadcast({ranks.put(0, {1})}, Rank{0}),
                                       ranks.members[1].broadcast({ranks.put(1, {1})}, Rank{3}),
                                       ranks.members[2].broadcast({shape}, Rank{0})};
    for (const auto& future : results) {
      const auto result = sim.run(future);
      ASSERT_FALSE(result);
      EXPECT_NE(result.error().message().find("rank 1"), std::string::npos)
          << result.error().message();
    }
    expect_in_step(ranks);
    // All of them alike.
    for (const Rank root : {Rank{-1}, Rank{3}}) {
      std::vector<Future<Buffers>> alike;
      for (const ProcessGroup& member : ranks.members)
        alike.push_back(member.broadcast({shape}, root));
      for (const auto& future : alike)
        EXPECT_EQ(sim.run(future).error().code(), ErrorCode::kInvalidArgument);
    }
    expect_in_step(ranks);
    sim.finish();
  });
}

TEST(GroupFaultsTest, RootWithoutArraysFailsForEverybody) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    const Shape shape(DType::kF32, {1});
    const Future<Buffers> results[] = {ranks.members[0].broadcast({shape}, Rank{1}),
                                       ranks.members[1].broadcast({shape}, Rank{1})};
    for (const auto& future : results) {
      const auto result = sim.run(future);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(culprits_of(result.error()), std::vector<Rank>{Rank{1}});
    }
    expect_in_step(ranks);
    sim.finish();
  });
}

// Eight children send more to the root at once than its mailbox takes, inside and outside.
TEST(GroupFaultsTest, RendezvousLosesNoPayloadHoweverLarge) {
  for_each_seed(10, [](Simulation& sim) {
    SimRanks ranks(sim, 9);
    CallOptions options;
    options.deadline = sim.now() + std::chrono::seconds(1);
    std::vector<Future<Payloads>> meetings;
    for (const ProcessGroup& member : ranks.members) {
      const char mine = static_cast<char>('a' + index(member.rank()));
      meetings.push_back(
          member.rendezvous("m", std::string(std::size_t{3} << 20, mine), {}, options));
    }
    for (const auto& meeting : meetings) {
      const auto payloads = sim.run(meeting);
      ASSERT_TRUE(payloads) << payloads.error().to_string();
      for (std::size_t p = 0; p < 9; ++p) {
        ASSERT_EQ((**payloads)[p].size(), std::size_t{3} << 20);
        EXPECT_EQ((**payloads)[p].back(), static_cast<char>('a' + p));
      }
    }
    sim.finish();
  });
}

// The news of a failure reaches a mailbox that is full.
TEST(GroupFaultsTest, FailureIsHeardBehindMoreJoinsThanAMailboxTakes) {
  for_each_seed(10, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    sim.run_until_idle();
    std::vector<Future<Payloads>> meetings;
    // One inside, one outside: each alone fits, whatever its size; nothing else does.
    for (int i = 0; i < 2; ++i)
      meetings.push_back(ranks.members[0].rendezvous("m", std::string(std::size_t{17} << 20, 'x')));
    ranks.members[0].fail_rank(Rank{1}, Error(ErrorCode::kUnavailable, "scripted"));
    for (const auto& meeting : meetings) {
      const auto result = sim.run(meeting);
      ASSERT_FALSE(result);
      EXPECT_EQ(culprits_of(result.error()), std::vector<Rank>{Rank{1}})
          << result.error().message();
    }
    sim.finish();
  });
}

// The devices outlive the groups: nothing that waits for their end may keep a group.
TEST(GroupFaultsTest, ClosedGroupsLeaveNothingAlive) {
  Simulation sim(1);
  SimRanks ranks(sim, 2);
  int alive = 0;
  for (int i = 0; i < 1000; ++i) {
    auto members = ProcessGroup::create(sim.actors(), "many", ranks.devices).value();
    const Ref<actors::ActorCell> actor = sim.actors().find<GroupActor>("group many")->cell();
    ASSERT_TRUE(sim.run(members[0].close()));
    members.clear();
    sim.run_until_idle();
    if (!actor->unique()) ++alive;  // the members' common state refers to it
  }
  EXPECT_EQ(alive, 0);
  sim.finish();
}

TEST(GroupFaultsTest, PendingCallFailsWithTheGroupWhenNoMemberIsHeld) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    auto members = ProcessGroup::create(sim.actors(), "dropped", ranks.devices).value();
    const Future<Buffers> pending = members[0].all_reduce({ranks.put(0, {1})}, ReduceOp::kSum);
    const Future<Payloads> meeting = members[0].rendezvous("m", "");
    members.clear();
    sim.run_until_idle();
    ranks.client.fail_device(devices::DeviceId{1}, sim.now() + std::chrono::milliseconds(1),
                             "scripted");
    EXPECT_EQ(culprits_of(sim.run(pending).error()), std::vector<Rank>{Rank{1}});
    EXPECT_EQ(culprits_of(sim.run(meeting).error()), std::vector<Rank>{Rank{1}});
    sim.finish();
  });
}

}  // namespace
}  // namespace millrace::collectives
