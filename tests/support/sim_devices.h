// SimDevices: simulated devices with their actors, for tests in a Simulation. Declare it after the
// Simulation and before everything that holds buffers; it closes devices and client when it goes.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/devices/device_actor.h"
#include "millrace/devices/sim/sim_client.h"
#include "tests/support/simulation.h"

namespace millrace::testing {

class SimDevices {
 public:
  explicit SimDevices(Simulation& sim, devices::sim::SimOptions options = {},
                      devices::DeviceLimits limits = {})
      : sim_(sim) {
    options.timers = &sim.timers();
    client_ = std::make_unique<devices::sim::SimClient>(options);
    devices_ =
        devices::make_devices(*client_, {.environment = sim.environment(), .limits = limits});
  }
  ~SimDevices() {
    for (const devices::Device& device : devices_) {
      EXPECT_TRUE(sim_.run(device.close()).has_value());
    }
    sim_.run_until_idle();
    EXPECT_TRUE(sim_.run(client_->close()).has_value());
    devices_.clear();
    sim_.run_until_idle();
    EXPECT_EQ(client_->live_buffers(), 0);
  }

  devices::sim::SimClient& client() { return *client_; }
  const devices::Device& operator[](std::size_t i) const { return devices_[i]; }
  std::span<const devices::Device> all() const { return devices_; }

  devices::Executable program(devices::sim::SimProgram program) {
    const std::string text = "sim:" + program.name;
    client_->add_program(std::move(program));
    return client_->compile(devices::Program::from_text(text), {}).value();
  }
  // A buffer of floats whose bytes are there.
  devices::Buffer put(std::size_t device, std::vector<float> values) {
    auto owner = std::make_shared<std::vector<float>>(std::move(values));
    const devices::HostView view{
        .data = owner->data(),
        .shape = devices::Shape(devices::DType::kF32, {static_cast<std::int64_t>(owner->size())}),
        .owner = owner};
    devices::Buffer buffer = sim_.run(devices_[device].put(view)).value();
    EXPECT_TRUE(sim_.run(buffer.ready()).has_value());
    return buffer;
  }
  std::vector<float> fetch(std::size_t device, const devices::Buffer& buffer) {
    const devices::HostArray array = sim_.run(devices_[device].fetch(buffer)).value();
    return {array.as<float>().begin(), array.as<float>().end()};
  }

 private:
  Simulation& sim_;
  std::unique_ptr<devices::sim::SimClient> client_;
  std::vector<devices::Device> devices_;
};

// A program of float arrays of one size: element i of each output is f(elements i of the inputs).
inline devices::sim::SimProgram elementwise(std::string name, int inputs, std::int64_t elements,
                                            Duration duration, float (*f)(std::span<const float>)) {
  const devices::Shape shape(devices::DType::kF32, {elements});
  devices::sim::SimProgram program{.name = std::move(name),
                                   .inputs = std::vector(static_cast<std::size_t>(inputs), shape),
                                   .outputs = {shape},
                                   .duration = duration};
  program.compute = [f, elements](std::span<const devices::sim::SimCall> calls) -> Status {
    for (const devices::sim::SimCall& call : calls) {
      std::vector<float> values(call.inputs.size());
      for (std::int64_t e = 0; e < elements; ++e) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          std::memcpy(&values[i], call.inputs[i].data() + e * 4, 4);
        }
        const float result = f(values);
        std::memcpy(call.outputs[0].data() + e * 4, &result, 4);
      }
    }
    return {};
  };
  return program;
}

}  // namespace millrace::testing
