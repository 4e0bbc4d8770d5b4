// MeshJob: some processes of a job in a simulation, each with a mesh whose frames are kept.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/combinators.h"
#include "millrace/core/net/mesh.h"
#include "tests/support/sim_transport.h"

namespace millrace::net::testing {

inline constexpr FrameKind kKind = FrameKind::kFirstOfUsers;

inline Frame numbered(std::uint64_t number, std::size_t bytes = 0, std::uint64_t channel = 0) {
  return {{.kind = kKind, .channel = channel, .sequence = number},
          Bytes(bytes, static_cast<std::byte>(number))};
}

inline Incarnation drawn(std::uint32_t number) {
  Incarnation incarnation = {};
  store_number(incarnation.data(), number);
  return incarnation;
}

struct MeshJob {
  struct Kept {
    std::uint32_t from = 0;
    Frame frame = {};
  };
  struct Process {
    std::unique_ptr<Transport> transport;
    Ref<Mesh> mesh;
    std::vector<Kept> came = {};
  };

  MeshJob(millrace::testing::Simulation& sim, std::uint32_t size,
          const millrace::testing::SimFaults& faults = {.stalls = 0}, Duration silent_after = {})
      : sim(sim),
        network(sim, faults),
        store(sim.timers()),
        size(size),
        silent_after(silent_after) {}
  // What takes its time still, as sinks do.
  ~MeshJob() { sim.run_for(std::chrono::seconds(40)); }

  MeshOptions options(std::uint32_t rank) const {
    return {.rank = rank,
            .size = size,
            .incarnation = drawn(rank),
            .job = "job",
            .host = "node-" + std::to_string(rank),
            .pid = static_cast<std::int32_t>(100 + rank),
            .silent_after = silent_after};
  }
  // A process that was not started.
  Process& add(MeshOptions options) {
    const auto pid = static_cast<pid_t>(options.pid);
    processes.push_back(std::make_unique<Process>(network.make_transport(::geteuid(), pid)));
    Process& added = *processes.back();
    added.mesh = Mesh::make(*added.transport, store, std::move(options)).value();
    return added;
  }
  Future<void> start(Process& process) {
    return process.mesh->start("sim:" + std::to_string(process.mesh->rank()) + "/" +
                               std::to_string(processes.size()));
  }
  void keep(Process& process) {
    process.mesh->set_sink({kKind}, [&process](std::uint32_t from, Frame frame) -> Future<void> {
      process.came.push_back({from, std::move(frame)});
      return {};
    });
  }
  // All ranks, with sinks.
  void start_all() {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      Process& process = add(options(rank));
      keep(process);
      EXPECT_TRUE(sim.run(start(process)).has_value());
    }
  }
  Mesh& mesh(std::size_t rank) { return *processes.at(rank)->mesh; }
  std::vector<Kept>& came(std::size_t rank) { return processes.at(rank)->came; }
  template <class T>
  Result<T> run(const Future<T>& future) {
    return sim.run(future);
  }
  void close_all() {
    std::vector<Future<void>> closed;
    for (const auto& process : processes) closed.push_back(process->mesh->close());
    for (const auto& one : closed) EXPECT_TRUE(sim.run(one).has_value());
    EXPECT_TRUE(network.empty());  // ME-7
  }

  millrace::testing::Simulation& sim;
  millrace::testing::SimNetwork network;
  LocalKeyValueStore store;
  const std::uint32_t size;
  const Duration silent_after;
  std::vector<std::unique_ptr<Process>> processes;
};

}  // namespace millrace::net::testing
