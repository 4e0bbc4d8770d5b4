// KernelChoice: what a compilation has found out by measuring, so that the next one of the same
// program need not: which form of a convolution, in which layout of its operands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::devices::cpu {

struct KernelChoice {
  int form = -1;  // of convolution_forms; -1: no kernel of oneDNN
  int way = -1;   // of make_convolution
  bool operator==(const KernelChoice&) const = default;
};

// One per convolution, in the order in which their steps are made.
using KernelChoices = std::vector<KernelChoice>;

// "0.2 -1.-1 3.0"; the other way kDataLoss for what is no such list.
std::string to_text(std::span<const KernelChoice> choices);
Result<KernelChoices> parse_kernel_choices(std::string_view text);

}  // namespace millrace::devices::cpu
