// StubExecutable: a program without arrays, for tests to override the launch that they are about.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "millrace/devices/client.h"

namespace millrace::testing {

// What it does not do is kUnimplemented.
class StubExecutable : public devices::ExecutableBody {
 public:
  StubExecutable(devices::Client& client, std::string name, int devices)
      : client_(client), name_(std::move(name)), devices_(devices) {}
  const std::string& name() const override { return name_; }
  devices::Client& client() const override { return client_; }
  std::span<const devices::Shape> input_shapes() const override { return {}; }
  std::span<const devices::Shape> output_shapes() const override { return {}; }
  std::span<const bool> donated_inputs() const override { return {}; }
  int devices_per_launch() const override { return devices_; }
  std::int64_t temporary_bytes() const override { return 0; }
  Status launch(const devices::LaunchArguments&, std::span<devices::LaunchResult>) override {
    return fail(ErrorCode::kUnimplemented, "a stub");
  }
  Result<std::string> serialize() const override {
    return fail(ErrorCode::kUnimplemented, "a stub");
  }

 private:
  devices::Client& client_;
  const std::string name_;
  const int devices_;
};

}  // namespace millrace::testing
