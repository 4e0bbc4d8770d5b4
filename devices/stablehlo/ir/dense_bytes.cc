#include "millrace/devices/stablehlo/ir/dense_bytes.h"

#include <cstring>

namespace millrace::devices::stablehlo::ir {

DType stored_type(Type type) {
  if (type.kind() == TypeKind::kTensor && type.element().kind() == TypeKind::kIndex)
    return DType::kI64;
  return type.dtype();
}

std::int64_t load_int(const std::byte* element, DType type) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, element, byte_width(type));
  if (!is_signed_integer(type)) return static_cast<std::int64_t>(raw);
  const std::size_t unused = 64 - 8 * byte_width(type);
  return static_cast<std::int64_t>(raw << unused) >> unused;
}

void normalise(DType type, std::span<std::byte> bytes) {
  const int bits = bit_width(type);
  if (bits >= 8) return;
  for (std::byte& b : bytes) {
    const auto raw = static_cast<unsigned>(b);
    if (type == DType::kI1) {
      b = static_cast<std::byte>(raw != 0);
    } else if (is_signed_integer(type)) {
      b = static_cast<std::byte>(static_cast<int>(raw << (32 - bits)) >> (32 - bits));
    } else {
      b = static_cast<std::byte>(raw & ((1u << bits) - 1));
    }
  }
}

void unpack_bits(std::span<const std::byte> packed, std::span<std::byte> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = packed[i / 8] >> (i % 8) & std::byte{1};
}

}  // namespace millrace::devices::stablehlo::ir
