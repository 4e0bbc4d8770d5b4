#include "millrace/tools/serve/v2_datatype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace millrace::serve {

using devices::DType;

namespace {

constexpr std::array<std::pair<std::string_view, DType>, 13> kDatatypes = {{
    {"BOOL", DType::kI1},
    {"INT8", DType::kI8},
    {"INT16", DType::kI16},
    {"INT32", DType::kI32},
    {"INT64", DType::kI64},
    {"UINT8", DType::kU8},
    {"UINT16", DType::kU16},
    {"UINT32", DType::kU32},
    {"UINT64", DType::kU64},
    {"FP16", DType::kF16},
    {"BF16", DType::kBF16},
    {"FP32", DType::kF32},
    {"FP64", DType::kF64},
}};

}  // namespace

std::optional<DType> dtype_of_datatype(std::string_view datatype) {
  for (const auto& [name, type] : kDatatypes) {
    if (name == datatype) return type;
  }
  return std::nullopt;
}

std::string_view datatype_of(DType type) {
  for (const auto& [name, dtype] : kDatatypes) {
    if (dtype == type) return name;
  }
  return {};
}

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t to_fp16(float value) {
  const auto sign =
      static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) >> 16) & 0x8000U);
  const float size = std::fabs(value);
  if (size == 0) return sign;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7C00U);
  int exponent = 0;
  std::frexp(size, &exponent);  // size = f * 2^exponent, f in [0.5, 1)
  // A normal number has eleven bits, the smallest of which is 2^(exponent - 11); below 2^-14 it is
  // subnormal, in steps of 2^-24.
  const int step = std::max(exponent - 11, -24);
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -step)));
  // The carry of a rounded-up fraction goes into the exponent, as it should.
  const std::uint32_t base = static_cast<std::uint32_t>(step + 24) << 10;
  return static_cast<std::uint16_t>(sign | (base + steps));
}

float from_fp16(std::uint16_t bits) {
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const auto fraction = static_cast<float>(bits & 0x3FFU);
  const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1F) {
    return (bits & 0x3FFU) != 0 ? std::nanf("") : sign * INFINITY;
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024.0F, static_cast<int>(exponent) - 25);
}

}  // namespace millrace::serve
