// The arrays that a command runs a program on, from .npy files.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/npy.h"

namespace millrace::commands {

// As the user gave them.
struct InputFlags {
  std::vector<std::string> files;  // in the order of the arguments
  std::string folder;              // or 0.npy, 1.npy, ... in here
};

// Blocks. One array per shape, which may be a pattern (shape_pattern.h); program names it in
// errors. A usage error if their numbers differ, kInvalidArgument if a file holds another shape.
Result<std::vector<std::shared_ptr<transfer::NpyArray>>> read_inputs(
    const InputFlags& flags, const std::string& program, std::span<const devices::Shape> shapes);

}  // namespace millrace::commands
