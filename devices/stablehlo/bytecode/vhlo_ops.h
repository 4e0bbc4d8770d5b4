// The operations of VHLO, by ir/ops.inc: each revision with the versions of the dialect that have
// it and its inherent attributes in the order in which their values are encoded. Read next:
// op_attributes.h, which turns these attributes into those of StableHLO and back.
#pragma once

#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/version.h"
#include "millrace/devices/stablehlo/ir/op_kind.h"

namespace millrace::devices::stablehlo::bytecode {

// What an attribute of VHLO is in StableHLO: VHLO has fewer kinds of attributes.
enum class Role {
  kPlain,
  kInts,        // a tensor of i64 is array<i64: ...>
  kBools,       // a tensor of i1 is array<i1: ...>
  kSymbol,      // a string is @symbol
  kSymbols,     // an array of strings is one of symbols
  kUnit,        // true is a unit attribute, false is none
  kChannelId,   // a number is a channel_handle of type 0
  kApiVersion,  // an enum is a number
  kField,       // of a record (ir/records.h)
};

// The value that StableHLO leaves out and VHLO spells out.
enum class Default {
  kNone,
  kZero,
  kMinusOne,
  kFalse,
  kEmptyString,
  kEmptyArray,
  kEmptyDict,
  kNoType,    // of a comparison
  kAccuracy,  // of a result
  kOriginal,  // of a custom call's interface: 1
  kOnes,      // a splat of 1, one for each spatial or window dimension
  kZeros,     // a splat of 0, two for each of them
  kFalses,
  kNoInts,
  kEmptyConfig,  // "" or {}
  kPrecision,    // [DEFAULT, DEFAULT]
};

struct VhloAttribute {
  std::string_view name;
  Role role = Role::kPlain;
  Default value = Default::kNone;
};

struct VhloOp {
  std::string_view name;  // "add" of "add_v1"
  int revision;
  ir::OpKind kind;  // kOther for func
  Version since;    // first and last version that has it
  Version until;
  std::vector<VhloAttribute> attributes;  // in alphabetical order

  const VhloAttribute* find(std::string_view attribute) const;  // nullptr if it has none
};

// By its full name in the bytecode, "add_v1"; nullptr if there is none.
const VhloOp* find_vhlo_op(std::string_view name);
// The revision of an operation that a version has; nullptr if it has none.
const VhloOp* find_vhlo_op(std::string_view name, Version version);

}  // namespace millrace::devices::stablehlo::bytecode
