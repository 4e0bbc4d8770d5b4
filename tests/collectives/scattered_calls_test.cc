// The collectives that give each rank something else, and sub-groups, between simulated devices in
// an order of events drawn from a seed; and what ends them before their result.
#include <gtest/gtest.h>

#include <numeric>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/collectives/split.h"
#include "tests/collectives/sim_ranks.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::DeviceId;
using devices::DType;
using devices::Shape;
using std::chrono::milliseconds;
using testing::for_each_seed;
using testing::SimRanks;
using testing::Simulation;
using Kind = CollectiveCall::Kind;
using Values = std::vector<float>;

std::size_t sz(int number) { return static_cast<std::size_t>(number); }

// Ranks that call in an order drawn from the seed.
struct Callers {
  explicit Callers(Simulation& simulation, int least = 1)
      : sim(simulation),
        size(least + static_cast<int>(sim.below(5))),
        ranks(sim, size, sim.chance(0.5)),
        order(sz(size)) {
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), sim.random());
  }
  // Rank r gives {100 r, 100 r + 1, ...}.
  Buffer numbers(int rank, int count) {
    Values values(sz(count));
    std::iota(values.begin(), values.end(), 100.0F * static_cast<float>(rank));
    return ranks.put(rank, values);
  }
  // By rank what `call` gives for it.
  template <class Call>
  std::vector<Future<Buffers>> on_all(Call call) {
    std::vector<Future<Buffers>> results(sz(size));
    for (const int r : order) results[sz(r)] = call(ranks.members[sz(r)], r);
    return results;
  }
  Values only(int rank, const Future<Buffers>& result) {
    const auto buffers = sim.run(result);
    EXPECT_TRUE(buffers) << buffers.error().to_string();
    if (!buffers || buffers->size() != 1) return {};
    EXPECT_EQ((*buffers)[0].device(), DeviceId{rank});
    return ranks.get(rank, (*buffers)[0]);
  }

  Simulation& sim;
  const int size;
  SimRanks ranks;
  std::vector<int> order;
};

TEST(ScatteredCallsTest, ReduceScatterGivesEachRankItsPartOfTheSum) {
  for_each_seed(30, [](Simulation& sim) {
    Callers callers(sim);
    const int size = callers.size;
    const auto results = callers.on_all([&](const ProcessGroup& member, int r) {
      return member.reduce_scatter({callers.numbers(r, 2 * size), callers.numbers(r, size)},
                                   ReduceOp::kSum);
    });
    const float hundreds = 50.0F * static_cast<float>(size * (size - 1));
    for (int r = 0; r < size; ++r) {
      const Buffers out = sim.run(results[sz(r)]).value();
      ASSERT_EQ(out.size(), 2u);
      const auto first = static_cast<float>(2 * r * size) + hundreds;
      EXPECT_EQ(callers.ranks.get(r, out[0]), (Values{first, first + static_cast<float>(size)}));
      EXPECT_EQ(callers.ranks.get(r, out[1]), Values{static_cast<float>(r * size) + hundreds});
    }
    sim.finish();
  });
}

TEST(ScatteredCallsTest, AllToAllGivesPartTOfRankSAsPartSOfRankT) {
  for_each_seed(30, [](Simulation& sim) {
    Callers callers(sim);
    const int size = callers.size;
    const auto results = callers.on_all([&](const ProcessGroup& member, int r) {
      return member.all_to_all({callers.numbers(r, 2 * size)});
    });
    for (int r = 0; r < size; ++r) {
      Values expected;
      for (int s = 0; s < size; ++s) {
        const auto first = static_cast<float>(100 * s + 2 * r);
        expected.insert(expected.end(), {first, first + 1});
      }
      EXPECT_EQ(callers.only(r, results[sz(r)]), expected);
    }
    sim.finish();
  });
}

TEST(ScatteredCallsTest, CollectivePermuteGivesSourcesToTargetsAndZerosToOthers) {
  for_each_seed(30, [](Simulation& sim) {
    Callers callers(sim, 2);
    const int last = callers.size - 1;
    const std::vector<RankPair> pairs = {{Rank{0}, Rank{last}}, {Rank{last}, Rank{last - 1}}};
    const auto results = callers.on_all([&](const ProcessGroup& member, int r) {
      return member.collective_permute({callers.numbers(r, 3)}, pairs);
    });
    const float from_last = 100.0F * static_cast<float>(last);
    for (int r = 0; r <= last; ++r) {
      const Values expected = r == last       ? Values{0, 1, 2}
                              : r == last - 1 ? Values{from_last, from_last + 1, from_last + 2}
                                              : Values{0, 0, 0};
      EXPECT_EQ(callers.only(r, results[sz(r)]), expected);
    }
    sim.finish();
  });
}

