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
      : sim(simulation), job(simulation, processes, faults) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t p = 0; p < processes; ++p) ranks.push_back(p);
    for (std::uint32_t p = 0; p < processes; ++p) {
      net::MeshOptions options = job.options(p);
      options.max_payload = limits.max_payload;
      options.most_queued = limits.most_queued;
      auto& added = job.add(options);
      EXPECT_TRUE(sim.run(job.start(added)).has_value());
      sim.on_finish("mesh", [mesh = added.mesh] { return mesh->close(); });
      links.push_back(std::make_unique<collectives::ProgramLinks>(added.mesh, ranks));
      sim.on_finish("links", [this, p] { return close(p); });
    }
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
};

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
