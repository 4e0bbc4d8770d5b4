// From the attributes of an op to those that the handler of a custom call sees.
#pragma once

#include "millrace/devices/cpu/custom_call_attributes.h"
#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::cpu {
namespace ir = stablehlo::ir;
}
namespace millrace::devices::cpu::definition {

// Those of its mhlo.backend_config (as JAX writes it) and its backend_config, where they are
// dictionaries. What CallValue has nothing for (types, symbols, lists of several kinds, literals of
// more than a million elements) is not among them.
CallAttributes call_attributes(const ir::Op& op);

}  // namespace millrace::devices::cpu::definition
