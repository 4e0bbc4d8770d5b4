#include "millrace/devices/cpu/read/read_program.h"

#include "millrace/devices/cpu/bytecode/read_bytecode.h"
#include "millrace/devices/cpu/read/read_text.h"

namespace millrace::devices::cpu::read {

Result<ir::Module> read_program(std::string_view code) {
  return bytecode::is_bytecode(code) ? bytecode::read_bytecode(code) : read_text(code);
}

}  // namespace millrace::devices::cpu::read
