// What fuzzers of readers hold of every module, whatever it was read from.
#pragma once

#include <string>

#include "millrace/core/base/check.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/propagate/propagate.h"
#include "millrace/devices/stablehlo/sharding/op_sharding.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/support/equal_modules.h"

namespace millrace::testing {

// What lies where in a module that verifies is known or an error; what is known can be written and
// read again.
inline void check_shardings(const devices::stablehlo::ir::Module& module) {
  using namespace devices::stablehlo;  // NOLINT(google-build-using-namespace)
  const auto made = propagate::shardings_of_main(module, {{true}, {true}});
  const auto meshes = sharding::Meshes::of(module);
  if (!made || !meshes) return;
  for (const sharding::Sharding& one : made->results) {
    static_cast<void>(sharding::to_op_sharding(one));
    const auto again = sharding::read_sharding("#sdy.sharding" + to_string(one), *meshes);
    MILLRACE_CHECK(again && *again == one, "a printed sharding reads back equal");
  }
}

// verify gives a verdict on it, and it prints to text that reads back to an equal one.
inline void check_reads_back(const devices::stablehlo::ir::Module& module) {
  using namespace devices::stablehlo;  // NOLINT(google-build-using-namespace)
  if (verify::verify(module)) check_shardings(module);
  const auto again = text::read_text(ir::print(module));
  MILLRACE_CHECK(again.has_value(), "a printed module can be read");
  std::string why;
  MILLRACE_CHECK(ir::equal(module, *again, &why), "a printed module reads back equal");
}

}  // namespace millrace::testing
