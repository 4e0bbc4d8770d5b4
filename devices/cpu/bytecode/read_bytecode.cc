#include "millrace/devices/cpu/bytecode/read_bytecode.h"

#include "millrace/devices/cpu/bytecode/container.h"
#include "millrace/devices/cpu/bytecode/operations.h"

namespace millrace::devices::cpu::bytecode {

bool is_bytecode(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<ir::Module> read_bytecode(std::string_view bytes) {
  Problem problem;
  Container container;
  ir::Module module;
  if (!read_container(problem, bytes, &container) ||
      !Operations(problem, container, module).read()) {
    return std::unexpected(*problem.error());
  }
  return module;
}

}  // namespace millrace::devices::cpu::bytecode
