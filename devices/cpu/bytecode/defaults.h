// The values that StableHLO leaves out and VHLO spells out.
#pragma once

#include "millrace/devices/cpu/bytecode/attribute_rules.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::bytecode {

// Whether the attribute of VHLO has the default value.
bool is_default(Default value, ir::Attribute attribute);

}  // namespace millrace::devices::cpu::bytecode
