// libFuzzer target: whatever the bytes, read_text gives a module or an error; a module prints to
// text that reads back to an equal one, and verify gives a verdict on it. Build with clang and
// -DMILLRACE_FUZZ=ON, then run build/bin/read_text_fuzz CORPUS (a folder with a few .mlir files is
// a good start).
#include <cstddef>
#include <cstdint>

#include "millrace/devices/stablehlo/text/read_text.h"
#include "tests/fuzz/reads_back.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::devices::stablehlo;  // NOLINT: a target has one function
  const auto module = text::read_text({reinterpret_cast<const char*>(data), size});
  if (module) millrace::testing::check_reads_back(*module);
  return 0;
}
