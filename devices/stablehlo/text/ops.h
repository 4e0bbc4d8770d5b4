// Operations and regions, from text: the generic form here and in ops.cc, the short forms of
// StableHLO and CHLO in pretty_*.cc, which pretty.h lists.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/text/state.h"

namespace millrace::devices::stablehlo::text {

// One op with its result names and location, appended to block.
bool read_op(State& s, ir::Block& block);
// Ops up to the closing '}', which is stepped over.
bool read_ops(State& s, ir::Block& block);

// A name and type for an argument of a region's first block, given by the op's header.
struct Argument {
  std::string_view name;
  ir::Type type;
  ir::Location location;
};

// %a: T, with its location.
bool read_argument(State& s, Argument* out);
// (%a: T, %b: U)
bool read_arguments(State& s, std::vector<Argument>* out);

// { ops } or { ^bb0(%a: T): ops ... }; arguments are those of the entry if its label is not
// written.
bool read_region(State& s, std::span<const Argument> arguments, std::vector<ir::Block*>* blocks);

// %a or %a#1: a value in scope, appended to out.
bool read_operand(State& s, std::vector<ir::Value*>* out);
// %a, %b, ... up to what is no value; a comma that is not followed by a value is stepped over too,
// and *comma (if given) says so.
bool read_operands(State& s, std::vector<ir::Value*>* out, bool* comma = nullptr);
// (%a, %b)
bool read_operand_tuple(State& s, std::vector<ir::Value*>* out);
// A name that is being defined: %a. With its location.
bool read_value_name(State& s, std::string_view* name);

// That the operands of the draft have these types, in number and one by one.
bool match_operand_types(State& s, const Draft& draft, std::span<const ir::Type> types);
// ": (T, U) -> V", matched with the operands.
bool read_signature(State& s, Draft& draft);

}  // namespace millrace::devices::stablehlo::text
