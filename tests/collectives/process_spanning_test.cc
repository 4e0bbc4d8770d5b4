// Groups that span processes: results to the bit of one process, differences, absentees, losses.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "millrace/collectives/group_wire.h"
#include "millrace/collectives/parcels.h"
#include "millrace/collectives/split.h"
#include "tests/collectives/sim_processes.h"
#include "tests/collectives/sim_ranks.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::DType;
using devices::Shape;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::for_each_seed;
using testing::SimProcesses;
using testing::SimRanks;
using testing::Simulation;

using Values = std::vector<float>;
using Call = std::function<Future<Buffers>(const ProcessGroup&, const Buffers&)>;

std::vector<int> draw_counts(Simulation& sim, int most_processes) {
  std::vector<int> counts(2 + sim.below(static_cast<std::uint64_t>(most_processes) - 1));
  for (int& count : counts) count = 1 + static_cast<int>(sim.below(3));
  return counts;
}

int total(const std::vector<int>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0);
}

// Values that f32 rounds when it adds them.
Values draw(Simulation& sim, std::size_t count) {
  Values values(count);
  for (float& value : values) value = (static_cast<float>(sim.below(2000)) - 1000.0F) / 7.0F;
  return values;
}

struct NamedCall {
  const char* name;
  Call call;
};

// Each has arrays whose first dimension is a multiple of the number of ranks.
std::vector<NamedCall> all_calls(int size, int root) {
  std::vector<RankPair> ring;
  for (int r = 0; r + 1 < size; ++r) ring.push_back({Rank{r}, Rank{(r + 1) % size}});
  return {
      {"all_reduce sum",
       [=](const auto& g, const auto& b) { return g.all_reduce(b, ReduceOp::kSum); }},
      {"all_reduce mean",
       [=](const auto& g, const auto& b) { return g.all_reduce(b, ReduceOp::kMean); }},
      {"all_gather", [=](const auto& g, const auto& b) { return g.all_gather(b); }},
      {"broadcast", [=](const auto& g, const auto& b) { return g.broadcast(b, Rank{root}); }},
      {"reduce_scatter",
       [](const auto& g, const auto& b) { return g.reduce_scatter(b, ReduceOp::kSum); }},
      {"all_to_all", [](const auto& g, const auto& b) { return g.all_to_all(b); }},
      {"permute", [=](const auto& g, const auto& b) { return g.collective_permute(b, ring); }},
      {"gather", [=](const auto& g, const auto& b) { return g.gather(b, Rank{root}); }},
      {"scatter", [=](const auto& g, const auto& b) { return g.scatter(b, Rank{root}); }},
  };
}

// GW-1
TEST(ProcessSpanningTest, EveryCallGivesTheBitsOfOneProcess) {
  for_each_seed(60, [](Simulation& sim) {
    const std::vector<int> counts = draw_counts(sim, 5);
    SimProcesses far(sim, counts, {.stalls = 0.001, .most_room = 1 + sim.below(100000)});
    SimRanks near(sim, total(counts));
    const auto size = far.size();
    const std::size_t most = sim.chance(0.2) ? 5000 : 50;  // long messages go without a copy
    const std::size_t first = size * (1 + sim.below(most)), second = size * (1 + sim.below(3));
    const int root = static_cast<int>(sim.below(size));
    for (const NamedCall& call : all_calls(static_cast<int>(size), root)) {
      SCOPED_TRACE(call.name);
      std::vector<Future<Buffers>> out, expected;
      for (std::size_t r = 0; r < size; ++r) {
        const Values a = draw(sim, first), b = draw(sim, second);
        out.push_back(call.call(far.member(r), {far.put(r, a), far.put(r, b)}));
        const int rank = static_cast<int>(r);
        expected.push_back(call.call(near.members[r], {near.put(rank, a), near.put(rank, b)}));
      }
      for (std::size_t r = 0; r < size; ++r) {
        const auto got = sim.run(out[r]);
        ASSERT_TRUE(got) << got.error().to_string();
        const Buffers wanted = sim.run(expected[r]).value();
        ASSERT_EQ(got->size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          ASSERT_EQ((*got)[i].shape(), wanted[i].shape());
          ASSERT_EQ(far.get(r, (*got)[i]), near.get(static_cast<int>(r), wanted[i]))
              << "rank " << r;
        }
      }
    }
    sim.finish();
  });
}

