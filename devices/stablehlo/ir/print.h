// print: a module as StableHLO text that read_text reads back to an equal module.
#pragma once

#include <string>

#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::ir {

// kShort: short forms for the plain elementwise operations, constants, functions, calls and
// returns; the generic form for the rest. kGeneric: that for all operations, so that modules differ
// in their text where they differ in anything but locations.
enum class Form { kShort, kGeneric };
// Values are numbered anew.
std::string print(const Module& module, Form form = Form::kShort);
std::string print(const Op& op);  // one op with its regions; operands by their ids
std::string print(Attribute attribute);

}  // namespace millrace::devices::stablehlo::ir
