// Whether two programs are the same but for locations: their texts in the generic form are.
#pragma once

#include <algorithm>
#include <string>

#include "millrace/devices/stablehlo/ir/print.h"

namespace millrace::devices::stablehlo::ir {

// *why, if given, gets where the texts begin to differ.
inline bool equal(const Module& a, const Module& b, std::string* why = nullptr) {
  const std::string x = print(a, Form::kGeneric), y = print(b, Form::kGeneric);
  if (x == y) return true;
  if (why == nullptr) return false;
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(x, y).in1 - x.begin());
  const std::size_t from = at < 100 ? 0 : at - 100;
  *why = "..." + x.substr(from, 300) + "... and ..." + y.substr(from, 300) + "... differ";
  return false;
}

}  // namespace millrace::devices::stablehlo::ir