TEST(ProcessSpanningTest, EveryAlgorithmGivesAllRanksTheSameBits) {
  for_each_seed(30, [](Simulation& sim) {
    SimProcesses far(sim, draw_counts(sim, 6));
    for (const Algorithm algorithm : kAlgorithms) {
      CollectiveOptions options;
      options.algorithm = algorithm;
      std::vector<Future<Buffers>> out;
      const std::size_t count = 1 + sim.below(5000);
      double sum = 0;
      for (std::size_t r = 0; r < far.size(); ++r) {
        const Values values = draw(sim, count);
        sum += values[0];
        out.push_back(far.member(r).all_reduce({far.put(r, values)}, ReduceOp::kSum, options));
      }
      const Values one = far.get(0, sim.run(out[0]).value()[0]);
      EXPECT_NEAR(one[0], sum, 0.01);
      for (std::size_t r = 1; r < far.size(); ++r)
        ASSERT_EQ(far.get(r, sim.run(out[r]).value()[0]), one) << to_string(algorithm);
    }
    sim.finish();
  });
}

TEST(ProcessSpanningTest, RanksAgreeOnNumbers) {
  for_each_seed(20, [](Simulation& sim) {
    SimProcesses far(sim, draw_counts(sim, 12));
    std::vector<std::int64_t> values;
    for (std::size_t r = 0; r < far.size(); ++r)
      values.push_back(static_cast<std::int64_t>(sim.random()()));
    for (const AgreeOp op : {AgreeOp::kMin, AgreeOp::kMax, AgreeOp::kAnd, AgreeOp::kSum}) {
      std::int64_t expected = values[0];
      std::vector<Future<std::int64_t>> out;
      for (std::size_t r = 0; r < far.size(); ++r) {
        const std::int64_t v = values[r];
        if (r > 0) {
          expected = op == AgreeOp::kMin   ? std::min(expected, v)
                     : op == AgreeOp::kMax ? std::max(expected, v)
                     : op == AgreeOp::kAnd
                         ? expected & v
                         : static_cast<std::int64_t>(static_cast<std::uint64_t>(expected) +
                                                     static_cast<std::uint64_t>(v));
        }
        out.push_back(far.member(r).agree(op, v));
      }
      for (const auto& one : out) EXPECT_EQ(sim.run(one).value(), expected) << to_string(op);
    }
    sim.finish();
  });
}

// The calls of the ranks, in place of one that all make; what each of them gets.
std::vector<Error> errors_of(Simulation& sim, const std::vector<Future<Buffers>>& calls) {
  std::vector<Error> errors;
  for (const auto& call : calls) {
    const auto result = sim.run(call);
    EXPECT_FALSE(result.has_value());
    errors.push_back(result ? Error(ErrorCode::kUnknown, "it has succeeded") : result.error());
  }
  return errors;
}

