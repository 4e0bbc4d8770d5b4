// SimPrograms: processes of a job in a simulation, each with what its programs give the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/program_links.h"
#include "tests/core/net/mesh_job.h"

namespace millrace::testing {

struct SimPrograms {
  using Launch = std::unique_ptr<devices::ProcessLaunch>;

  SimPrograms(Simulation& simulation, std::uint32_t processes,
              const SimFaults& faults = {.stalls = 0},
              net::MeshOptions limits = {.max_payload = 8192})
      : SimPrograms(simulation, processes, processes, faults, limits) {}
  // The first `started` alone are there; others come by start_mesh() and make_links().
  SimPrograms(Simulation& simulation, std::uint32_t processes, std::uint32_t started,
              const SimFaults& faults, const net::MeshOptions& limits)
      : sim(simulation), job(simulation, processes, faults), limits_(limits) {
    while (links.size() < started) {
      start_mesh();
      make_links();
    }
  }
  // The mesh of the next process.
  void start_mesh() {
    net::MeshOptions options = job.options(static_cast<std::uint32_t>(job.processes.size()));
    options.max_payload = limits_.max_payload;
    options.most_queued = limits_.most_queued;
    options.most_stashed = limits_.most_stashed;
    auto& added = job.add(options);
    EXPECT_TRUE(sim.run(job.start(added)).has_value());
    sim.on_finish("mesh", [mesh = added.mesh] { return mesh->close(); });
  }
  void make_links() {
    const std::size_t p = links.size();
    links.push_back(new_links(p, 0));
    sim.on_finish("links", [this, p] { return close(p); });
  }
  std::unique_ptr<collectives::ProgramLinks> new_links(std::size_t p, std::uint32_t epoch) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t r = 0; r < job.size; ++r) ranks.push_back(r);
    return std::make_unique<collectives::ProgramLinks>(job.processes[p]->mesh, epoch, ranks);
  }
  Future<void> close(std::size_t p, const std::string& why = "the test is over") {
    if (!links[p]) return make_ready();
    links[p]->close(Error(ErrorCode::kCancelled, why));
    return links[p]->drained();
  }
  Ref<devices::ProgramLink> open(std::size_t p, std::string_view digest = "digest") {
    return links[p]->open("'f'", digest).value();
  }
  // One of each process, which has begun.
  std::vector<Launch> begin_all(const std::vector<Ref<devices::ProgramLink>>& all) {
    std::vector<Launch> launches;
    for (const auto& link : all) {
      launches.push_back(link->next_launch());
      EXPECT_TRUE(launches.back()->begin().value());
    }
    return launches;
  }
  std::vector<Ref<devices::ProgramLink>> open_all() {
    std::vector<Ref<devices::ProgramLink>> all;
    for (std::size_t p = 0; p < links.size(); ++p) all.push_back(open(p));
    return all;
  }
  static std::span<const std::byte> bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
  }
  static Status give(const Launch& launch, int edge, int to, const std::string& text) {
    return launch->give(edge, to, bytes(text));
  }
  // Until it has come.
  Result<std::string> take(const Launch& launch, int edge, int from, std::size_t size) {
    std::string text(size, '?');
    while (true) {
      MILLRACE_TRY(const bool taken,
                   launch->take(edge, from, std::as_writable_bytes(std::span(text))));
      if (taken) return text;
      MILLRACE_TRY_STATUS(wait(launch));
    }
  }
  Status begin(const Launch& launch) {
    while (true) {
      MILLRACE_TRY(const bool begun, launch->begin());
      if (begun) return {};
      MILLRACE_TRY_STATUS(wait(launch));
    }
  }
  Status wait(const Launch& launch) {
    auto woken = std::make_shared<Promise<void>>();
    const Future<void> future = woken->future();
    launch->await([woken] { woken->set_value(); });  // CHECKs that it is called once
    return sim.run(future);
  }
  void kill(std::size_t p) { job.network.kill(static_cast<pid_t>(100 + p)); }

  Simulation& sim;
  net::testing::MeshJob job;
  std::vector<std::unique_ptr<collectives::ProgramLinks>> links;

 private:
  const net::MeshOptions limits_;
};

// How an error names the second of the processes that are there.
inline const std::string kProcess1 = "process 1 (rank 1, host node-1, pid 101) of 'f': ";

inline Status failed(ErrorCode code) { return fail(code, "a scripted failure"); }

inline void expect_error(const Status& status, ErrorCode code, const std::string& words) {
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), code) << status.error().to_string();
  EXPECT_NE(status.error().message().find(words), std::string::npos)
      << status.error().message() << "\ndoes not say\n"
      << words;
}
template <class T>
void expect_error(const Result<T>& result, ErrorCode code, const std::string& words) {
  expect_error(result ? Status() : Status(std::unexpected(result.error())), code, words);
}

}  // namespace millrace::testing
