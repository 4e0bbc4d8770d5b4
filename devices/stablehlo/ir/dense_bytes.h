// The bytes of ir::DenseAttr, for readers that have them in another form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "millrace/devices/stablehlo/ir/type.h"

namespace millrace::devices::stablehlo::ir {

// The type of an element in memory: index is i64; kInvalid for what cannot be stored.
DType stored_type(Type type);

// An integer, little-endian, sign- or zero-extended by its type.
std::int64_t load_int(const std::byte* element, DType type);

// Brings elements of less than a byte, one byte each, to their form in memory: what is above their
// bits is their sign, or nothing.
void normalise(DType type, std::span<std::byte> bytes);

// i1 eight to a byte, lowest bit first, to one byte each.
void unpack_bits(std::span<const std::byte> packed, std::span<std::byte> out);

}  // namespace millrace::devices::stablehlo::ir
