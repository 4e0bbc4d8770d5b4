// The datatypes of the Open Inference Protocol v2 and the element types that they are. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "millrace/devices/shape.h"

namespace millrace::serve {

// "FP32" and so on; nullopt for BYTES, whose elements have no length, and for what is none.
std::optional<devices::DType> dtype_of_datatype(std::string_view datatype);
// Empty: the protocol has none for it.
std::string_view datatype_of(devices::DType type);

// The nearest float of 16 bits, ties to even; beyond its range, an infinity.
std::uint16_t to_fp16(float value);
std::uint16_t to_bf16(float value);
float from_fp16(std::uint16_t bits);
float from_bf16(std::uint16_t bits);

}  // namespace millrace::serve