TEST(ProcessSpanningTest, ADifferenceIsNamedOnBothSidesWithBothCalls) {
  for_each_seed(40, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1, 1});
    const Buffer a0 = far.put(0, Values{1, 2, 3}), a1 = far.put(1, Values{1, 2, 3}),
                 a2 = far.put(2, Values{1, 2, 3});
    const auto& g = [&](std::size_t r) -> const ProcessGroup& { return far.member(r); };
    struct Case {
      std::vector<Future<Buffers>> calls;
      std::string one, other;
    };
    std::vector<Case> cases;
    cases.push_back({{g(0).all_reduce({a0}, ReduceOp::kSum), g(1).all_reduce({a1}, ReduceOp::kMax),
                      g(2).all_reduce({a2}, ReduceOp::kSum)},
                     "all_reduce(sum",
                     "all_reduce(max"});
    cases.push_back({{g(0).all_gather({a0}), g(1).all_gather({a1}),
                      g(2).all_gather({far.put<std::int32_t>(2, {1, 2, 3})})},
                     "tensor<3xf32>",
                     "tensor<3xi32>"});
    // Each waits for the other, and nothing is sent: a probe finds it (GW-4).
    cases.push_back({{g(0).broadcast({a0}, Rank{1}), g(1).broadcast({a1}, Rank{0}),
                      g(2).broadcast({a2}, Rank{1})},
                     "root 1",
                     "root 0"});
    cases.push_back({{g(0).all_gather({a0}), g(1).all_gather({far.put(1, Values{1, 2})}),
                      g(2).all_gather({a2})},
                     "tensor<3xf32>",
                     "tensor<2xf32>"});
    for (const Case& one : cases) {
      for (const Error& error : errors_of(sim, one.calls)) {
        EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition) << error.to_string();
        EXPECT_NE(error.message().find(one.one), std::string::npos) << error.to_string();
        EXPECT_NE(error.message().find(one.other), std::string::npos) << error.to_string();
        ASSERT_NE(error.detail<Culprits>(), nullptr) << error.to_string();
        EXPECT_EQ(error.detail<Culprits>()->kind, Culprits::Kind::kMismatch);
      }
    }
    // The group goes on (GW-2).
    std::vector<Future<Buffers>> sums;
    for (std::size_t r = 0; r < 3; ++r)
      sums.push_back(g(r).all_reduce({far.put(r, Values{1})}, ReduceOp::kSum));
    for (std::size_t r = 0; r < 3; ++r)
      EXPECT_EQ(far.get(r, sim.run(sums[r]).value()[0]), Values{3});
    sim.finish();
  });
}

// Each gives its own and gets nothing: both have their results before they hear of the other call.
TEST(ProcessSpanningTest, ADifferenceThatComesOutTooLateFailsTheGroup) {
  for_each_seed(20, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1});
    std::vector<Future<Buffers>> calls;
    for (std::size_t r = 0; r < 2; ++r) {
      calls.push_back(far.member(r).broadcast({far.put(r, Values{1})}, Rank{static_cast<int>(r)}));
    }
    for (const auto& call : calls) static_cast<void>(sim.run(call));
    sim.run_for(seconds(1));
    for (std::size_t r = 0; r < 2; ++r) {
      const auto next = sim.run(far.member(r).barrier());
      ASSERT_FALSE(next);
      EXPECT_NE(next.error().message().find("broadcast(root 0"), std::string::npos)
          << next.error().to_string();
      EXPECT_NE(next.error().message().find("broadcast(root 1"), std::string::npos);
    }
    sim.finish();
  });
}

TEST(ProcessSpanningTest, ManyAbsenteesAreNamedWhereverTheyAre) {
  for_each_seed(10, [](Simulation& sim) {
    SimProcesses far(sim, {3, 6, 5});
    std::vector<Future<Buffers>> calls;
    for (const std::size_t r : {0U, 1U, 2U, 12U}) {
      calls.push_back(
          far.member(r).all_reduce({far.put(r, Values{1})}, ReduceOp::kSum,
                                   r < 3 ? far.within(seconds(1)) : CollectiveOptions()));
    }
    const std::vector<Error> errors = errors_of(sim, calls);
    std::vector<Rank> absent;
    for (const int r : {3, 4, 5, 6, 7, 8, 9, 10, 11, 13}) absent.push_back(Rank{r});
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_NE(errors[i].detail<Culprits>(), nullptr);
      EXPECT_EQ(errors[i].detail<Culprits>()->ranks, absent) << errors[i].to_string();
    }
    sim.finish();
  });
}

// It has no part in the others' barrier any more, though they have no link to it.
TEST(ProcessSpanningTest, AProcessThatIsGoneEndsTheCallsThatNeedIt) {
  for_each_seed(30, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1, 1});
    EXPECT_TRUE(sim.run(far.member(0).close()).has_value());
    EXPECT_TRUE(sim.run(far.mesh(0)->close()).has_value());
    const ListOf<Shape> shapes = {Shape(DType::kF32, {3})};
    const auto one = far.member(1).broadcast(shapes, Rank{0}),
               two = far.member(2).broadcast(shapes, Rank{0});
    for (const auto& call : {one, two}) {
      const auto result = sim.run(call);
      ASSERT_FALSE(result);
      EXPECT_NE(result.error().message().find("rank 0"), std::string::npos)
          << result.error().to_string();
    }
    sim.finish();
  });
}

