// Collectives between simulated devices, on virtual time and in an order of events drawn from a
// seed.
#include "millrace/collectives/process_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "millrace/core/net/peer_loss.h"
#include "tests/collectives/sim_ranks.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::DeviceId;
using devices::DType;
using devices::Shape;
using std::chrono::milliseconds;
using testing::for_each_seed;
using testing::SimRanks;
using testing::Simulation;

TEST(ProcessGroupTest, AllReduceGivesEveryRankTheSameResultOnItsDevice) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 1 + static_cast<int>(sim.below(5)), sim.chance(0.5));
    const int size = static_cast<int>(ranks.devices.size());
    std::vector<Future<Buffers>> results;
    for (int r = 0; r < size; ++r) {
      const Buffer a = ranks.put(r, {1.0F * static_cast<float>(r), 2});
      const Buffer b = ranks.put(r, {3});
      results.push_back(
          ranks.members[static_cast<std::size_t>(r)].all_reduce({a, b}, ReduceOp::kMean));
    }
    for (int r = 0; r < size; ++r) {
      const Buffers out = sim.run(results[static_cast<std::size_t>(r)]).value();
      ASSERT_EQ(out.size(), 2u);
      EXPECT_EQ(out[0].device(), DeviceId{r});
      EXPECT_EQ(ranks.get(r, out[0]), (std::vector<float>{static_cast<float>(size - 1) / 2, 2}));
      EXPECT_EQ(ranks.get(r, out[1]), std::vector<float>{3});
    }
    sim.finish();
  });
}

TEST(ProcessGroupTest, AllGatherConcatenatesInTheOrderOfTheRanks) {
  Simulation sim(3);
  SimRanks ranks(sim, 3);
  std::vector<Future<Buffers>> results;
  for (const int r : {2, 0, 1}) {
    const float value = static_cast<float>(r);
    results.push_back(ranks.members[static_cast<std::size_t>(r)].all_gather(
        {ranks.put(r, {value, value + 0.5F})}));
  }
  const Buffers out = sim.run(results[0]).value();
  EXPECT_EQ(ranks.get(2, out[0]), (std::vector<float>{0, 0.5F, 1, 1.5F, 2, 2.5F}));
  for (const auto& result : results) ASSERT_TRUE(sim.run(result));
  sim.finish();
}

TEST(ProcessGroupTest, BroadcastReadsNothingOfTheOthers) {
  Simulation sim(4);
  SimRanks ranks(sim, 3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Buffer root = ranks.put(1, {5, 6});
  std::vector<Future<Buffers>> results = {
      ranks.members[0].broadcast({ranks.put(0, {nan, nan})}, Rank{1}),
      ranks.members[1].broadcast({root}, Rank{1}),
      ranks.members[2].broadcast({Shape(DType::kF32, {2})}, Rank{1}),
  };
  for (int r = 0; r < 3; ++r) {
    const Buffers out = sim.run(results[static_cast<std::size_t>(r)]).value();
    EXPECT_EQ(ranks.get(r, out[0]), (std::vector<float>{5, 6}));
  }
  sim.finish();
}

TEST(ProcessGroupTest, BarrierWaitsForTheLastRank) {  // GA-2
  Simulation sim(5);
  SimRanks ranks(sim, 2);
  const Future<void> first = ranks.members[0].barrier();
  sim.run_for(milliseconds(50));
  EXPECT_FALSE(first.ready());
  const Future<void> second = ranks.members[1].barrier();
  EXPECT_TRUE(sim.run(first));
  EXPECT_TRUE(sim.run(second));
  sim.finish();
}

// By how many the living cells grow while so many groups are made, used, closed and released; the
// simulation counts them.
std::int64_t cells_of_groups(Simulation& sim, const std::vector<Device>& devices, int groups) {
  const std::int64_t before = AsyncValue::counts().alive;
  for (int i = 0; i < groups; ++i) {
    auto members =
        ProcessGroup::create(sim.actors(), "short " + std::to_string(i), devices).value();
    const Future<void> first = members[0].barrier();
    EXPECT_TRUE(sim.run(members[1].barrier()));
    EXPECT_TRUE(sim.run(first));
    EXPECT_TRUE(sim.run(members[0].close()));
  }
  sim.run_until_idle();
  return AsyncValue::counts().alive - before;
}

TEST(ProcessGroupTest, GroupsThatAreClosedLeaveNothingWithTheirDevices) {
  Simulation sim(9);
  SimRanks ranks(sim, 2);
  EXPECT_LE(cells_of_groups(sim, ranks.devices, 1000), 20);
  // Those that are there still hear of a failure, though a thousand came and went.
  const auto pending = ranks.members[0].barrier();
  ASSERT_TRUE(ranks.devices[1].kill(Error(ErrorCode::kUnavailable, "scripted")));
  const auto failed = sim.run(pending);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find("scripted"), std::string::npos);
  // And who comes later hears of it at once.
  auto late = ProcessGroup::create(sim.actors(), "late", ranks.devices).value();
  sim.on_finish("late", [late] { return late[0].close(); });
  EXPECT_FALSE(sim.run(late[0].barrier()));
  sim.finish();
}

