// Encodings of types that VHLO shares with MLIR's own dialect, behind their codes.
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/devices/cpu/bytecode/entries.h"

namespace millrace::devices::cpu::bytecode {

bool read_complex(Entries& entries, ByteCursor& in, ir::Type* out);
bool read_function(Entries& entries, ByteCursor& in, ir::Type* out);
bool read_index(Entries& entries, ByteCursor& in, ir::Type* out);
bool read_none(Entries& entries, ByteCursor& in, ir::Type* out);
bool read_tensor(Entries& entries, ByteCursor& in, ir::Type* out);
bool read_tuple(Entries& entries, ByteCursor& in, ir::Type* out);

// Parts of tensors: the dimensions, some of which may be dynamic, and the type of an element.
bool read_dims(ByteCursor& in, std::vector<std::int64_t>* dims);
bool read_element(Entries& entries, ByteCursor& in, ir::Type* out);

}  // namespace millrace::devices::cpu::bytecode