TEST(ProcessSpanningTest, AtADeadlineWhoHasNotCalledIsNamedEverywhere) {
  for_each_seed(30, [](Simulation& sim) {
    SimProcesses far(sim, {1, 2, 1});
    const Algorithm algorithm = sim.chance(0.5) ? Algorithm::kDirect : Algorithm::kTree;
    CollectiveOptions options = far.within(milliseconds(300));
    options.algorithm = algorithm;
    std::vector<Future<Buffers>> calls;
    for (const std::size_t r : {0U, 1U, 3U})
      calls.push_back(far.member(r).all_reduce({far.put(r, Values{1})}, ReduceOp::kSum, options));
    for (const Error& error : errors_of(sim, calls)) {
      EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
      ASSERT_NE(error.detail<Culprits>(), nullptr) << error.to_string();
      EXPECT_EQ(error.detail<Culprits>()->ranks, std::vector<Rank>{Rank{2}}) << error.to_string();
      EXPECT_NE(error.message().find("rank 2 did not call it"), std::string::npos)
          << error.to_string();
    }
    // The one that comes late hears the same.
    const auto late = sim.run(far.member(2).all_reduce({far.put(2, Values{1})}, ReduceOp::kSum));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), ErrorCode::kDeadlineExceeded) << late.error().to_string();
    sim.finish();
  });
}

// A call has ended by what another process said; its own deadline passes before the waiting ranks
// have heard of it.
TEST(ProcessSpanningTest, ADeadlineHasNothingToAddToACallThatHasEnded) {
  Simulation sim(11);
  SimProcesses far(sim, {1, 1});
  const std::vector<GroupMember> members = {{.process = 0}, {.process = 1}};
  std::vector<std::string> heard;
  std::vector<Ref<GroupWire>> wires;
  for (int process = 0; process < 2; ++process) {
    wires.push_back(GroupWire::make(far.mesh(static_cast<std::size_t>(process)), {"wires", 0},
                                    members, process));
    wires.back()->start({.ended = [&heard](std::uint64_t /*sequence*/, const Error& error) {
      heard.push_back(error.message());
    }});
  }
  const CollectiveCall barrier{.kind = CollectiveCall::Kind::kBarrier};
  Parcels parcels = make_parcels(barrier, wires[0]->spread(), 0, {}).value();
  const auto waits = wires[0]->run({0, barrier, std::move(parcels.runs)});
  wires[1]->end(0, Error(ErrorCode::kDeadlineExceeded, "rank 1 did not call it"));
  EXPECT_EQ(sim.run(waits).error().message(), "rank 1 did not call it");
  wires[0]->expire(0, "too late: ");
  sim.run_for(seconds(1));
  EXPECT_TRUE(heard.empty()) << heard.front();
  for (const Ref<GroupWire>& wire : wires) EXPECT_TRUE(sim.run(wire->close()));
  sim.finish();
}

TEST(ProcessSpanningTest, ALostProcessEndsCallsByItsName) {
  for_each_seed(30, [](Simulation& sim) {
    SimProcesses far(sim, {1, 2, 1});
    std::vector<Future<Buffers>> calls;
    for (const std::size_t r : {0U, 3U})
      calls.push_back(far.member(r).all_reduce({far.put(r, Values{1})}, ReduceOp::kSum));
    sim.run_for(milliseconds(10));
    for (const std::size_t p : {0U, 2U})
      far.mesh(p)->declare_lost(1, Error(ErrorCode::kUnavailable, "killed by signal 9"));
    for (const Error& error : errors_of(sim, calls)) {
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
      EXPECT_NE(error.message().find("rank 1"), std::string::npos) << error.to_string();
      EXPECT_NE(error.message().find("pid 101"), std::string::npos) << error.to_string();
    }
    const auto later = sim.run(far.member(0).barrier());  // GW-5
    ASSERT_FALSE(later);
    EXPECT_NE(later.error().message().find("killed by signal 9"), std::string::npos);
    sim.finish();
  });
}