TEST(ScatteredCallsTest, GatherGivesAllArraysToTheRootAndNoneToTheOthers) {
  for_each_seed(30, [](Simulation& sim) {
    Callers callers(sim);
    const Rank root{static_cast<int>(sim.below(sz(callers.size)))};
    const auto results = callers.on_all([&](const ProcessGroup& member, int r) {
      return member.gather({callers.numbers(r, 2)}, root);
    });
    Values all;
    for (int r = 0; r < callers.size; ++r) {
      const float first = 100.0F * static_cast<float>(r);
      all.insert(all.end(), {first, first + 1});
    }
    for (int r = 0; r < callers.size; ++r) {
      if (Rank{r} == root) {
        EXPECT_EQ(callers.only(r, results[sz(r)]), all);
      } else {
        const auto none = sim.run(results[sz(r)]);
        ASSERT_TRUE(none) << none.error().to_string();
        EXPECT_TRUE(none->empty());
      }
    }
    sim.finish();
  });
}

TEST(ScatteredCallsTest, ScatterGivesEachRankItsPartOfTheRootsArrays) {
  for_each_seed(30, [](Simulation& sim) {
    Callers callers(sim);
    const int size = callers.size;
    const Rank root{static_cast<int>(sim.below(sz(size)))};
    const auto results = callers.on_all([&](const ProcessGroup& member, int r) {
      if (Rank{r} != root && r % 2 == 0)
        return member.scatter({Shape(DType::kF32, {2 * size})}, root);
      return member.scatter({callers.numbers(r, 2 * size)}, root);
    });
    const float of_root = 100.0F * static_cast<float>(index(root));
    for (int r = 0; r < size; ++r) {
      const float first = of_root + static_cast<float>(2 * r);
      EXPECT_EQ(callers.only(r, results[sz(r)]), (Values{first, first + 1}));
    }
    sim.finish();
  });
}

// ---- sub-groups

TEST(ScatteredCallsTest, SplitOrdersEachColorByKeyAndThenByRank) {
  const std::vector<SplitPlace> places = {{5, 1}, {-2, 0}, {5, 0}, {5, 1}, {-2, 0}};
  const auto groups = sub_groups(places);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].color, -2);
  EXPECT_EQ(groups[0].ranks, (std::vector{Rank{1}, Rank{4}}));
  EXPECT_EQ(groups[1].ranks, (std::vector{Rank{2}, Rank{0}, Rank{3}}));
}

TEST(ScatteredCallsTest, SubGroupsReduceAmongTheirOwnRanks) {
  for_each_seed(30, [](Simulation& sim) {
    Callers callers(sim, 2);
    std::vector<std::optional<Future<ProcessGroup>>> splits(sz(callers.size));
    for (const int r : callers.order) splits[sz(r)] = callers.ranks.members[sz(r)].split(r % 2, -r);
    std::vector<Future<Buffers>> sums;
    Values expected(2);
    for (int r = 0; r < callers.size; ++r) {
      const ProcessGroup member = sim.run(*splits[sz(r)]).value();
      EXPECT_EQ(member.size(), (callers.size + 1 - r % 2) / 2);
      // The highest rank has the lowest key.
      EXPECT_EQ(index(member.rank()), (callers.size - 1 - r) / 2);
      sums.push_back(member.all_reduce({callers.numbers(r, 1)}, ReduceOp::kSum));
      expected[sz(r % 2)] += 100.0F * static_cast<float>(r);
      if (r < 2) sim.on_finish("sub-group", [member] { return member.close(); });
    }
    for (int r = 0; r < callers.size; ++r)
      EXPECT_EQ(callers.only(r, sums[sz(r)]), Values{expected[sz(r % 2)]});
    sim.finish();
  });
}

TEST(ScatteredCallsTest, StoppedSplitStillGivesTheOthersTheirGroup) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    std::stop_source stop;
    const auto stopped = ranks.members[0].split(0, 0, {.call = {.stop = stop.get_token()}});
    stop.request_stop();
    EXPECT_EQ(sim.run(stopped).error().code(), ErrorCode::kCancelled);
    const auto other = sim.run(ranks.members[1].split(0, 0));
    ASSERT_TRUE(other) << other.error().to_string();
    EXPECT_EQ(other->size(), 2);
    sim.on_finish("sub-group", [member = *other] { return member.close(); });
    sim.finish();
  });
}

