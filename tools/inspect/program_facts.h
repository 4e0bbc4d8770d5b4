// What can be said of a program without running it: its functions, how often it does what, what it
// donates, and what one run of it takes on the CPU device. Read next: op_times.h (where its time
// goes).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/program.h"

namespace millrace::inspect {

struct ArgumentFacts {
  std::string type;
  bool donated = false;
  std::optional<int> result;  // that may take over its memory, as the program says
};

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;  // the largest first

struct FunctionFacts {
  std::string name;
  bool is_public = false;
  std::vector<ArgumentFacts> arguments;
  std::vector<std::string> results;  // types
  Counts operations;                 // those in nested regions too
  std::uint64_t operation_count() const;
};

// Bytes of one run.
struct MemoryFacts {
  std::size_t arguments = 0;
  std::size_t results = 0;
  std::size_t constants = 0;    // shared by all runs
  std::size_t temporaries = 0;  // everything in between shares one arena
  std::size_t reused = 0;       // results that are written over donated arguments
  std::size_t peak() const { return arguments + results + constants + temporaries - reused; }
};

struct ProgramFacts {
  std::string file;
  std::string module;
  std::size_t text_bytes = 0;
  std::vector<FunctionFacts> functions;
  Counts steps;                      // of the CPU device's plan, after fusion
  MemoryFacts memory;                // of @main
  bool open = false;                 // shapes that a call decides, and that were not given
  std::optional<Error> not_planned;  // then, as if open, steps and memory are empty

  std::string to_text() const;
  std::string to_json() const;  // one line
};

// Blocks: plans the program. shapes: of the arguments, where the program leaves them open; then
// steps and memory are those of a run with such. kInvalidArgument with line:column for a program
// that does not parse or verify; one that the CPU device does not run is only not planned.
Result<ProgramFacts> inspect(const devices::Program& program,
                             std::span<const devices::Shape> shapes = {});

// The shapes of @main's arguments, with devices::kUnknownDimension where a call decides. Errors as
// inspect().
Result<std::vector<devices::Shape>> argument_shapes(const devices::Program& program);

// The kind of a step of a plan by its name: fused loops of all lengths are one.
std::string step_kind(const std::string& step);
// "1.25 MiB", "640 B".
std::string bytes_text(std::size_t bytes);

}  // namespace millrace::inspect