TEST(ProcessSpanningTest, AFailedRankIsNamedInOtherProcesses) {
  Simulation sim(11);
  SimProcesses far(sim, {2, 1});
  const auto waits = far.member(2).barrier();
  sim.run_for(milliseconds(10));
  far.member(0).fail_rank(Rank{1}, Error(ErrorCode::kDataLoss, "its memory is gone"));
  const auto result = sim.run(waits);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("its memory is gone"), std::string::npos);
  const auto meets = sim.run(far.member(2).rendezvous("t", ""));
  ASSERT_FALSE(meets);
  EXPECT_NE(meets.error().message().find("its memory is gone"), std::string::npos);
  sim.finish();
}

TEST(ProcessSpanningTest, RendezvousSpansProcessesWithLongPayloads) {
  for_each_seed(20, [](Simulation& sim) {
    SimProcesses far(sim, draw_counts(sim, 12), {.stalls = 0, .most_room = 1 << 20});
    std::vector<std::string> payloads;
    std::vector<Future<Payloads>> met;
    for (std::size_t r = 0; r < far.size(); ++r)
      payloads.emplace_back(sim.below(100000), static_cast<char>('a' + r % 26));
    for (std::size_t r = 0; r < far.size(); ++r)
      met.push_back(far.member(r).rendezvous("tag", payloads[r]));
    for (const auto& one : met) EXPECT_EQ(*sim.run(one).value(), payloads);
    sim.finish();
  });
}

TEST(ProcessSpanningTest, SplitGroupsAreInTheOrderOfTheirKeysWhereverTheirRanksAre) {
  for_each_seed(30, [](Simulation& sim) {
    SimProcesses far(sim, draw_counts(sim, 4));
    const std::size_t size = far.size();
    std::vector<SplitPlace> places;
    for (std::size_t r = 0; r < size; ++r)
      places.push_back({static_cast<int>(sim.below(2)), static_cast<int>(sim.below(5))});
    std::vector<Future<ProcessGroup>> made;
    for (std::size_t r = 0; r < size; ++r)
      made.push_back(far.member(r).split(places[r].color, places[r].key));
    std::vector<ProcessGroup> members;
    for (const auto& one : made) members.push_back(sim.run(one).value());
    std::vector<Future<Buffers>> gathered(size);
    for (std::size_t r = 0; r < size; ++r)
      gathered[r] = members[r].all_gather({far.put(r, Values{static_cast<float>(r)})});
    for (const SubGroup& part : sub_groups(places)) {
      Values expected;
      for (const Rank rank : part.ranks) expected.push_back(static_cast<float>(index(rank)));
      for (std::size_t i = 0; i < part.ranks.size(); ++i) {
        const std::size_t r = at(part.ranks[i]);
        EXPECT_EQ(index(members[r].rank()), static_cast<int>(i));
        EXPECT_EQ(far.get(r, sim.run(gathered[r]).value()[0]), expected);
      }
    }
    for (const ProcessGroup& member : members) EXPECT_TRUE(sim.run(member.close()).has_value());
    sim.finish();
  });
}

// It has the name of the group's actor, so that this cannot be made.
struct Occupant final : actors::Actor {};
TEST(ProcessSpanningTest, ASplitThatFailsInAProcessEndsAllItsGroupsElsewhere) {
  for_each_seed(20, [](Simulation& sim) {
    SimProcesses far(sim, {2, 1});
    const auto occupant = far.processes[0].actors->spawn<Occupant>("group g/0/0 0 from rank 0", {});
    ASSERT_TRUE(occupant) << occupant.error().to_string();
    std::vector<Future<ProcessGroup>> made;
    for (const std::size_t r : {0U, 1U, 2U}) made.push_back(far.member(r).split(r == 0 ? 0 : 1, 0));
    for (const std::size_t r : {0U, 1U})
      EXPECT_EQ(sim.run(made[r]).error().code(), ErrorCode::kAlreadyExists);
    const ProcessGroup waits = sim.run(made[2]).value();
    const Future<void> passed = waits.barrier();
    sim.run_for(seconds(5));
    EXPECT_TRUE(passed.ready()) << "rank 0 of its group will not come";
    EXPECT_TRUE(sim.run(waits.close()).has_value());
    EXPECT_EQ(sim.run(passed).error().code(), ErrorCode::kCancelled);
    sim.finish();
  });
}

