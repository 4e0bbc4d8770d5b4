// Every algorithm against a plain computation, for 1 to 64 processes, in orders drawn from seeds.
#include "millrace/collectives/make_schedule.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tests/collectives/group_run.h"

namespace millrace::collectives {
namespace {

using devices::DType;
using testing::Bytes;
using testing::Case;
using testing::GroupRun;
using testing::ScheduleSimulator;
using testing::sz;
using Kind = CollectiveCall::Kind;

constexpr int kMostProcesses = 64;
constexpr Algorithm kAll[] = {Algorithm::kDirect, Algorithm::kRing, Algorithm::kRecursiveDoubling,
                              Algorithm::kTree};
constexpr Kind kMoves[] = {Kind::kAllGather, Kind::kBroadcast, Kind::kGather,
                           Kind::kScatter,   Kind::kAllToAll,  Kind::kCollectivePermute};

// One rank in each process, several in each, and an uneven number.
std::vector<std::vector<int>> spreads_of(int processes) {
  std::vector<int> uneven;
  for (int p = 0; p < processes; ++p) uneven.push_back(1 + (p * 7 + processes) % 3);
  return {std::vector<int>(sz(processes), 1), std::vector<int>(sz(processes), 2), uneven};
}

// For every number of processes and spread, with chunks that cut parts, and that do not.
template <class Body>
void for_each_spread(Body body) {
  std::uint64_t seed = 1;
  for (int processes = 1; processes <= kMostProcesses; ++processes) {
    for (const std::vector<int>& counts : spreads_of(processes)) {
      Case test;
      test.counts = counts;
      test.seed = ++seed;
      test.request.chunk_bytes = processes % 2 == 0 ? 48 : kChunkBytes;
      body(test);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(ScheduleTest, EveryReductionGivesThePlainResultWithoutADeadlock) {  // SD-1
  for_each_spread([](Case test) {
    const std::size_t ranks = sz(test.spread().ranks());
    test.request.element_bytes = 4;
    for (const Kind kind : {Kind::kAllReduce, Kind::kReduceScatter}) {
      for (const Algorithm algorithm : kAll) {
        if (kind == Kind::kReduceScatter && algorithm > Algorithm::kRing) continue;
        test.request.kind = kind;
        test.request.algorithm = algorithm;
        test.request.exact_folds = test.seed % 2 == 0;
        test.request.elements = kind == Kind::kAllReduce ? 37 : 3 * ranks;
        SCOPED_TRACE(test.to_string());
        GroupRun(test).check(true);
      }
    }
  });
}

TEST(ScheduleTest, EveryMoveGivesThePlainResultWithoutADeadlock) {  // SD-1
  for_each_spread([](Case test) {
    const int ranks = test.spread().ranks();
    std::mt19937_64 random(test.seed);
    test.request.element_bytes = 4;
    test.request.root = Rank{static_cast<int>(random() % sz(ranks))};
    std::vector<int> targets;
    for (int r = 0; r < ranks; ++r) targets.push_back(r);
    std::shuffle(targets.begin(), targets.end(), random);
    for (int r = 0; r < ranks; r += 1 + r % 2)
      test.pairs.push_back({Rank{r}, Rank{targets[sz(r)]}});
    for (const Kind kind : kMoves) {
      for (const Algorithm algorithm : kAll) {
        test.request.kind = kind;
        test.request.algorithm = algorithm;
        test.request.elements =
            kind == Kind::kAllToAll || kind == Kind::kScatter ? 2 * sz(ranks) : 29;
        if (!make_schedule(test.request, test.spread(), 0)) continue;
        SCOPED_TRACE(test.to_string());
        GroupRun(test).check(true);
      }
    }
  });
}

TEST(ScheduleTest, DirectFoldsInTheOrderOfTheRanksToTheBitForEverySpread) {  // SD-2
  for_each_spread([](Case test) {
    const std::size_t ranks = sz(test.spread().ranks());
    for (const DType dtype : {DType::kF32, DType::kF16}) {
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean}) {
        for (const Kind kind : {Kind::kAllReduce, Kind::kReduceScatter}) {
          test.dtype = dtype;
          test.op = op;
          test.request.kind = kind;
          test.request.element_bytes = dtype == DType::kF32 ? 4 : 2;
          test.request.elements = kind == Kind::kAllReduce ? 97 : 2 * ranks;
          test.request.exact_folds = folds_exactly(op, dtype);
          SCOPED_TRACE(test.to_string());
          GroupRun(test).check(true);
        }
      }
    }
  });
}

TEST(ScheduleTest, EveryAlgorithmGivesAllRanksTheSameBits) {  // SD-2
  for_each_spread([](Case test) {
    test.dtype = DType::kF32;
    test.op = ReduceOp::kMean;
    test.request.kind = Kind::kAllReduce;
    test.request.element_bytes = 4;
    test.request.elements = 41;
    for (const Algorithm algorithm : kAll) {
      test.request.algorithm = algorithm;
      SCOPED_TRACE(test.to_string());
      GroupRun(test).check(false);
    }
  });
}

TEST(ScheduleTest, OrderOfTheStepsChangesNoBit) {  // SD-2
  for (const Algorithm algorithm : kAll) {
    Bytes first;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Case test;
      test.counts = {2, 1, 1, 3, 1, 2, 1};
      test.dtype = DType::kF32;
      test.request = {.kind = Kind::kAllReduce,
                      .algorithm = algorithm,
                      .elements = 300,
                      .element_bytes = 4,
                      .chunk_bytes = 64};
      const Spread spread(test.counts);
      ScheduleSimulator simulator(ReduceOp::kSum, DType::kF32, sz(spread.ranks()), seed);
      for (int p = 0; p < spread.processes(); ++p) {
        ScheduleSimulator::Process process{make_schedule(test.request, spread, p).value(), {}, {}};
        for (int d = 0; d < spread.count(p); ++d)
          process.inputs.push_back(array_of(test, spread.first(p) + d));
        process.outputs.emplace_back(test.bytes());
        simulator.processes.push_back(std::move(process));
      }
      ASSERT_TRUE(simulator.run()) << "seed " << seed;
      if (first.empty()) first = simulator.processes[0].outputs[0];
      ASSERT_EQ(simulator.processes[6].outputs[0], first)
          << to_string(algorithm) << ", seed " << seed;
    }
  }
}

TEST(ScheduleTest, BarrierEndsNowhereBeforeEveryProcessHasBegunIt) {
  for (int processes = 1; processes <= kMostProcesses; ++processes) {
    for (const Algorithm algorithm :
         {Algorithm::kDirect, Algorithm::kRecursiveDoubling, Algorithm::kTree}) {
      Case test;
      test.counts.assign(sz(processes), 1);
      test.request.kind = Kind::kBarrier;
      test.request.algorithm = algorithm;
      test.seed = sz(processes);
      SCOPED_TRACE(test.to_string());
      GroupRun(test).check(true);
      // Without the first steps of any one process no other comes to its end.
      const Spread spread = test.spread();
      for (const int late : {0, processes / 2, processes - 1}) {
        std::vector<std::vector<Step>> steps;
        for (int p = 0; p < processes; ++p)
          steps.push_back(make_schedule(test.request, spread, p).value().steps);
        std::vector<std::size_t> next(sz(processes), 0);
        std::map<std::pair<int, int>, int> wire;
        for (bool moved = true; moved;) {
          moved = false;
          for (int p = 0; p < processes; ++p) {
            if (p == late || next[sz(p)] == steps[sz(p)].size()) continue;
            const Step& step = steps[sz(p)][next[sz(p)]];
            if (step.kind == Step::Kind::kSend) ++wire[{p, step.peer}];
            if (step.kind == Step::Kind::kReceive && wire[{step.peer, p}]-- <= 0) {
              ++wire[{step.peer, p}];
              continue;
            }
            ++next[sz(p)];
            moved = true;
          }
        }
        for (int p = 0; p < processes; ++p) {
          if (p != late) {
            ASSERT_LT(next[sz(p)], steps[sz(p)].size()) << p << " without " << late;
          }
        }
      }
    }
  }
}

// One rank in each process, one chunk: messages and bytes as the sources say.
GroupRun run_of(Case& test, Kind kind, Algorithm algorithm, int processes, std::size_t elements) {
  test.counts.assign(sz(processes), 1);
  test.request = {.kind = kind, .algorithm = algorithm, .elements = elements, .element_bytes = 4};
  test.seed = sz(processes);
  return GroupRun(test);
}

TEST(ScheduleTest, RingAndDirectSendTheFewestBytesThatThereAre) {  // Patarasuk and Yuan, 2009
  for (int p = 2; p <= kMostProcesses; ++p) {
    const std::size_t others = sz(p) - 1, share = 1024, bytes = share * sz(p) * 4;
    for (const Algorithm algorithm : {Algorithm::kDirect, Algorithm::kRing}) {
      Case test;
      const GroupRun sum = run_of(test, Kind::kAllReduce, algorithm, p, share * sz(p));
      const GroupRun scatter = run_of(test, Kind::kReduceScatter, algorithm, p, share * sz(p));
      const GroupRun gather = run_of(test, Kind::kAllGather, algorithm, p, share);
      for (int q = 0; q < p; ++q) {
        // Small sums take one hop instead: each process folds all.
        const bool one_hop = algorithm == Algorithm::kDirect && bytes * sz(p) <= 16384;
        if (!one_hop) {
          ASSERT_EQ(sum.traffic(q).messages_out, 2 * others);
          ASSERT_EQ(sum.traffic(q).bytes_out, 2 * others * bytes / sz(p));
        }
        ASSERT_EQ(scatter.traffic(q).messages_out, others);
        ASSERT_EQ(scatter.traffic(q).bytes_out, others * bytes / sz(p));
        ASSERT_EQ(gather.traffic(q).messages_out, others);
        ASSERT_EQ(gather.traffic(q).bytes_out, others * share * 4);
      }
    }
    Case test;
    const GroupRun trade = run_of(test, Kind::kAllToAll, Algorithm::kDirect, p, share * sz(p));
    ASSERT_EQ(trade.traffic(0).messages_out, others);
    ASSERT_EQ(trade.traffic(0).bytes_out, others * share * 4);
    const GroupRun one_hop = run_of(test, Kind::kAllReduce, Algorithm::kDirect, p, 1);
    ASSERT_EQ(one_hop.traffic(0).messages_out, others);
    ASSERT_EQ(one_hop.traffic(0).bytes_out, others * 4);
  }
}

TEST(ScheduleTest, DoublingTakesTheRoundsOfTheLogarithm) {  // Thakur et al., 2005
  for (int p = 2; p <= kMostProcesses; ++p) {
    const auto size = static_cast<unsigned>(p);
    const std::size_t down = std::bit_width(size) - 1u;  // log2 of the power of two below
    const std::size_t up = std::bit_width(size - 1);     // and above
    const int paired = 2 * (p - static_cast<int>(std::bit_floor(size)));
    Case test;
    const GroupRun sum = run_of(test, Kind::kAllReduce, Algorithm::kRecursiveDoubling, p, 10);
    const GroupRun gather = run_of(test, Kind::kAllGather, Algorithm::kRecursiveDoubling, p, 10);
    const GroupRun barrier = run_of(test, Kind::kBarrier, Algorithm::kRecursiveDoubling, p, 0);
    for (int q = 0; q < p; ++q) {
      const std::size_t messages = q >= paired ? down : q % 2 == 0 ? 1 : down + 1;
      ASSERT_EQ(sum.traffic(q).messages_out, messages) << q << " of " << p;
      ASSERT_EQ(sum.traffic(q).messages_in, messages);
      ASSERT_EQ(sum.traffic(q).bytes_out, messages * 40);
      ASSERT_EQ(gather.traffic(q).messages_out, up);
      ASSERT_EQ(gather.traffic(q).bytes_out, sz(p - 1) * 40);
      ASSERT_EQ(barrier.traffic(q).messages_out, up);
    }
  }
}

TEST(ScheduleTest, TreeGivesNoProcessMoreThanNineMessagesEachWay) {
  for (int p = 1; p <= kMostProcesses; ++p) {
    for (const Kind kind : {Kind::kAllReduce, Kind::kBarrier, Kind::kBroadcast}) {
      Case test;
      const GroupRun run = run_of(test, kind, Algorithm::kTree, p, 10);
      std::size_t all = 0;
      for (int q = 0; q < p; ++q) {
        ASSERT_LE(run.traffic(q).messages_out, 9u);
        ASSERT_LE(run.traffic(q).messages_in, 9u);
        all += run.traffic(q).messages_out;
      }
      ASSERT_EQ(all, sz(p - 1) * (kind == Kind::kBroadcast ? 1 : 2));
    }
  }
}

TEST(ScheduleTest, LargeArraysNeedLittleMemoryBesideThem) {  // SD-3
  const std::vector<int> counts = {2, 3, 1, 2};
  const Spread spread(counts);
  for (const Algorithm algorithm : kAll) {
    for (const std::size_t chunk : {kChunkBytes, std::size_t{4096}}) {
      for (int p = 0; p < 4; ++p) {
        const ScheduleRequest request = {.kind = Kind::kAllReduce,
                                         .algorithm = algorithm,
                                         .elements = std::size_t{16} << 20,
                                         .element_bytes = 4,
                                         .chunk_bytes = chunk,
                                         .exact_folds = true};
        const Schedule schedule = make_schedule(request, spread, p).value();
        EXPECT_LE(schedule.scratch_bytes, 8 * chunk);
        for (const Step& step : schedule.steps) {
          std::size_t bytes = 0;
          for (const Slice& slice : schedule.slices_of(step)) bytes += slice.bytes;
          if (step.kind == Step::Kind::kSend) {
            ASSERT_LE(bytes, chunk);
          }
        }
      }
    }
  }
}

TEST(ScheduleTest, FormThatAnAlgorithmDoesNotHaveIsAnErrorThatNamesIt) {
  const std::vector<int> counts = {1, 1};
  const auto made =
      make_schedule({.kind = Kind::kAllToAll, .algorithm = Algorithm::kTree}, Spread(counts), 0);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kUnimplemented);
  EXPECT_NE(made.error().message().find("all_to_all has no form by the algorithm tree"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::collectives
