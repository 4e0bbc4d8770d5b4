// read_program: a program in either form that frontends send, text or bytecode. What compiles,
// inspects or checks programs reads them by this.
#pragma once

#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo {

// Distinguished by the first bytes; errors as of read_text and bytecode::read_bytecode.
Result<ir::Module> read_program(std::string_view code);

}  // namespace millrace::devices::stablehlo
