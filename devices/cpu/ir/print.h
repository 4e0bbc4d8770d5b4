// print: a module as StableHLO text that read_text reads back to an equal module.
#pragma once

#include <string>

#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::ir {

// Pretty forms for the plain elementwise operations, constants, functions, calls and returns; the
// generic form for the rest. Values are numbered anew.
std::string print(const Module& module);
std::string print(const Op& op);  // one op with its regions; operands by their ids
std::string print(Attribute attribute);

}  // namespace millrace::devices::cpu::ir