TEST(ProcessGroupTest, SubsetOfTheDevicesFormsAGroupOfItsOwn) {
  Simulation sim(6);
  SimRanks ranks(sim, 4);
  const std::vector<Device> odd = {ranks.devices[1], ranks.devices[3]};
  auto members = ProcessGroup::create(sim.actors(), "odd", odd).value();
  sim.on_finish("odd", [members] { return members[0].close(); });
  const auto a = members[0].all_reduce({ranks.put(1, {1})}, ReduceOp::kSum);
  const auto b = members[1].all_reduce({ranks.put(3, {2})}, ReduceOp::kSum);
  EXPECT_EQ(ranks.get(3, (*sim.run(b))[0]), std::vector<float>{3});
  ASSERT_TRUE(sim.run(a));
  EXPECT_FALSE(ProcessGroup::create(sim.actors(), "twice", std::vector{odd[0], odd[0]}));
  sim.finish();
}

TEST(ProcessGroupTest, DifferentCallsAtOneNumberFailOnBothAndNameBoth) {  // GA-1
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    const Future<Buffers> reduce = ranks.members[0].all_reduce({ranks.put(0, {1})}, ReduceOp::kSum);
    const Future<Buffers> gather = ranks.members[1].all_gather({ranks.put(1, {1})});
    for (const auto& future : {reduce, gather}) {
      const auto result = sim.run(future);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code(), ErrorCode::kFailedPrecondition);
      EXPECT_NE(result.error().message().find("all_reduce(sum, tensor<1xf32>)"), std::string::npos);
      EXPECT_NE(result.error().message().find("all_gather(tensor<1xf32>)"), std::string::npos);
    }
    sim.finish();
  });
}

TEST(ProcessGroupTest, RankThatDoesNotCallIsNamedAtTheDeadline) {
  Simulation sim(8);
  SimRanks ranks(sim, 3);
  const auto options = ranks.within(milliseconds(20));
  const auto a = ranks.members[0].all_reduce({ranks.put(0, {1})}, ReduceOp::kSum, options);
  const auto b = ranks.members[2].all_reduce({ranks.put(2, {1})}, ReduceOp::kSum, options);
  for (const auto& future : {a, b}) {
    const auto result = sim.run(future);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(result.error().detail<Culprits>()->ranks, std::vector<Rank>{Rank{1}});
    EXPECT_NE(result.error().message().find("rank 1 did not call it"), std::string::npos);
  }
  // The late one hears the same, at once.
  const auto late = sim.run(ranks.members[1].all_reduce({ranks.put(1, {1})}, ReduceOp::kSum));
  EXPECT_EQ(late.error().code(), ErrorCode::kDeadlineExceeded);
  sim.finish();
}

TEST(ProcessGroupTest, FailedDeviceFailsPendingAndLaterCallsByItsRank) {  // GA-3
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 3);
    const auto pending = ranks.members[0].all_reduce({ranks.put(0, {1})}, ReduceOp::kSum);
    const auto meeting = ranks.members[0].rendezvous("m", "");
    ranks.client.fail_device(DeviceId{2}, sim.now() + milliseconds(1), "scripted");
    for (const Error& error : {sim.run(pending).error(), sim.run(meeting).error(),
                               sim.run(ranks.members[1].barrier()).error()}) {
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
      ASSERT_NE(error.detail<Culprits>(), nullptr);
      EXPECT_EQ(error.detail<Culprits>()->ranks, std::vector<Rank>{Rank{2}});
      EXPECT_NE(error.message().find("rank 2"), std::string::npos) << error.message();
    }
    sim.finish();
  });
}

TEST(ProcessGroupTest, StopEndsOneRanksWaitAndNotTheOperation) {
  Simulation sim(10);
  SimRanks ranks(sim, 2);
  std::stop_source stop;
  CollectiveOptions options;
  options.call.stop = stop.get_token();
  const auto stopped = ranks.members[0].all_reduce({ranks.put(0, {1})}, ReduceOp::kSum, options);
  stop.request_stop();
  EXPECT_EQ(sim.run(stopped).error().code(), ErrorCode::kCancelled);
  const auto other = sim.run(ranks.members[1].all_reduce({ranks.put(1, {2})}, ReduceOp::kSum));
  ASSERT_TRUE(other);
  EXPECT_EQ(ranks.get(1, (*other)[0]), std::vector<float>{3});
  sim.finish();
}

