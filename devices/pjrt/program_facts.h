// What the launch of a compiled program must know and PJRT tells in pieces: shapes of inputs and
// outputs, donated inputs, how many devices, how much scratch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/program.h"

namespace millrace::devices::pjrt {

struct ProgramFacts {
  std::vector<Shape> inputs;   // of each device
  std::vector<Shape> outputs;  // of each device
  std::vector<char> donated;   // per input
  int replicas = 1;
  int partitions = 1;
  std::int64_t temporary_bytes = 0;
};

// Asks the plugin. Inputs come from its optimized program: the C API itself does not tell them.
Result<ProgramFacts> read_facts(const Plugin& plugin, abi::Executable* executable);

// Those of them that are pure: the bytes of a HloModuleProto (or one with its config) as inputs
// and donation; CompileOptionsProto for our options, global device ids given.
Status read_hlo(std::string_view bytes, bool with_config, ProgramFacts& facts);
// The same of StableHLO text, which plugins give that are not XLA's.
Status read_mlir(std::string_view text, ProgramFacts& facts);
std::string write_compile_options(const CompileOptions& options,
                                  std::span<const std::int64_t> device_ids);

}  // namespace millrace::devices::pjrt
