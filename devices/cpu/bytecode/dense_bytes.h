// The bytes of a tensor literal between the form that bytecode has and that of ir::DenseAttr.
#pragma once

#include <span>
#include <vector>

#include "millrace/devices/cpu/bytecode/byte_cursor.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::bytecode {

// Raw little-endian elements, all or one for all of them; i1 also eight to a byte, lowest bit
// first, 0xFF being true for all.
bool dense_from_bytes(ByteCursor& in, ir::Module& module, ir::Type type,
                      std::span<const std::byte> raw, ir::Attribute* out);

// The same, back: i1 is packed.
std::vector<std::byte> bytes_of_dense(const ir::DenseAttr& dense);

}  // namespace millrace::devices::cpu::bytecode
