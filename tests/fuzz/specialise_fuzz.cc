// libFuzzer target: whatever the bytes, a module that reads and verifies and has dynamic shapes is
// specialised for small arguments, or refused; what specialise gives it has verified, which is not
// planned here. A good corpus is tools/models/symbolic/*.mlir.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/devices/cpu/choose/make_kernel.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::devices;             // NOLINT: a target has one function
  using namespace millrace::devices::stablehlo;  // NOLINT
  const auto module = read_program({reinterpret_cast<const char*>(data), size});
  if (!module || !verify::verify(*module) || !specialise::is_needed(*module)) return 0;
  const ir::Function* main = specialise::entry(*module);
  if (main == nullptr) return 0;
  const auto patterns = specialise::shapes_of(main->inputs(), "argument");
  if (!patterns) return 0;
  for (const std::int64_t n : {0, 3, 70000}) {
    std::vector<Shape> shapes;
    for (const Shape& pattern : *patterns) {
      std::vector<std::int64_t> dims(pattern.dims().begin(), pattern.dims().end());
      std::ranges::replace(dims, kUnknownDimension, n);
      shapes.emplace_back(pattern.dtype(), dims);
    }
    (void)specialise::specialise(*module, shapes, cpu::definition::evaluate);
  }
  return 0;
}
