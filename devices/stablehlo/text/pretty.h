// The short forms: for each operation that has one, the function that reads what stands behind its
// name, up to (not with) the trailing location. read_op has set kind, name and location of the
// draft.
#pragma once

#include <string_view>

#include "millrace/devices/stablehlo/text/state.h"

namespace millrace::devices::stablehlo::text {

using PrettyReader = bool (*)(State&, Draft&);

// nullptr if the operation is written in the generic form only.
PrettyReader pretty_reader(ir::OpKind kind);

// pretty_sharding.cc: the same for Shardy's operations, which have no kinds of their own.
PrettyReader pretty_sharding_reader(std::string_view name);

// What they share: an attribute that the form implies; "{attributes} : signature" at the end.
void add(State& s, Draft& draft, std::string_view name, ir::Attribute value);
bool read_tail(State& s, Draft& draft);

// pretty_structure.cc: operations with regions, calls and symbols.
bool read_pretty_reduce(State& s, Draft& draft);
bool read_pretty_while(State& s, Draft& draft);
bool read_pretty_custom_call(State& s, Draft& draft);
bool read_pretty_composite(State& s, Draft& draft);
bool read_pretty_call(State& s, Draft& draft);
bool read_pretty_return(State& s, Draft& draft);
// pretty_linear.cc: contractions and what has several lists of numbers.
bool read_pretty_dot_general(State& s, Draft& draft);
bool read_pretty_dot(State& s, Draft& draft);
bool read_pretty_convolution(State& s, Draft& draft);
bool read_pretty_slice(State& s, Draft& draft);
// pretty_chlo.cc
bool read_pretty_chlo(State& s, Draft& draft);
bool read_pretty_top_k(State& s, Draft& draft);

}  // namespace millrace::devices::stablehlo::text