TEST(ProcessSpanningTest, GroupsInAnotherOrderHoldUpNoOther) {
  for_each_seed(20, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1}, {.stalls = 0, .most_room = 1 << 20});
    const ProcessGroup a0 = far.member(0), a1 = far.member(1);
    far.join("other");
    const ProcessGroup b0 = far.member(0), b1 = far.member(1);
    const std::size_t long_array = std::size_t{3} << 20;  // more than a link holds back
    const Buffer sent = far.put(0, Values(long_array, 7));
    const auto a = a0.broadcast({sent}, Rank{0});
    const auto b = b0.barrier();
    ASSERT_TRUE(sim.run(b1.barrier()).has_value());  // GW-3: before a is called here
    ASSERT_TRUE(sim.run(b).has_value());
    const ListOf<Shape> shapes = {Shape(DType::kF32, {static_cast<std::int64_t>(long_array)})};
    const Buffers got = sim.run(a1.broadcast(shapes, Rank{0})).value();
    EXPECT_EQ(far.get(1, got[0]), Values(long_array, 7));
    ASSERT_TRUE(sim.run(a).has_value());
    sim.finish();
  });
}

// GW-6: what the hooks would call is gone by then, which the sanitizers see.
TEST(ProcessSpanningTest, AClosedGroupEndsWhatNeedsItsRanksAndItsNameComesAgain) {
  for_each_seed(30, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1, 1});
    const auto waits = far.member(0).barrier();
    sim.run_for(milliseconds(sim.below(20)));
    const auto closed = far.member(1).close();
    const auto result = sim.run(waits);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::kCancelled) << result.error().to_string();
    EXPECT_TRUE(sim.run(closed).has_value());
    for (const std::size_t r : {0U, 2U}) EXPECT_TRUE(sim.run(far.member(r).close()).has_value());
    far.join("g", 1);
    std::vector<Future<void>> all;
    for (std::size_t r = 0; r < 3; ++r) all.push_back(far.member(r).barrier());
    for (const auto& one : all) EXPECT_TRUE(sim.run(one).has_value());
    sim.finish();
  });
}

// No barrier at the end: a process that has its results leaves, and takes nothing from the others.
TEST(ProcessSpanningTest, AProcessThatLeavesFirstIsNoFailureOfTheOthers) {
  for_each_seed(60, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1, 1, 1});
    const bool reduces = sim.chance(0.5);
    std::vector<Future<void>> left;
    std::vector<Future<Buffers>> all;
    for (std::size_t r = 0; r < 4; ++r) {
      const Buffers mine = {far.put(r, Values(50'000, 1))};
      all.push_back(reduces ? far.member(r).all_reduce(mine, ReduceOp::kSum)
                            : far.member(r).broadcast(mine, Rank{0}));
      left.push_back(
          all.back().then(sim.executor(), [&far, r](const Result<Buffers>& result) -> Future<void> {
            EXPECT_TRUE(result.has_value()) << result.error().to_string();
            const Future<void> closed = far.member(r).close();
            return closed.then(inline_executor(),
                               [mesh = far.mesh(r)](const Result<void>&) { return mesh->close(); });
          }));
      sim.run_for(std::chrono::microseconds(sim.below(3000)));
    }
    for (const auto& one : left) EXPECT_TRUE(sim.run(one).has_value());
    sim.finish();
  });
}