TEST(ProcessGroupTest, CloseFailsWhatIsPendingWithCancelled) {
  Simulation sim(11);
  SimRanks ranks(sim, 2);
  const auto reduce = ranks.members[0].all_reduce({ranks.put(0, {1})}, ReduceOp::kSum);
  const auto meeting = ranks.members[1].rendezvous("m", "x");
  sim.run_until_idle();
  ASSERT_TRUE(sim.run(ranks.members[1].close()));
  EXPECT_EQ(sim.run(reduce).error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(sim.run(meeting).error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(sim.run(ranks.members[0].barrier()).error().code(), ErrorCode::kUnavailable);
  sim.finish();
}

TEST(ProcessGroupTest, RendezvousGivesPayloadsAndNamesTheMissingRanks) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 12);
    std::vector<Future<Payloads>> meetings;
    for (const ProcessGroup& member : ranks.members) {
      meetings.push_back(member.rendezvous("epoch", "p" + std::to_string(index(member.rank()))));
    }
    for (const auto& meeting : meetings) EXPECT_EQ((**sim.run(meeting))[7], "p7");

    CallOptions options;
    options.deadline = sim.now() + milliseconds(30);
    meetings.clear();
    for (const int r : {1, 4, 9}) {
      meetings.push_back(ranks.members[static_cast<std::size_t>(r)].rendezvous(
          "sub", "", {Rank{1}, Rank{4}, Rank{6}, Rank{9}}, options));
    }
    for (const auto& meeting : meetings) {
      const auto result = sim.run(meeting);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code(), ErrorCode::kDeadlineExceeded);
      EXPECT_EQ(result.error().detail<Culprits>()->ranks, std::vector<Rank>{Rank{6}});
    }
    sim.finish();
  });
}

TEST(ProcessGroupTest, NumbersTakenAtSubmissionMatchWhateverIsReadyFirst) {
  for_each_seed(50, [](Simulation& sim) {
    SimRanks ranks(sim, 3);
    constexpr int kCalls = 6;
    std::vector<std::pair<int, Future<Buffers>>> results;
    for (int r = 0; r < 3; ++r) {
      const ProcessGroup& member = ranks.members[static_cast<std::size_t>(r)];
      const std::uint64_t first = member.reserve(kCalls);
      std::vector<int> order(kCalls);
      for (int i = 0; i < kCalls; ++i) order[static_cast<std::size_t>(i)] = i;
      std::shuffle(order.begin(), order.end(), sim.random());
      for (const int i : order) {
        CollectiveOptions options;
        options.sequence = first + static_cast<std::uint64_t>(i);
        const Buffer mine = ranks.put(r, {static_cast<float>(i)});
        results.emplace_back(i, member.all_reduce({mine}, ReduceOp::kSum, options));
      }
    }
    for (std::size_t n = 0; n < results.size(); ++n) {
      const Buffers out = sim.run(results[n].second).value();
      const auto rank = static_cast<int>(n) / kCalls;
      EXPECT_EQ(ranks.get(rank, out[0]),
                std::vector<float>{3.0F * static_cast<float>(results[n].first)});
    }
    sim.finish();
  });
}

TEST(ProcessGroupTest, AnErrorSaysWhetherAnotherProcessIsItsReason) {
  Simulation sim(5);
  SimRanks ranks(sim, 3);
  const std::span<const ProcessGroup> mine = std::span(ranks.members).first(2);  // ranks 0 and 1
  const Error plain(ErrorCode::kUnavailable, "it failed");
  const auto blames = [&](Culprits::Kind kind, std::vector<Rank> of) {
    return failed_elsewhere(plain.with_detail(Culprits{kind, std::move(of)}), mine);
  };
  EXPECT_FALSE(failed_elsewhere(plain, mine));
  EXPECT_TRUE(failed_elsewhere(net::PeerLoss{}.error(), mine));
  EXPECT_TRUE(failed_elsewhere(net::PeerEnded{}.error(), mine));
  EXPECT_TRUE(blames(Culprits::Kind::kFailed, {Rank{2}}));
  EXPECT_TRUE(blames(Culprits::Kind::kMissing, {Rank{2}}));
  EXPECT_FALSE(blames(Culprits::Kind::kFailed, {Rank{1}, Rank{2}}));
  EXPECT_FALSE(blames(Culprits::Kind::kMismatch, {Rank{2}}));
  EXPECT_FALSE(blames(Culprits::Kind::kInvalid, {Rank{2}}));
  sim.finish();
}

}  // namespace
}  // namespace millrace::collectives
