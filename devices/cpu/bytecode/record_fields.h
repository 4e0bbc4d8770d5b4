// The fields of StableHLO's records, one by one, as VHLO has them: records.h the other way.
#pragma once

#include <string_view>

#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::bytecode {

// The value of a field of an operation's record, made in `made`; a null handle if the operation has
// no such record. A field of a record that is left out has the value that says so.
ir::Attribute record_field(ir::Module& made, const ir::Op& op, std::string_view name);

// Whether a revision without this field means the same.
bool is_left_out(ir::Attribute field);

}  // namespace millrace::devices::cpu::bytecode