TEST(ScatteredCallsTest, SubGroupHearsOfADeviceThatFailed) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 3);
    std::vector<Future<ProcessGroup>> splits;
    for (const ProcessGroup& member : ranks.members)
      splits.push_back(member.split(index(member.rank()) / 2, 0));
    std::vector<ProcessGroup> members;
    for (const auto& split : splits) members.push_back(sim.run(split).value());
    sim.on_finish("first", [m = members[0]] { return m.close(); });
    sim.on_finish("second", [m = members[2]] { return m.close(); });
    const auto pending = members[0].barrier();
    ASSERT_TRUE(ranks.devices[1].kill(Error(ErrorCode::kUnavailable, "scripted")));
    const auto failed = sim.run(pending);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().detail<Culprits>()->ranks, std::vector<Rank>{Rank{1}});
    EXPECT_TRUE(sim.run(members[2].barrier()));  // a group without it goes on
    sim.finish();
  });
}

// ---- what ends them

std::vector<Rank> culprits_of(const Error& error) {
  const auto* culprits = error.detail<Culprits>();
  return culprits == nullptr ? std::vector<Rank>() : culprits->ranks;
}

void expect_in_step(SimRanks& ranks) {
  std::vector<Future<void>> barriers;
  for (const ProcessGroup& member : ranks.members) barriers.push_back(member.barrier());
  for (const auto& barrier : barriers) EXPECT_TRUE(ranks.sim.run(barrier));
}

TEST(ScatteredCallsTest, EveryDifferenceIsNamedOnAllRanks) {  // GA-1
  for_each_seed(10, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    const ProcessGroup &a = ranks.members[0], &b = ranks.members[1];
    const Buffer x = ranks.put(0, {1, 2}), y = ranks.put(1, {1, 2});
    const std::vector<RankPair> swap = {{Rank{0}, Rank{1}}, {Rank{1}, Rank{0}}};
    const std::pair<Future<Buffers>, Future<Buffers>> calls[] = {
        {a.reduce_scatter({x}, ReduceOp::kSum), b.reduce_scatter({y}, ReduceOp::kMax)},
        {a.all_to_all({x}), b.all_gather({y})},
        {a.collective_permute({x}, swap), b.collective_permute({y}, {swap[0]})},
        {a.gather({x}, Rank{0}), b.gather({y}, Rank{1})},
        {a.scatter({x}, Rank{0}), b.scatter({Shape(DType::kF32, {4})}, Rank{0})},
    };
    for (const auto& [first, second] : calls) {
      for (const auto& future : {first, second}) {
        const auto result = sim.run(future);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code(), ErrorCode::kFailedPrecondition)
            << result.error().to_string();
        EXPECT_EQ(culprits_of(result.error()).size(), 2u);
      }
    }
    expect_in_step(ranks);
    sim.finish();
  });
}

TEST(ScatteredCallsTest, SplitAgainstAnotherCallFailsOnBoth) {
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    const auto split = ranks.members[0].split(0, 0);
    const auto barrier = ranks.members[1].barrier();
    const auto failed = sim.run(split);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), ErrorCode::kFailedPrecondition);
    EXPECT_NE(failed.error().message().find("split()"), std::string::npos);
    EXPECT_FALSE(sim.run(barrier));
    expect_in_step(ranks);
    sim.finish();
  });
}

TEST(ScatteredCallsTest, CallThatCannotBeDoneFailsForAllAndNamesItsCaller) {
  for_each_seed(10, [](Simulation& sim) {
    SimRanks ranks(sim, 2);
    const ProcessGroup &a = ranks.members[0], &b = ranks.members[1];
    const Buffer x = ranks.put(0, {1, 2}), y = ranks.put(1, {1, 2, 3});
    const std::vector<RankPair> twice = {{Rank{0}, Rank{1}}, {Rank{0}, Rank{0}}};
    const std::vector<RankPair> outside = {{Rank{0}, Rank{2}}};
    const std::tuple<Future<Buffers>, Future<Buffers>, std::string> calls[] = {
        {a.all_to_all({x}), b.all_to_all({y}), "multiple of the group's size, 2"},
        {a.reduce_scatter({x}, ReduceOp::kSum), b.reduce_scatter({y}, ReduceOp::kSum),
         "multiple of the group's size, 2"},
        {a.scatter({x}, Rank{0}), b.scatter({y}, Rank{0}), "multiple of the group's size, 2"},
        {a.collective_permute({x}, {}), b.collective_permute({y}, twice),
         "rank 0 is twice a source"},
        {a.collective_permute({x}, {}), b.collective_permute({y}, outside), "rank 2 is no rank"},
        {a.gather({x}, Rank{0}), b.gather({y}, Rank{7}), "there is no rank 7"},
        {a.scatter({x}, Rank{1}), b.scatter({Shape(DType::kF32, {2})}, Rank{1}),
         "the root gives shapes but no arrays"},
    };
    for (const auto& [first, second, words] : calls) {
      for (const auto& future : {first, second}) {
        const auto result = sim.run(future);
        ASSERT_FALSE(result) << words;
        EXPECT_EQ(culprits_of(result.error()), std::vector<Rank>{Rank{1}}) << words;
        EXPECT_NE(result.error().message().find(words), std::string::npos)
            << result.error().message();
      }
    }
    expect_in_step(ranks);
    sim.finish();
  });
}

