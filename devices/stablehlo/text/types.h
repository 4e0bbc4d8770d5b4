// Types of MLIR, StableHLO and the quant dialect, from text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/text/state.h"

namespace millrace::devices::stablehlo::text {

bool read_type(State& s, ir::Type* out);
// T, U, V (at least one)
bool read_types(State& s, std::vector<ir::Type>* out);
// (T, U) or ()
bool read_type_tuple(State& s, std::vector<ir::Type>* out);
// (T, U) -> V or (T, U) -> (V, W)
bool read_function_type(State& s, std::vector<ir::Type>* inputs, std::vector<ir::Type>* results);
// Whether a type may begin with this token.
bool begins_type(const Token& token);
// The plain element type that a word of the text names, kInvalid for others.
DType dtype_of_word(std::string_view word);
// [1, ?] or <1, ?> behind its opening bracket, up to and with the closing one; '?' becomes
// kDynamic.
bool read_bounds(State& s, char close, std::vector<std::int64_t>* out);
// The text from begin to the end of the token before the cursor's, then " : type" of the type that
// follows a ':' at the cursor, if there is one: aliases in that type are written out.
bool read_text_and_type(State& s, std::size_t begin, std::string* out);
// What stands from `begin` to the end of the token before the cursor's.
std::string_view text_since(const State& s, std::size_t begin);

}  // namespace millrace::devices::stablehlo::text
