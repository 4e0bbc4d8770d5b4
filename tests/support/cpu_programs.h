// ScriptedProgram: a program for CpuClient that is a C++ function, so that tests of the client need
// no compiler and can look into the moment between two outputs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/client.h"

namespace millrace::testing {

struct ScriptedProgram {
  std::vector<devices::Shape> inputs;
  std::vector<devices::Shape> outputs;
  std::vector<int> donated;
  std::vector<devices::cpu::OutputAlias> aliases;
  // Must call output_written for every output, or fail.
  std::function<Status(const devices::cpu::RunCall&)> body;
  std::size_t temporary_bytes = 0;
  std::optional<devices::cpu::DeviceParts> parts = {};  // of a program for several devices
};

// A CompileFunction that gives this program whatever the text.
inline devices::cpu::CompileFunction scripted(ScriptedProgram program) {
  using devices::cpu::Compiled;
  using devices::cpu::CompiledRun;
  struct Script final : Compiled {
    explicit Script(ScriptedProgram p) : program(std::move(p)) {}
    std::span<const devices::Shape> inputs() const override { return program.inputs; }
    std::span<const devices::Shape> outputs() const override { return program.outputs; }
    std::span<const int> donated() const override { return program.donated; }
    const devices::cpu::DeviceParts* device_parts() const override {
      return program.parts ? &*program.parts : nullptr;
    }
    std::span<const devices::cpu::OutputAlias> aliases() const override { return program.aliases; }
    std::size_t temporary_bytes() const override { return program.temporary_bytes; }
    Result<std::unique_ptr<CompiledRun>> make_run() const override {
      struct Run final : CompiledRun {
        explicit Run(const ScriptedProgram& p) : program(p) {}
        Result<devices::cpu::RunState> run(const devices::cpu::RunCall& call) override {
          MILLRACE_TRY_STATUS(program.body(call));
          return devices::cpu::RunState::kDone;
        }
        const ScriptedProgram& program;
      };
      return std::make_unique<Run>(program);
    }
    ScriptedProgram program;
  };
  auto compiled = std::make_shared<const Script>(std::move(program));
  return
      [compiled](const devices::Program&, const devices::CompileOptions&,
                 const devices::cpu::CompileContext&) -> Result<std::shared_ptr<const Compiled>> {
        return compiled;
      };
}

// outputs[0][i] = sum of inputs[..][i] + 1, floats.
inline Status increment_sum(const devices::cpu::RunCall& call, std::int64_t elements) {
  auto* out = reinterpret_cast<float*>(call.outputs[0]);
  for (std::int64_t i = 0; i < elements; ++i) {
    float total = 1;
    for (const void* input : call.inputs) total += static_cast<const float*>(input)[i];
    out[i] = total;
  }
  call.output_written(0);
  return {};
}

}  // namespace millrace::testing
