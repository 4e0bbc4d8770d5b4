// libFuzzer target: whatever the bytes, a module that reads and verifies is spread over several
// devices, as a local program and as a global one, or refused; what spread gives has verified, and
// is not planned here. A good corpus is tests/devices/cpu/sharding/*.mlir.
#include <cstddef>
#include <cstdint>

#include "millrace/devices/stablehlo/propagate/propagate.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/spread/spread.h"
#include "millrace/devices/stablehlo/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::devices::stablehlo;  // NOLINT: a target has one function
  const auto module = read_program({reinterpret_cast<const char*>(data), size});
  if (!module || !verify::verify(*module)) return 0;
  (void)spread::spread(*module, {.replicas = 2, .partitions = 2});
  if (module->find("main") == nullptr || specialise::is_needed(*module)) return 0;
  const auto lie = propagate::shardings_of_main(*module, {.arguments = {true}, .results = {true}});
  if (lie) (void)spread::spread_global(*module, 4, {lie->arguments, lie->results});
  return 0;
}
