// From the attributes of a VHLO operation to those of the StableHLO operation that it stands for:
// defaults are left out, fields become records, tensors of indices become arrays. Read next:
// attribute_rules.h, records.h.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/bytecode/attribute_rules.h"
#include "millrace/devices/cpu/bytecode/byte_cursor.h"
#include "millrace/devices/cpu/bytecode/vhlo_ops.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::bytecode {

using Attributes = std::vector<ir::NamedAttribute>;

// Thread-safety: confined.
class ToStablehlo {
 public:
  ToStablehlo(Problem& problem, ir::Module& module) : problem_(problem), module_(module) {}

  // Inherent and other attributes of an operation at `at` in the file, appended to *out. Those that
  // a revision does not have are as if they had their defaults.
  bool convert(const VhloOp& op, std::size_t at, const Attributes& given, Attributes* out);

 private:
  bool convert_one(const VhloOp& op, std::size_t at, const ir::NamedAttribute& given,
                   Attributes* out);

  Problem& problem_;
  ir::Module& module_;
  // Arrays and symbols that were made of an attribute, by the role that it had: many operations
  // share one.
  std::map<std::pair<const ir::AttributeData*, Role>, ir::Attribute> made_;
};

}  // namespace millrace::devices::cpu::bytecode
