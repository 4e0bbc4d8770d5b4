// The matrix of failures in simulation, a row a test, with 100 seeds each, and 10 with a sanitizer.
// With real processes: tools/failure_rows. What strangers say at the doors of a job (rows 12, 13,
// 19), and what the system refuses (row 21), is in tests/core/net and tests/fuzz; a clock that
// jumps (row 22) is none that anything here reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/collectives/sim_job.h"

namespace millrace::collectives {
namespace {

using devices::Buffers;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::SimJob;
using testing::Simulation;

constexpr milliseconds kFlood(250);  // from what is seen until all know
using Calls = std::vector<Future<Buffers>>;

void kill_in_an_all_reduce(SimJob& job, int victim) {
  Simulation& sim = job.sim;
  job.expect_sums();
  std::vector<Future<ProcessGroup>> made;
  for (int rank = 0; rank < 4; ++rank) made.push_back(job.member(rank).split(rank / 2, rank));
  std::vector<ProcessGroup> parts;
  for (const auto& one : made) parts.push_back(sim.run(one).value());
  std::vector<std::pair<int, Future<Buffers>>> calls;
  const std::size_t count = 1 + sim.below(5000);
  for (int rank = 0; rank < 4; ++rank)
    if (rank != victim) calls.emplace_back(rank, job.reduce(rank, count));
  sim.run_for(std::chrono::microseconds(sim.below(20'000)));
  job.kill(victim);
  const std::string name = "rank " + std::to_string(victim) + " (host node-" +
                           std::to_string(victim) + ", pid " +
                           std::to_string(SimJob::pid_of(victim)) + ")";
  for (const auto& [rank, call] : calls) {
    job.expect_error(call, ErrorCode::kUnavailable, {name}, kFlood);
    job.expect_error(job.reduce(rank), ErrorCode::kUnavailable, {name}, kFlood);
  }
  for (int rank = 0; rank < 4; ++rank) {  // a part without it goes on
    if (rank / 2 != victim / 2 && rank % 2 == 0) {
      const auto one = job.reduce(parts[static_cast<std::size_t>(rank)], rank);
      const auto other = job.reduce(parts[static_cast<std::size_t>(rank + 1)], rank + 1);
      job.expect_sum(static_cast<std::size_t>(rank), one, 2);
      job.expect_sum(static_cast<std::size_t>(rank + 1), other, 2);
    }
  }
  for (const ProcessGroup& part : parts) EXPECT_TRUE(sim.run(part.close()).has_value());
}

void kill_a_leaf(Simulation& sim) {
  SimJob job(sim, 4);
  kill_in_an_all_reduce(job, 3);
  job.finish();
}

void kill_rank_0(Simulation& sim) {
  SimJob job(sim, 4);
  kill_in_an_all_reduce(job, 0);
  job.finish();
}

void stop_for_less_than_silence(Simulation& sim) {
  SimJob job(sim, 3);
  job.expect_sums();
  Calls calls;
  for (int rank = 0; rank < 3; ++rank) calls.push_back(job.reduce(rank, 3000));
  sim.run_for(milliseconds(sim.below(5)));
  job.hold_all(1);
  sim.run_for(milliseconds(600));
  job.network.release();
  for (std::size_t rank = 0; rank < 3; ++rank) job.expect_sum(rank, calls[rank], 3);
  sim.run_for(seconds(5));
  EXPECT_TRUE(job.suspects.empty());
  job.finish();
}

void stop_for_ever(Simulation& sim) {
  SimJob job(sim, 3);
  job.expect_sums();
  const Calls calls = {job.reduce(0), job.reduce(2)};
  sim.run_for(milliseconds(sim.below(100)));
  const TimePoint begin = sim.now();
  job.hold_all(1);
  for (const auto& call : calls)
    job.expect_error(call, ErrorCode::kUnavailable, {"rank 1 (", "silent"},
                     SimJob::kSilentAfter + kFlood);
  EXPECT_GE(sim.now() - begin, SimJob::kSilentAfter * 9 / 10);
  EXPECT_EQ(job.suspects, std::vector<std::uint32_t>{1});
  EXPECT_EQ(job.silent, std::vector<std::uint32_t>{1});
  job.finish();
}

void lose_and_repeat(Simulation& sim) {
  // A piece in five comes up to a second later.
  SimJob job(sim, 3, {.stalls = 0.2}, seconds(10));
  for (int i = 0; i < 3; ++i) job.expect_sums(100);
  EXPECT_TRUE(job.silent.empty());
  job.finish();
}

void cut_a_link(Simulation& sim) {
  SimJob job(sim, 3);
  job.expect_sums();
  Calls calls;
  job.hold_link(1, 2);
  for (int rank = 0; rank < 3; ++rank) calls.push_back(job.reduce(rank));
  job.expect_error(calls[1], ErrorCode::kUnavailable, {"is lost", "silent"}, milliseconds(2500));
  job.expect_error(calls[2], ErrorCode::kUnavailable, {"is lost", "silent"}, milliseconds(500));
  EXPECT_TRUE(job.silent.empty()) << "the host hears both";
  job.finish();
}

void cut_a_rank_off(Simulation& sim) {
  SimJob job(sim, 3);
  job.expect_sums();
  job.hold_all(2);
  Calls calls;
  for (int rank = 0; rank < 3; ++rank) calls.push_back(job.reduce(rank));
  job.expect_error(calls[2], ErrorCode::kUnavailable, {"quorum lost", "rank 2 ("},
                   SimJob::kSilentAfter);
  EXPECT_TRUE(job.silent.empty()) << "it knows before it is ended";
  for (const int rank : {0, 1})
    job.expect_error(calls[static_cast<std::size_t>(rank)], ErrorCode::kUnavailable,
                     {"rank 2 (", "silent"}, milliseconds(600));
  EXPECT_EQ(job.silent, std::vector<std::uint32_t>{2});
  job.finish();
}

void cut_one_way(Simulation& sim) {
  SimJob job(sim, 2);
  job.expect_sums();
  job.hold(SimJob::pid_of(0), SimJob::pid_of(1));
  // Rank 0 has what it needs for this one.
  job.reduce(0).ignore();
  job.expect_error(job.reduce(1), ErrorCode::kUnavailable, {"rank 0 (", "silent"},
                   milliseconds(2500));
  job.expect_error(job.reduce(0), ErrorCode::kUnavailable, {"rank 1 (", "is lost"}, kFlood);
  job.finish();
}

void half_open(Simulation& sim) {
  SimJob job(sim, 2);
  job.expect_sums();
  job.hold_link(0, 1);
  const Calls calls = {job.reduce(0), job.reduce(1)};
  sim.run_for(milliseconds(sim.below(1500)));
  EXPECT_FALSE(calls[0].ready() || calls[1].ready());
  job.network.cut(SimJob::pid_of(0), SimJob::pid_of(1));
  for (std::size_t rank = 0; rank < 2; ++rank)
    job.expect_error(calls[rank], ErrorCode::kUnavailable,
                     {"rank " + std::to_string(1 - rank) + " (", "is lost"}, kFlood);
  job.finish();
}

void read_slowly(Simulation& sim) {
  SimJob job(sim, 2, {.most_delay = milliseconds(100), .stalls = 0, .most_room = 1000});
  const TimePoint begin = sim.now();
  job.expect_sums(20'000);
  EXPECT_GT(sim.now() - begin, SimJob::kSilentAfter);
  EXPECT_TRUE(job.silent.empty()) << "bytes came all the time";
  const CollectiveOptions options = job.far.within(milliseconds(400));
  const Calls calls = {job.reduce(job.member(0), 0, 20'000, options),
                       job.reduce(job.member(1), 1, 20'000, options)};
  // Who waits for whom, or whose answer is under way still.
  for (const auto& call : calls)
    job.expect_error(call, ErrorCode::kDeadlineExceeded, {"rank "}, seconds(60));
  job.finish();
}

void skip_a_call(Simulation& sim) {
  SimJob job(sim, 3);
  const CollectiveOptions options = job.far.within(seconds(1));
  const Calls calls = {job.reduce(job.member(0), 0, 1, options),
                       job.reduce(job.member(2), 2, 1, options)};
  for (const auto& call : calls)
    job.expect_error(call, ErrorCode::kDeadlineExceeded, {"rank 1 did not call it"}, seconds(2));
  job.finish();
}

void differ(Simulation& sim) {
  SimJob job(sim, 3);
  const int other = static_cast<int>(sim.below(3));
  Calls calls;
  for (int rank = 0; rank < 3; ++rank) {
    const auto ones = job.far.put(static_cast<std::size_t>(rank), std::vector<float>(3, 1));
    calls.push_back(
        job.member(rank).all_reduce({ones}, rank == other ? ReduceOp::kMax : ReduceOp::kSum));
  }
  for (const auto& call : calls)
    job.expect_error(call, ErrorCode::kFailedPrecondition,
                     {"rank " + std::to_string(other), "all_reduce(max", "all_reduce(sum"},
                     seconds(10));
  job.finish();
}

void come_twice(Simulation& sim) {
  SimJob job(sim, 2);
  net::MeshOptions options = job.far.job.options(1);
  options.incarnation = net::testing::drawn(77);
  options.pid = 177;
  auto& second = job.far.job.add(options);
  const auto started = sim.run(job.far.job.start(second));
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code(), ErrorCode::kAlreadyExists);
  ASSERT_NE(started.error().detail<net::JobMember>(), nullptr);
  EXPECT_EQ(started.error().detail<net::JobMember>()->pid, SimJob::pid_of(1));
  const auto joined = sim.run(net::Job::join(*second.transport, job.options(1, 177)));
  ASSERT_FALSE(joined.has_value());
  EXPECT_EQ(joined.error().code(), ErrorCode::kAlreadyExists);
  job.expect_sums();
  EXPECT_TRUE(sim.run(second.mesh->close()).has_value());
  job.finish();
}

void come_late(Simulation& sim) {
  SimJob job(sim, 3);
  std::vector<Future<std::vector<ProcessGroup>>> met = {job.far.meet(0, "late", 0),
                                                        job.far.meet(1, "late", 0)};
  sim.run_for(seconds(20));
  EXPECT_FALSE(met[0].ready() || met[1].ready());
  met.push_back(job.far.meet(2, "late", 0));
  for (const auto& one : met) {
    const auto members = sim.run(one);
    ASSERT_TRUE(members.has_value()) << members.error().to_string();
    sim.on_finish("group", [member = (*members)[0]] { return member.close(); });
  }
  job.finish();
}

void never_come(Simulation& sim) {
  SimJob job(sim, 4);
  CallOptions call;
  call.deadline = sim.now() + seconds(1);
  const auto missing = static_cast<std::size_t>(sim.below(4));
  std::vector<Future<std::vector<ProcessGroup>>> met;
  for (std::size_t p = 0; p < 4; ++p)
    if (p != missing) met.push_back(job.far.meet(p, "never", 0, call));
  for (const auto& one : met) {
    const auto members = sim.run(one);
    ASSERT_FALSE(members.has_value());
    EXPECT_EQ(members.error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_NE(members.error().message().find("rank " + std::to_string(missing)), std::string::npos)
        << members.error().to_string();
  }
  job.finish();
}

void restart_before_it_is_declared(Simulation& sim) {
  SimJob job(sim, 3);
  job.expect_sums();
  const Calls calls = {job.reduce(0), job.reduce(2)};
  job.network.kill(SimJob::pid_of(1));  // and launch has not seen it
  sim.run_for(milliseconds(10));
  const auto transport = job.network.make_transport(::geteuid(), 177);
  const auto joined = sim.run(net::Job::join(*transport, job.options(1, 177)));
  ASSERT_TRUE(joined.has_value()) << joined.error().to_string();
  for (const auto& call : calls)
    job.expect_error(call, ErrorCode::kUnavailable, {"rank 1 (host node-1, pid 101)"}, kFlood);
  sim.run_for(seconds(5));
  EXPECT_TRUE(job.silent.empty()) << "the new one gives signs of life";
  EXPECT_TRUE(sim.run((*joined)->close()).has_value());
  job.finish();
}

void leave_first(Simulation& sim) {
  SimJob job(sim, 4);
  Calls calls;
  for (int rank = 0; rank < 4; ++rank) calls.push_back(job.reduce(rank, 1 + 500 * 7));
  std::vector<Future<void>> left;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    left.push_back(
        calls[rank].then(sim.executor(), [&job, rank](const Result<Buffers>& sum) -> Future<void> {
          EXPECT_TRUE(sum.has_value()) << sum.error().to_string();
          const Future<void> closed = job.far.member(rank).close();
          return closed
              .then(inline_executor(),
                    [mesh = job.far.mesh(rank)](Result<void>) { return mesh->close(); })
              .then(inline_executor(),
                    [member = job.jobs[rank]](Result<void>) { return member->close(); });
        }));
  }
  for (const auto& one : left) EXPECT_TRUE(sim.run(one).has_value());
  for (const auto& one : job.jobs) EXPECT_TRUE(sim.run(one->failure()).has_value());
  job.finish();
}

// A rank computes for a minute before it calls; its signs of life go on.
void block_the_users_thread(Simulation& sim) {
  SimJob job(sim, 2);
  job.expect_sums();
  const auto waits = job.reduce(0);
  sim.run_for(std::chrono::minutes(1));
  EXPECT_FALSE(waits.ready());
  EXPECT_TRUE(job.suspects.empty());
  const auto late = job.reduce(1);
  job.expect_sum(0, waits, 2);
  job.expect_sum(1, late, 2);
  job.finish();
}

void die_before_a_subgroups_first_call(Simulation& sim) {
  SimJob job(sim, 3);
  std::vector<Future<ProcessGroup>> made;
  for (int rank = 0; rank < 3; ++rank) made.push_back(job.member(rank).split(rank % 2, rank));
  std::vector<ProcessGroup> parts;
  for (const auto& one : made) parts.push_back(sim.run(one).value());
  job.kill(2);
  sim.run_for(milliseconds(sim.below(1000)));
  job.expect_error(job.reduce(parts[0], 0), ErrorCode::kUnavailable, {"rank 2 (", "pid 102"},
                   kFlood);
  job.expect_sum(1, job.reduce(parts[1], 1), 1);
  for (const ProcessGroup& part : parts) EXPECT_TRUE(sim.run(part.close()).has_value());
  job.finish();
}

void interleave_two_groups(Simulation& sim) {
  SimJob job(sim, 3);
  std::vector<ProcessGroup> firsts, seconds_of;
  for (int rank = 0; rank < 3; ++rank) firsts.push_back(job.member(rank));
  job.far.join("other");
  for (int rank = 0; rank < 3; ++rank) seconds_of.push_back(job.member(rank));
  std::vector<std::pair<std::size_t, Future<Buffers>>> calls;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    int left[] = {10, 10};
    while (left[0] + left[1] > 0) {
      std::size_t which = sim.below(2);
      if (left[which] == 0) which = 1 - which;
      --left[which];
      const auto& group = which == 0 ? firsts[rank] : seconds_of[rank];
      calls.emplace_back(rank, job.reduce(group, static_cast<int>(rank), 100));
    }
  }
  for (const auto& [rank, call] : calls) job.expect_sum(rank, call, 3);
  job.finish();
}

struct Row {
  const char* name;
  void (*run)(Simulation&);
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class FailureRowsTest : public ::testing::TestWithParam<Row> {};

TEST_P(FailureRowsTest, IsMet) { testing::for_each_seed(100, GetParam().run); }

INSTANTIATE_TEST_SUITE_P(
    Matrix, FailureRowsTest,
    ::testing::Values(Row{"Row1", kill_a_leaf}, Row{"Row2", kill_rank_0},
                      Row{"Row3", stop_for_less_than_silence}, Row{"Row4", stop_for_ever},
                      Row{"Row5", lose_and_repeat}, Row{"Row6ALink", cut_a_link},
                      Row{"Row6ARank", cut_a_rank_off}, Row{"Row7", cut_one_way},
                      Row{"Row8", half_open}, Row{"Row9", read_slowly}, Row{"Row10", skip_a_call},
                      Row{"Row11", differ}, Row{"Row14", come_twice}, Row{"Row15", come_late},
                      Row{"Row16", never_come}, Row{"Row17", restart_before_it_is_declared},
                      Row{"Row20", leave_first}, Row{"Row23", block_the_users_thread},
                      Row{"Row24", die_before_a_subgroups_first_call},
                      Row{"Row25", interleave_two_groups}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace millrace::collectives
