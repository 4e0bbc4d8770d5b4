// What an inherent attribute of a VHLO operation is in StableHLO: VHLO has fewer kinds of
// attributes (arrays of numbers are tensors, symbols are strings, records are one attribute for
// each field) and spells out every default. One row for each name; the reader and the writer share
// the table.
#pragma once

#include <span>
#include <string_view>

#include "millrace/devices/cpu/ir/op_kind.h"

namespace millrace::devices::cpu::bytecode {

enum class Role {
  kPlain,
  kInts,        // a tensor of i64 is array<i64: ...>
  kBools,       // a tensor of i1 is array<i1: ...>
  kSymbol,      // a string is @symbol
  kSymbols,     // an array of strings is one of symbols
  kUnit,        // true is a unit attribute, false is none
  kChannelId,   // a number is a channel_handle of type 0
  kApiVersion,  // an enum is a number
  kField,       // of the record that records.h makes
};

// The value that StableHLO leaves out.
enum class Default {
  kNone,
  kZero,
  kMinusOne,
  kFalse,
  kOnes,   // a splat of 1, one for each spatial or window dimension
  kZeros,  // a splat of 0, two for each of them
  kFalses,
  kNoInts,
  kEmptyString,
  kEmptyConfig,  // "" or {}
  kEmptyArray,
  kEmptyDict,
  kNoType,     // of a comparison
  kPrecision,  // [DEFAULT, DEFAULT]
  kAccuracy,   // of a result
  kOriginal,   // of a custom call's interface: 1
};

struct AttributeRule {
  std::string_view name;
  Role role;
  Default value = Default::kNone;
  ir::OpKind only = ir::OpKind::kOther;  // kOther: of any operation
};

// The rule for an attribute of an operation; a plain one without default if none is written down.
const AttributeRule& attribute_rule(ir::OpKind kind, std::string_view name);

}  // namespace millrace::devices::cpu::bytecode
