// From the attributes of a StableHLO operation to those of the VHLO operation that stands for it:
// records become fields, defaults are spelled out. to_stablehlo.h the other way.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/bytecode/entry_pool.h"
#include "millrace/devices/cpu/bytecode/vhlo_ops.h"

namespace millrace::devices::cpu::bytecode {

// Names with the numbers of attributes in a pool.
using Encoded = std::vector<std::pair<std::string_view, std::uint64_t>>;

// Inherent attributes in the order of the row, and the others by name. kUnimplemented for what this
// revision does not have.
struct OpAttributes {
  Encoded inherent;
  Encoded others;
};
Result<OpAttributes> to_vhlo(EntryPool& pool, const ir::Op& op, const VhloOp& row);

}  // namespace millrace::devices::cpu::bytecode
