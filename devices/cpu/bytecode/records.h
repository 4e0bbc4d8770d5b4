// The attributes of StableHLO that VHLO spells as one attribute for each field: dimension numbers,
// channel handles, the algorithm of a dot. One row for each operation that has one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "millrace/devices/cpu/bytecode/version.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::bytecode {

// Appends the records of an operation, made of its fields; *why says what is wrong with a field.
bool make_records(ir::Module& module, ir::OpKind kind, std::span<const ir::NamedAttribute> fields,
                  std::vector<ir::NamedAttribute>* out, std::string* why);

// The integers of a tensor, or of one splat to a few; false for anything else.
bool ints_of(ir::Attribute attribute, std::vector<std::int64_t>* out);

}  // namespace millrace::devices::cpu::bytecode
