// Attributes of MLIR and StableHLO, from text. Dense elements are in dense.cc, #stablehlo<...> in
// dialect_attributes.cc.
#pragma once

#include <string_view>
#include <vector>

#include "millrace/devices/stablehlo/text/state.h"

namespace millrace::devices::stablehlo::text {

bool read_attribute(State& s, ir::Attribute* out);
// {name = value, unit, "quoted name" = value}, appended to out.
bool read_attribute_dict(State& s, std::vector<ir::NamedAttribute>* out);
// The same if a '{' is at the cursor; nothing otherwise.
bool read_optional_dict(State& s, std::vector<ir::NamedAttribute>* out);

// dense<...> : type and dense_resource<key> : type; the cursor is at the word.
bool read_dense(State& s, ir::Attribute* out);
bool read_dense_resource(State& s, ir::Attribute* out);
// Fills a dense_resource with the blob "0x<alignment><bytes>" of the text's end.
bool fill_resource(State& s, const State::PendingResource& pending, std::string_view hex);

// #stablehlo..., at the cursor's kAttrId token.
bool read_dialect_attribute(State& s, ir::Attribute* out);
// The value of an enum by its bare word (LT), as pretty forms have it.
bool read_enum_word(State& s, ir::EnumClass enum_class, ir::Attribute* out);
// [b, 0, f]x[0, i, o]->[b, 0, f]
bool read_conv_dims(State& s, ir::Attribute* out);
// <lhs_precision_type = tf32, ...>
bool read_dot_algorithm(State& s, ir::Attribute* out);

// Whether a number of this magnitude is a value of a type: with a sign of signed integers, without
// one of their bits (255 : i8), as in MLIR; of floats, whether these may be the bits.
bool fits(std::uint64_t magnitude, DType type, bool negative);

// Attributes that pretty forms imply.
ir::Attribute make_int(State& s, std::int64_t value, DType type = DType::kI64);
ir::Attribute make_ints(State& s, std::span<const std::int64_t> values,
                        DType element = DType::kI64);
ir::Attribute make_string(State& s, std::string_view value);
ir::Attribute make_opaque(State& s, std::string_view text);
ir::Attribute make_symbol(State& s, std::string_view name);

}  // namespace millrace::devices::stablehlo::text
