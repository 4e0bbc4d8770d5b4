// SimJob: processes of a group, and the host of their job as `millrace launch` has it: it ends a
// rank that is silent, and all of them hear of it. Who is stopped, cut off or killed, a test says.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/net/declare_failure.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/job_host.h"
#include "tests/collectives/sim_processes.h"

namespace millrace::testing {

struct SimJob {
  static constexpr Duration kSilentAfter = std::chrono::seconds(2);
  static constexpr pid_t kHost = 1;
  static pid_t pid_of(int rank) { return static_cast<pid_t>(100 + rank); }  // MeshJob::options()

  // One device each.
  SimJob(Simulation& simulation, int ranks, const SimFaults& faults = {.stalls = 0},
         Duration silent_after = kSilentAfter)
      : sim(simulation),
        far(simulation, std::vector<int>(static_cast<std::size_t>(ranks), 1), faults, silent_after),
        network(far.job.network),
        here(network.make_transport(::geteuid(), kHost)) {
    net::JobHooks hooks;
    hooks.suspect = [this](const net::JobMember& member) { suspects.push_back(member.rank); };
    hooks.silent = [this](const net::JobMember& member) {
      silent.push_back(member.rank);
      end_rank(static_cast<int>(member.rank), net::FailureReason::kSilent);
    };
    host = net::JobHost::open(*here, "tcp:job",
                              {.job = "job",
                               .ranks = static_cast<std::uint32_t>(ranks),
                               .silent_after = silent_after,
                               .pid = kHost},
                              std::move(hooks))
               .value();
    sim.on_finish("host", [host = host] { return host->close(); });
    for (int rank = 0; rank < ranks; ++rank) join(rank);
  }
  // A process is one no more, and launch sees it.
  void kill(int rank) {
    network.kill(pid_of(rank));
    end_rank(rank, net::FailureReason::kSignal);
  }
  // Nothing goes this way any more.
  void hold(pid_t from, pid_t to) { network.hold(from, to); }
  void hold_link(int one, int other) {
    hold(pid_of(one), pid_of(other));
    hold(pid_of(other), pid_of(one));
  }
  // It stands still, or is cut off, which nothing can tell apart.
  void hold_all(int rank) {
    for (int other = 0; std::cmp_less(other, far.size()); ++other)
      if (other != rank) hold_link(rank, other);
    hold(pid_of(rank), kHost);
    hold(kHost, pid_of(rank));
  }
  net::JobOptions options(int rank, pid_t pid) const {
    return {.job = "job",
            .address = "tcp:job",
            .rank = static_cast<std::uint32_t>(rank),
            .ranks = static_cast<std::uint32_t>(far.size()),
            .host = "node-" + std::to_string(rank),
            .pid = pid};
  }
  const collectives::ProcessGroup& member(int rank) const {
    return far.member(static_cast<std::size_t>(rank));
  }
  Future<devices::Buffers> reduce(const collectives::ProcessGroup& group, int rank,
                                  std::size_t count = 1,
                                  const collectives::CollectiveOptions& options = {}) {
    const auto ones = far.put(static_cast<std::size_t>(rank), std::vector<float>(count, 1));
    return group.all_reduce({ones}, collectives::ReduceOp::kSum, options);
  }
  Future<devices::Buffers> reduce(int rank, std::size_t count = 1) {
    return reduce(member(rank), rank, count);
  }
  // All ranks reduce, and get the right sum.
  void expect_sums(std::size_t count = 1) {
    std::vector<Future<devices::Buffers>> sums;
    for (int rank = 0; std::cmp_less(rank, far.size()); ++rank) sums.push_back(reduce(rank, count));
    for (std::size_t rank = 0; rank < far.size(); ++rank) expect_sum(rank, sums[rank], far.size());
  }
  void expect_sum(std::size_t rank, const Future<devices::Buffers>& sum, std::size_t ranks) {
    const auto got = sim.run(sum);
    ASSERT_TRUE(got.has_value()) << "rank " << rank << ": " << got.error().to_string();
    EXPECT_EQ(far.get(rank, (*got)[0])[0], static_cast<float>(ranks)) << "rank " << rank;
  }
  // It fails with this code, and its error names all of these, within the time from now.
  void expect_error(const Future<devices::Buffers>& call, ErrorCode code,
                    std::initializer_list<std::string> names, Duration within) {
    const TimePoint until = sim.now() + within;
    const auto got = sim.run(call);
    EXPECT_LE(sim.now(), until);
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code(), code) << got.error().to_string();
    for (const std::string& name : names)
      EXPECT_NE(got.error().message().find(name), std::string::npos) << got.error().to_string();
  }
  // Nothing is held any more, and all of it ends.
  void finish() {
    network.release();
    sim.finish();
  }

  Simulation& sim;
  SimProcesses far;
  SimNetwork& network;
  std::unique_ptr<net::Transport> here;
  Ref<net::JobHost> host;
  std::vector<Ref<net::Job>> jobs;  // by rank
  std::vector<std::uint32_t> suspects, silent;

 private:
  void join(int rank) {
    const auto p = static_cast<std::size_t>(rank);
    jobs.push_back(
        sim.run(net::Job::join(*far.job.processes[p]->transport, options(rank, pid_of(rank))))
            .value());
    sim.on_finish("job", [job = jobs.back()] { return job->close(); });
    jobs.back()
        ->failure()
        .then(inline_executor(),
              [mesh = far.mesh(p)](const Result<void>& failed) {
                if (!failed) net::declare_failure(*mesh, failed.error());
              })
        .ignore();
  }
  void end_rank(int rank, net::FailureReason reason) {
    const auto number = static_cast<std::uint32_t>(rank);
    host->fail(
        {.member = {.rank = number, .host = "node-" + std::to_string(rank), .pid = pid_of(rank)},
         .reason = reason,
         .number = 9});
    host->ended(number);
  }
};

}  // namespace millrace::testing
