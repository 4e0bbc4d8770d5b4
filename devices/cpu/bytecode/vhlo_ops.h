// The operations of VHLO: one row for each operation and revision, with the versions of the dialect
// that have it and its inherent attributes in the order in which their values are encoded. Read
// next: attribute_rules.h, what these attributes are in StableHLO.
#pragma once

#include <span>
#include <string_view>

#include "millrace/devices/cpu/bytecode/version.h"
#include "millrace/devices/cpu/ir/op_kind.h"

namespace millrace::devices::cpu::bytecode {

struct VhloOp {
  std::string_view name;  // "add" of "add_v1"
  int revision;
  ir::OpKind kind;  // kOther for func
  Version since;    // first and last version that has it
  Version until;
  std::string_view attributes;  // words, in alphabetical order
};

std::span<const VhloOp> vhlo_ops();
// By its full name in the bytecode, "add_v1"; nullptr if there is none.
const VhloOp* find_vhlo_op(std::string_view name);
// The revision of an operation that a version has; nullptr if it has none.
const VhloOp* find_vhlo_op(std::string_view name, Version version);

// Takes the first word off a list of words; empty at the end.
std::string_view take_word(std::string_view* words);
bool has_word(std::string_view words, std::string_view word);

}  // namespace millrace::devices::cpu::bytecode
