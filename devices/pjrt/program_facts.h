// What the launch of a compiled program must know and PJRT reports in pieces: shapes of inputs and
// outputs, donated inputs, how many devices, how much scratch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/pjrt/plugin.h"
#include "millrace/devices/program.h"

namespace millrace::devices::pjrt {

struct ProgramFacts {
  // An input that the program takes otherwise than row-major.
  struct Layout {
    std::size_t input = 0;
    std::vector<std::int64_t> minor_to_major;
    bool operator==(const Layout&) const = default;
  };

  std::vector<Shape> inputs;   // of each device; of no element type where it is not known
  std::vector<Shape> outputs;  // of each device
  std::vector<char> donated;   // per input
  std::vector<Layout> layouts;
  std::vector<char> outputs_laid_out;  // per output that is known: it is not row-major
  int replicas = 1;
  int partitions = 1;
  std::int64_t temporary_bytes = 0;
};

// Asks the plugin. Inputs come from its optimized program, since the C API does not report
// them; where that cannot be read, from the program that was compiled (nullptr: it was loaded), as
// do outputs that the plugin does not report; where that cannot be read either, their number alone
// is known. kUnimplemented, with all reasons, where not even that is.
Result<ProgramFacts> read_facts(const Plugin& plugin, abi::Executable* executable,
                                const Program* compiled = nullptr);

// Those of them that are pure: the bytes of a HloModuleProto (or one with its config, whose entry
// layout then is the one that counts) as inputs and donation; CompileOptionsProto for our options,
// global device ids given.
Status read_hlo(std::string_view bytes, bool with_config, ProgramFacts& facts);
// The same of StableHLO, text or bytecode, which plugins give that are not XLA's. With several
// partitions, what has a sharding is of a shape that the text does not hold: of no element type
// here.
Status read_mlir(std::string_view text, ProgramFacts& facts);
// Its results, by the same rule.
Result<std::vector<Shape>> read_mlir_outputs(std::string_view text, int partitions);
std::string write_compile_options(const CompileOptions& options,
                                  std::span<const std::int64_t> device_ids);

}  // namespace millrace::devices::pjrt
