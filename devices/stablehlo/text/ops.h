// Operations and regions, from text: the generic form in ops.cc, the short forms in pretty_*.cc.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/text/state.h"

namespace millrace::devices::stablehlo::text {

// One op with its result names and location, appended to block.
bool read_op(State& s, ir::Block& block);

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
// written. isolated: no value is visible in it but what it defines.
bool read_region(State& s, std::span<const Argument> arguments, std::vector<ir::Block*>* blocks,
                 bool isolated = false);

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

// The short forms: for each operation that has one, the function that reads what stands behind its
// name, up to (not with) the trailing location. read_op has set kind, name and location of the
// draft. Most are patterns in the rows of ir/ops.inc (form, in pretty_forms.cc).
using PrettyReader = bool (*)(State&, Draft&);

// nullptr if the operation is written in the generic form only.
PrettyReader pretty_reader(ir::OpKind kind);

// The same for Shardy's operations, which have no kinds of their own.
PrettyReader pretty_sharding_reader(std::string_view name);

// What the forms share. An attribute that the form implies, given or read at the cursor:
void add(State& s, Draft& draft, std::string_view name, ir::Attribute value);
using ValueReader = bool (*)(State&, ir::Attribute*);
bool read_value(State& s, Draft& draft, std::string_view name, ValueReader read);
// [1, 2]
bool read_ints(State& s, ir::Attribute* out);
// [DEFAULT, HIGHEST], also with the spelled-out attributes.
bool read_precision(State& s, ir::Attribute* out);
// "{attributes} : signature" at the end.
bool read_tail(State& s, Draft& draft);

// pretty_structure.cc: operations with regions, and returns.
bool read_pretty_reduce(State& s, Draft& draft);
bool read_pretty_while(State& s, Draft& draft);
bool read_pretty_return(State& s, Draft& draft);
// pretty_linear.cc: what has several lists of numbers.
bool read_pretty_dot_general(State& s, Draft& draft);
bool read_pretty_convolution(State& s, Draft& draft);
bool read_pretty_slice(State& s, Draft& draft);

}  // namespace millrace::devices::stablehlo::text
