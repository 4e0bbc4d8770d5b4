// What fuzzers of readers hold of every module, whatever it was read from.
#pragma once

#include <string>

#include "millrace/core/base/check.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/support/equal_modules.h"

namespace millrace::testing {

// verify gives a verdict on it, and it prints to text that reads back to an equal one.
inline void check_reads_back(const devices::stablehlo::ir::Module& module) {
  using namespace devices::stablehlo;  // NOLINT(google-build-using-namespace)
  static_cast<void>(verify::verify(module));
  const auto again = text::read_text(ir::print(module));
  MILLRACE_CHECK(again.has_value(), "a printed module can be read");
  std::string why;
  MILLRACE_CHECK(ir::equal(module, *again, &why), "a printed module reads back equal");
}

}  // namespace millrace::testing
