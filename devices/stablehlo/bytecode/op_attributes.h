// The attributes of an operation between VHLO and StableHLO. VHLO has fewer kinds of attributes
// (arrays of numbers are tensors, symbols are strings, records are one attribute for each field)
// and spells out every default. Read next: vhlo_ops.h, ir/records.h.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/byte_cursor.h"
#include "millrace/devices/stablehlo/bytecode/entry_pool.h"
#include "millrace/devices/stablehlo/bytecode/vhlo_ops.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::bytecode {

using Attributes = std::vector<ir::NamedAttribute>;

// Thread-safety: confined.
class ToStablehlo {
 public:
  ToStablehlo(const File& file, ir::Module& module) : file_(file), module_(module) {}

  // Inherent and other attributes of an operation at `at` in the file. Those that a revision does
  // not have are as if they had their defaults.
  Attributes convert(const VhloOp& op, std::size_t at, const Attributes& given);

 private:
  ir::Attribute to_role(Role role, ir::Attribute given);

  const File& file_;
  ir::Module& module_;
  // Arrays and symbols that were made of an attribute, by the role that it had: many operations
  // share one.
  std::map<std::pair<const ir::AttributeData*, Role>, ir::Attribute> made_;
};

// Names with the numbers of attributes in a pool.
using Encoded = std::vector<std::pair<std::string_view, std::uint64_t>>;

// Inherent attributes in the order of the row, and the others by name.
struct OpAttributes {
  Encoded inherent;
  Encoded others;
};
// What this revision does not have fails in the pool with kUnimplemented, an attribute that is
// missing with kInvalidArgument. `made`: for values that the operation does not have as such.
OpAttributes to_vhlo(EntryPool& pool, ir::Module& made, const ir::Op& op, const VhloOp& row);

}  // namespace millrace::devices::stablehlo::bytecode
