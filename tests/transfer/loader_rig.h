// LoaderRig: simulated devices, a scripted source and a loader over them, on the virtual time of a
// Simulation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/devices/device_actor.h"
#include "millrace/devices/sim/sim_client.h"
#include "millrace/transfer/device_loader.h"
#include "tests/support/simulation.h"
#include "tests/transfer/scripted_source.h"

namespace millrace::transfer {

using devices::DeviceId;
using devices::sim::SimClient;
using devices::sim::SimOptions;
using millrace::testing::Simulation;
using std::chrono::milliseconds;

// Declared after the Simulation; closes the devices and the client at its end. The loader is the
// test's.
class LoaderRig {
 public:
  LoaderRig(Simulation& sim, int devices, std::uint64_t items, SimOptions options = {})
      : sim_(sim), source(std::make_shared<ScriptedSource>(sim.environment(), items)) {
    options.timers = &sim.timers();
    options.devices = devices;
    client.emplace(options);
    this->devices = devices::make_devices(*client, {.environment = sim.environment()});
  }
  ~LoaderRig() {
    for (const devices::Device& device : devices) EXPECT_TRUE(sim_.run(device.close()).has_value());
    devices.clear();
    EXPECT_TRUE(sim_.run(client->close()).has_value());
    sim_.run_until_idle();
    EXPECT_EQ(client->live_buffers(), 0);
  }

  DeviceLoader make(LoaderOptions options) const {
    Result<DeviceLoader> loader =
        DeviceLoader::create(sim_.environment(), source, devices, std::move(options));
    EXPECT_TRUE(loader.has_value()) << (loader ? "" : loader.error().to_string());
    return std::move(loader).value();
  }
  Result<std::optional<DeviceBatch>> next(const DeviceLoader& loader, int device = 0) const {
    return sim_.run(loader.next(device));
  }
  // The items of a delivered batch, as they are in the device's memory.
  std::vector<std::uint64_t> items(const DeviceBatch& batch) const {
    const auto array =
        sim_.run(devices[static_cast<std::size_t>(batch.device)].fetch(batch.arrays[0])).value();
    const std::span<const std::uint64_t> values = array.as<std::uint64_t>();
    return {values.begin(), values.end()};
  }
  // All items that a device is given up to the end of the epoch, the valid ones.
  std::vector<std::uint64_t> epoch(const DeviceLoader& loader, int device = 0) const {
    std::vector<std::uint64_t> all;
    for (;;) {
      const Result<std::optional<DeviceBatch>> batch = next(loader, device);
      EXPECT_TRUE(batch.has_value()) << (batch ? "" : batch.error().to_string());
      if (!batch || !*batch) return all;
      const std::vector<std::uint64_t> rows = items(**batch);
      all.insert(all.end(), rows.begin(), rows.begin() + (*batch)->valid);
    }
  }

 private:
  Simulation& sim_;

 public:
  std::optional<SimClient> client;
  std::vector<devices::Device> devices;
  std::shared_ptr<ScriptedSource> source;
};

}  // namespace millrace::transfer
