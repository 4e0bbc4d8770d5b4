// libFuzzer target: whatever the bytes, a module that reads and verifies and has dynamic shapes is
// refined for small arguments, or refused; what refine gives it has verified, which is not planned
// here. A good corpus is tools/models/symbolic/*.mlir.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/devices/cpu/read/read_program.h"
#include "millrace/devices/cpu/refine/refine.h"
#include "millrace/devices/cpu/verify/verify.h"
#include "millrace/devices/shape_pattern.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::devices;       // NOLINT: a target has one function
  using namespace millrace::devices::cpu;  // NOLINT
  const auto module = read::read_program({reinterpret_cast<const char*>(data), size});
  if (!module || !verify::verify(*module) || !refine::is_needed(*module)) return 0;
  const ir::Function* main = refine::entry(*module);
  if (main == nullptr) return 0;
  const auto patterns = refine::shapes_of(main->inputs(), "argument");
  if (!patterns) return 0;
  for (const std::int64_t n : {0, 3, 70000}) {
    std::vector<Shape> shapes;
    for (const Shape& pattern : *patterns) {
      std::vector<std::int64_t> dims(pattern.dims().begin(), pattern.dims().end());
      std::ranges::replace(dims, kUnknownDimension, n);
      shapes.emplace_back(pattern.dtype(), dims);
    }
    (void)refine::refine(*module, shapes);
  }
  return 0;
}
