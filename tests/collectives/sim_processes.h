// SimProcesses: a process group over simulated devices of several processes, which talk over a
// simulated network.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/sim/sim_client.h"
#include "tests/core/net/mesh_job.h"

namespace millrace::testing {

struct SimProcesses {
  struct Process {
    std::unique_ptr<actors::ActorSystem> actors;
    std::unique_ptr<devices::sim::SimClient> client;
    std::vector<devices::Device> devices;
    std::vector<collectives::ProcessGroup> members;
  };
  struct Place {
    std::size_t process;
    std::size_t device;
  };

  // counts: of the devices of each process.
  SimProcesses(Simulation& simulation, const std::vector<int>& counts,
               const SimFaults& faults = {.stalls = 0}, Duration silent_after = {})
      : sim(simulation),
        job(simulation, static_cast<std::uint32_t>(counts.size()), faults, silent_after) {
    for (std::uint32_t p = 0; p < counts.size(); ++p) add(p, counts[p]);
    join("g");
  }
  // All processes meet in a group, which takes the place of the one before.
  void join(const std::string& name, std::uint64_t number = 0) {
    std::vector<Future<std::vector<collectives::ProcessGroup>>> met;
    for (std::size_t p = 0; p < processes.size(); ++p) met.push_back(meet(p, name, number));
    for (std::size_t p = 0; p < processes.size(); ++p) {
      processes[p].members = sim.run(met[p]).value();
      sim.on_finish("group", [member = processes[p].members[0]] { return member.close(); });
    }
  }
  Future<std::vector<collectives::ProcessGroup>> meet(std::size_t p, const std::string& name,
                                                      std::uint64_t number,
                                                      const CallOptions& call = {}) {
    return collectives::ProcessGroup::meet(*processes[p].actors, mesh(p), {name, number},
                                           processes[p].devices, {.call = call});
  }
  Ref<net::Mesh> mesh(std::size_t p) { return job.processes[p]->mesh; }
  std::size_t size() const { return places.size(); }
  const collectives::ProcessGroup& member(std::size_t rank) const {
    return processes[places[rank].process].members[places[rank].device];
  }
  const devices::Device& device(std::size_t rank) const {
    return processes[places[rank].process].devices[places[rank].device];
  }
  template <class T = float>
  devices::Buffer put(std::size_t rank, const std::vector<T>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    auto array = devices::HostArray::make(devices::Shape(devices::dtype_of<T>, {count}));
    std::memcpy(array.mutable_bytes().data(), values.data(), values.size() * sizeof(T));
    return sim.run(device(rank).put({array.bytes().data(), array.shape(), {}, array.owner()}))
        .value();
  }
  template <class T = float>
  std::vector<T> get(std::size_t rank, const devices::Buffer& buffer) {
    const devices::HostArray array = sim.run(device(rank).fetch(buffer)).value();
    return {array.as<T>().begin(), array.as<T>().end()};
  }
  collectives::CollectiveOptions within(Duration time) {
    collectives::CollectiveOptions options;
    options.call.deadline = sim.now() + time;
    return options;
  }

  Simulation& sim;
  net::testing::MeshJob job;
  std::vector<Process> processes;
  std::vector<Place> places;  // by rank

 private:
  void add(std::uint32_t p, int count) {
    auto& in_job = job.add(job.options(p));
    EXPECT_TRUE(sim.run(job.start(in_job)).has_value());
    sim.on_finish("mesh", [mesh = in_job.mesh] { return mesh->close(); });
    Process process;
    process.client = std::make_unique<devices::sim::SimClient>(
        devices::sim::SimOptions{.timers = &sim.timers(),
                                 .devices = count,
                                 .transfer_latency = std::chrono::microseconds(sim.below(200)),
                                 .host_access = sim.chance(0.5)});
    sim.on_finish("client", [client = process.client.get()] { return client->close(); });
    devices::DeviceActorOptions options;
    options.environment = sim.environment();
    process.devices = devices::make_devices(*process.client, options);
    for (const devices::Device& device : process.devices)
      sim.on_finish("device", [device] { return device.close(); });
    process.actors = std::make_unique<actors::ActorSystem>(sim.environment());
    sim.on_finish("actors", [actors = process.actors.get()] { return actors->close(); });
    for (std::size_t d = 0; d < static_cast<std::size_t>(count); ++d) places.push_back({p, d});
    processes.push_back(std::move(process));
  }
};

}  // namespace millrace::testing
