#include "millrace/devices/stablehlo/read_program.h"

#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "millrace/devices/stablehlo/text/read_text.h"

namespace millrace::devices::stablehlo {

Result<ir::Module> read_program(std::string_view code) {
  return bytecode::is_bytecode(code) ? bytecode::read_bytecode(code) : text::read_text(code);
}

}  // namespace millrace::devices::stablehlo
