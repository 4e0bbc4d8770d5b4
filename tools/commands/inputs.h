// What a command is given: a program and the arrays that it runs on, from files or from stdin.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/program.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/npy.h"

namespace millrace::commands {

// As the user gave them.
struct InputFlags {
  std::vector<std::string> files;  // in the order of the arguments
  std::string folder;              // or 0.npy, 1.npy, ... in here
};

// The name that stands for stdin, which is read once in a process.
inline constexpr const char* kStdin = "-";

// Both block. Files must be regular ones; stdin may be anything, and is read until its end, or that
// of the call (kCancelled, kDeadlineExceeded).
Result<devices::Program> read_program(const std::string& file, const CallOptions& call);
// One array per shape, which may be a pattern (shape_pattern.h). A usage error if their numbers
// differ, kInvalidArgument if a file holds another shape.
Result<std::vector<std::shared_ptr<transfer::NpyArray>>> read_inputs(
    const InputFlags& flags, const devices::Program& program,
    std::span<const devices::Shape> shapes, const CallOptions& call);

}  // namespace millrace::commands
