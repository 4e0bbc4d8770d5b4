// libFuzzer target: whatever the bytes, read_text gives a module or an error; a module prints to
// text that reads back to an equal one, and verify gives a verdict on it. Build with clang and
// -DMILLRACE_FUZZ=ON, then run build/bin/read_text_fuzz CORPUS (a folder with a few .mlir files is
// a good start).
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/check.h"
#include "millrace/devices/cpu/ir/print.h"
#include "millrace/devices/cpu/read/read_text.h"
#include "millrace/devices/cpu/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::devices::cpu;  // NOLINT: a target has one function
  const auto module = read::read_text({reinterpret_cast<const char*>(data), size});
  if (!module) return 0;
  (void)verify::verify(*module);
  const std::string text = ir::print(*module);
  const auto again = read::read_text(text);
  MILLRACE_CHECK(again.has_value(), "a printed module can be read");
  std::string why;
  MILLRACE_CHECK(ir::equal(*module, *again, &why), "a printed module reads back equal");
  return 0;
}
