// libFuzzer target: whatever the bytes, read_bytecode gives a module or an error; verify gives a
// verdict on a module, and it prints to text that reads back to an equal one. A good corpus is the
// artifacts under tests/programs/bytecode.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/check.h"
#include "millrace/devices/cpu/bytecode/read_bytecode.h"
#include "millrace/devices/cpu/ir/print.h"
#include "millrace/devices/cpu/read/read_text.h"
#include "millrace/devices/cpu/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::devices::cpu;  // NOLINT: a target has one function
  const auto module = bytecode::read_bytecode({reinterpret_cast<const char*>(data), size});
  if (!module) return 0;
  (void)verify::verify(*module);
  const std::string text = ir::print(*module);
  const auto again = read::read_text(text);
  MILLRACE_CHECK(again.has_value(), "a printed module can be read");
  std::string why;
  MILLRACE_CHECK(ir::equal(*module, *again, &why), "a printed module reads back equal");
  return 0;
}