// RV-6: no deadline, and a process that closes the group, or its mesh, at any moment.
TEST(ProcessSpanningTest, NoRendezvousWaitsForAProcessThatLeaves) {
  for_each_seed(80, [](Simulation& sim) {
    SimProcesses far(sim, draw_counts(sim, 30));
    const std::size_t leaver = sim.below(std::min<std::size_t>(far.processes.size(), 9));
    std::vector<Future<Payloads>> met;
    for (std::size_t r = 0; r < far.size(); ++r) {
      if (far.places[r].process != leaver) met.push_back(far.member(r).rendezvous("m", ""));
    }
    if (sim.chance(0.5)) far.processes[leaver].members[0].rendezvous("m", "").ignore();
    sim.run_for(std::chrono::microseconds(sim.below(2000)));
    const bool closes_group = sim.chance(0.7);
    if (closes_group) {
      EXPECT_TRUE(sim.run(far.processes[leaver].members[0].close()).has_value());
    }
    if (!closes_group || sim.chance(0.5)) {
      EXPECT_TRUE(sim.run(far.mesh(leaver)->close()).has_value());
    }
    for (const auto& one : met) {
      const Result<Payloads> result = sim.run(one);
      if (result) continue;
      EXPECT_EQ(result.error().code(), ErrorCode::kCancelled) << result.error().to_string();
      EXPECT_NE(result.error().message().find("rendezvous 'm'"), std::string::npos);
      EXPECT_NE(result.error().message().find("has closed the group"), std::string::npos);
    }
    sim.finish();
  });
}

// What has met is no failure of a process that has its payloads and leaves.
TEST(ProcessSpanningTest, ARendezvousThatIsCompleteStaysSoWhereARankLeaves) {
  for_each_seed(60, [](Simulation& sim) {
    SimProcesses far(sim, std::vector<int>(2 + sim.below(29), 1));
    std::vector<Future<void>> left;
    for (std::size_t r = 0; r < far.size(); ++r) {
      const auto leave = [&far, r](const Result<Payloads>& result) {
        EXPECT_TRUE(result.has_value()) << result.error().to_string();
        const Future<void> closed = far.member(r).close();
        return closed.then(inline_executor(),
                           [mesh = far.mesh(r)](const Result<void>&) { return mesh->close(); });
      };
      left.push_back(far.member(r)
                         .rendezvous("m", std::string(sim.below(3000), 'x'))
                         .then(sim.executor(), leave));
    }
    for (const auto& one : left) EXPECT_TRUE(sim.run(one).has_value());
    sim.finish();
  });
}

// A process of the job that sends what it likes to a member: nothing is written, read or held
// beyond what may be, every call ends, and the group of the others goes on or fails by its name.
TEST(ProcessSpanningTest, FramesOfAHostileMemberEndNoProcess) {
  for_each_seed(200, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1});
    const auto mine = far.member(0).all_reduce({far.put(0, Values(100, 1))}, ReduceOp::kSum,
                                               far.within(seconds(5)));
    const auto meets = far.member(0).rendezvous("tag", "payload", {}, far.within(seconds(5)).call);
    const std::uint64_t print = fingerprint(
        {CollectiveCall::Kind::kAllReduce, ReduceOp::kSum, Rank{0}, {Shape(DType::kF32, {100})}});
    for (int i = 0; i < 20; ++i) {
      net::Frame frame;
      frame.header.kind = kGroupFrame;
      frame.header.flags = static_cast<std::uint8_t>(sim.below(kGroupSayings + 1));
      frame.header.channel = group_channel("g", 0, 0);
      frame.header.sequence = sim.below(3);
      for (std::uint64_t& word : frame.header.words)
        word = sim.chance(0.8) ? sim.below(3) : sim.random()();
      if (sim.chance(0.5)) frame.header.words[0] = print;
      if (sim.chance(0.9)) frame.header.words[1] = 1;
      frame.payload.resize(sim.chance(0.3) ? 200 : sim.below(600));
      for (std::byte& byte : frame.payload) byte = static_cast<std::byte>(sim.below(256));
      far.mesh(1)->send(0, std::move(frame)).ignore();
      sim.run_for(milliseconds(sim.below(3)));
    }
    const auto result = sim.run(mine);
    if (result) {
      EXPECT_EQ(far.get(0, (*result)[0]).size(), 100u);
    }
    static_cast<void>(sim.run(meets));
    sim.finish();
  });
}

}  // namespace
}  // namespace millrace::collectives
