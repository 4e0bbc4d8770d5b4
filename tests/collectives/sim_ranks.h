// SimRanks: a process group over simulated devices, on virtual time and in an order of events drawn
// from a seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/sim/sim_client.h"
#include "tests/support/simulation.h"

namespace millrace::testing {

// Devices, and one group over all of them.
struct SimRanks {
  SimRanks(Simulation& simulation, int size, bool host_access = false)
      : sim(simulation),
        client({.timers = &sim.timers(),
                .devices = size,
                .transfer_latency = std::chrono::microseconds(sim.below(200)),
                .host_access = host_access}) {
    devices::DeviceActorOptions options;
    options.environment = sim.environment();
    devices = devices::make_devices(client, options);
    sim.on_finish("client", [this] { return client.close(); });
    for (const devices::Device& device : devices)
      sim.on_finish("device", [device] { return device.close(); });
    members = collectives::ProcessGroup::create(sim.actors(), "g", devices).value();
    sim.on_finish("group", [this] { return members[0].close(); });
  }
  devices::Buffer put(int rank, std::vector<float> values) {
    return put_as<float>(rank, devices::DType::kF32, values);
  }
  template <class T>
  devices::Buffer put_as(int rank, devices::DType dtype, const std::vector<T>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    auto array = devices::HostArray::make(devices::Shape(dtype, {count}));
    std::memcpy(array.mutable_bytes().data(), values.data(), values.size() * sizeof(T));
    const auto device = devices[static_cast<std::size_t>(rank)];
    return sim.run(device.put({array.bytes().data(), array.shape(), {}, array.owner()})).value();
  }
  std::vector<float> get(int rank, const devices::Buffer& buffer) {
    const devices::HostArray array =
        sim.run(devices[static_cast<std::size_t>(rank)].fetch(buffer)).value();
    return {array.as<float>().begin(), array.as<float>().end()};
  }
  collectives::CollectiveOptions within(Duration time) {
    collectives::CollectiveOptions options;
    options.call.deadline = sim.now() + time;
    return options;
  }

  Simulation& sim;
  devices::sim::SimClient client;
  std::vector<devices::Device> devices;
  std::vector<collectives::ProcessGroup> members;
};

}  // namespace millrace::testing
