// Encodings of attributes that VHLO shares with MLIR's own dialect, behind their codes.
#pragma once

#include "millrace/devices/cpu/bytecode/entries.h"

namespace millrace::devices::cpu::bytecode {

bool read_array(Entries& entries, ByteCursor& in, ir::Attribute* out);
bool read_dict(Entries& entries, ByteCursor& in, ir::Attribute* out);
bool read_float(Entries& entries, ByteCursor& in, ir::Attribute* out);
// An integer of type i1 is a bool.
bool read_integer(Entries& entries, ByteCursor& in, ir::Attribute* out);
bool read_string(Entries& entries, ByteCursor& in, ir::Attribute* out);
// A type and the bytes of its elements.
bool read_tensor(Entries& entries, ByteCursor& in, ir::Attribute* out);
bool read_type_attribute(Entries& entries, ByteCursor& in, ir::Attribute* out);

}  // namespace millrace::devices::cpu::bytecode
