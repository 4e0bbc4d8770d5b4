// SerializedProgram: what serialize() of the CPU device gives: lines of words, an empty line, the
// program. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/cpu/compile/compiled.h"

namespace millrace::devices::cpu {

struct SerializedProgram {
  std::string_view code;  // StableHLO, as it was compiled; borrowed
  std::string compiler;   // compiler_digest of the client
  bool deterministic = false;
  int replicas = 1;
  int partitions = 1;
  std::vector<DeviceId> devices = {};  // that it is bound to
  KernelChoices choices;

  std::string to_bytes() const;
  // kInvalidArgument for what to_bytes() does not write.
  static Result<SerializedProgram> parse(std::string_view bytes);
};

// "0.2 -1.-1 3.0"; the other way kDataLoss for what is no such list.
std::string to_text(std::span<const KernelChoice> choices);
Result<KernelChoices> parse_kernel_choices(std::string_view text);

// The digest of its compiler_identity(), in hexadecimal.
std::string compiler_digest(const Client& client);

}  // namespace millrace::devices::cpu
