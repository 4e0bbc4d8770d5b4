// SerializedProgram: what serialize() of the CPU device gives: lines of words, an empty line, the
// program. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/cpu/compile/kernel_choice.h"

namespace millrace::devices::cpu {

struct SerializedProgram {
  std::string_view code;  // StableHLO, as it was compiled; borrowed
  std::string compiler;   // compiler_digest of the client
  bool deterministic = false;
  std::optional<DeviceId> device;  // that it is bound to
  KernelChoices choices;

  std::string to_bytes() const;
  // kInvalidArgument for what to_bytes() does not write.
  static Result<SerializedProgram> parse(std::string_view bytes);
};

// The digest of its compiler_identity(), in hexadecimal.
std::string compiler_digest(const Client& client);

}  // namespace millrace::devices::cpu
