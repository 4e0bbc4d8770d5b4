// What a program says of the shapes that it takes: custom_call @shape_assertion.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/ir/op.h"
#include "millrace/devices/cpu/refine/known.h"

namespace millrace::devices::cpu::refine {

// kInvalidArgument with the program's own message if it does not hold; kUnimplemented if operand 0
// is not known.
Status check_assertion(const ir::Op& op, std::span<const KnownRef> operands);

// text with "{0}", "{1}", ... replaced by the operands after the first.
std::string formatted(std::string_view text, std::span<const KnownRef> operands);

}  // namespace millrace::devices::cpu::refine
