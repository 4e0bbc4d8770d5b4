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
// V or (V, W), behind an arrow
bool read_result_types(State& s, std::vector<ir::Type>* out);
// (T, U) -> V or (T, U) -> (V, W)
bool read_function_type(State& s, std::vector<ir::Type>* inputs, std::vector<ir::Type>* results);
// Whether a type may begin with this token.
bool begins_type(const Token& token);
// The word of a plain element type; `what` is expected.
bool read_dtype(State& s, std::string_view what, DType* out);
// <1, ?> or <bounds = [1, ?]>; '?' becomes kDynamic.
bool read_bounds(State& s, std::vector<std::int64_t>* out);
// What stands from `begin` to the end of the token before the cursor's.
std::string_view text_since(const State& s, std::size_t begin);

}  // namespace millrace::devices::stablehlo::text
