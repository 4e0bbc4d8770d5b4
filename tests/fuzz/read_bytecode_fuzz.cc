// libFuzzer target: whatever the bytes, read_bytecode gives a module or an error; verify gives a
// verdict on a module, and it prints to text that reads back to an equal one. A good corpus is the
// artifacts under tests/programs/bytecode.
#include <cstddef>
#include <cstdint>

#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "tests/fuzz/reads_back.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::devices::stablehlo;  // NOLINT: a target has one function
  const auto module = bytecode::read_bytecode({reinterpret_cast<const char*>(data), size});
  if (module) millrace::testing::check_reads_back(*module);
  return 0;
}