TEST(ScatteredCallsTest, RankThatDoesNotCallIsNamedAtTheDeadline) {
  for_each_seed(10, [](Simulation& sim) {
    SimRanks ranks(sim, 3);
    const auto options = ranks.within(milliseconds(20));
    const Buffer x = ranks.put(0, {1, 2, 3});
    const std::vector<Future<Buffers>> calls = {
        ranks.members[0].reduce_scatter({x}, ReduceOp::kSum, options),
        ranks.members[0].all_to_all({x}, options),
        ranks.members[0].gather({x}, Rank{0}, options),
        ranks.members[0].scatter({x}, Rank{0}, options),
        ranks.members[0].collective_permute({x}, {}, options),
    };
    const auto split = ranks.members[0].split(0, 0, options);
    for (const auto& call : calls) {
      const auto result = sim.run(call);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code(), ErrorCode::kDeadlineExceeded);
      EXPECT_EQ(culprits_of(result.error()), (std::vector{Rank{1}, Rank{2}}));
    }
    EXPECT_EQ(culprits_of(sim.run(split).error()), (std::vector{Rank{1}, Rank{2}}));
    sim.finish();
  });
}

TEST(ScatteredCallsTest, FailedDeviceEndsThemByItsRank) {  // GA-3
  for_each_seed(20, [](Simulation& sim) {
    SimRanks ranks(sim, 3);
    const Buffer x = ranks.put(0, {1, 2, 3});
    const auto trade = ranks.members[0].all_to_all({x});
    const auto split = ranks.members[1].split(0, 0, {.sequence = 5});
    ranks.client.fail_device(DeviceId{2}, sim.now() + milliseconds(1), "scripted");
    EXPECT_EQ(culprits_of(sim.run(trade).error()), std::vector<Rank>{Rank{2}});
    EXPECT_EQ(culprits_of(sim.run(split).error()), std::vector<Rank>{Rank{2}});
    EXPECT_EQ(culprits_of(sim.run(ranks.members[0].split(0, 0)).error()),
              std::vector<Rank>{Rank{2}});
    sim.finish();
  });
}

TEST(ScatteredCallsTest, FingerprintsDifferWhereCallsDoAndSoDoTheirTexts) {
  const Shape shape(DType::kF32, {4}), other(DType::kF32, {5});
  CollectiveCall long_one = {Kind::kAllReduce, ReduceOp::kSum, Rank{0}, {}};
  for (int i = 0; i < 6; ++i) long_one.shapes.push_back(shape);
  CollectiveCall last_differs = long_one;
  last_differs.shapes.back() = other;
  const std::vector<CollectiveCall> calls = {
      {Kind::kAllReduce, ReduceOp::kSum, Rank{0}, {shape}},
      {Kind::kAllReduce, ReduceOp::kMax, Rank{0}, {shape}},
      {Kind::kAllReduce, ReduceOp::kSum, Rank{0}, {other}},
      {Kind::kAllReduce, ReduceOp::kSum, Rank{0}, {shape, shape}},
      {Kind::kReduceScatter, ReduceOp::kSum, Rank{0}, {shape}},
      {Kind::kGather, ReduceOp::kSum, Rank{0}, {shape}},
      {Kind::kGather, ReduceOp::kSum, Rank{1}, {shape}},
      {Kind::kCollectivePermute, ReduceOp::kSum, Rank{0}, {shape}, {{Rank{0}, Rank{1}}}},
      {Kind::kCollectivePermute, ReduceOp::kSum, Rank{0}, {shape}, {{Rank{1}, Rank{0}}}},
      long_one,
      last_differs,
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (std::size_t j = 0; j < calls.size(); ++j) {
      EXPECT_EQ(fingerprint(calls[i]) == fingerprint(calls[j]), i == j) << i << " and " << j;
      EXPECT_EQ(calls[i].to_string() == calls[j].to_string(), i == j) << i << " and " << j;
    }
  }
}

}  // namespace
}  // namespace millrace::collectives
