#include "millrace/devices/stablehlo/ir/float_format.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "millrace/core/base/check.h"

namespace millrace::devices::stablehlo::ir {
namespace {

// How the all-ones exponents and the sign of zero are used.
enum class Specials { kIeee, kNanOnlyAllOnes, kNanIsNegativeZero, kFiniteOnly };

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
};

// In the order of DType, from kF16 on.
constexpr Format kFormats[] = {
    {5, 10, 15, Specials::kIeee},              // f16
    {8, 7, 127, Specials::kIeee},              // bf16
    {8, 23, 127, Specials::kIeee},             // f32
    {11, 52, 1023, Specials::kIeee},           // f64
    {8, 23, 127, Specials::kIeee},             // tf32, as it lies in memory
    {5, 2, 15, Specials::kIeee},               // f8E5M2
    {4, 3, 7, Specials::kIeee},                // f8E4M3
    {4, 3, 7, Specials::kNanOnlyAllOnes},      // f8E4M3FN
    {4, 3, 11, Specials::kNanIsNegativeZero},  // f8E4M3B11FNUZ
    {5, 2, 16, Specials::kNanIsNegativeZero},  // f8E5M2FNUZ
    {4, 3, 8, Specials::kNanIsNegativeZero},   // f8E4M3FNUZ
    {3, 4, 3, Specials::kIeee},                // f8E3M4
    {},                                        // f8E8M0FNU: encode_scale
    {2, 1, 1, Specials::kFiniteOnly},          // f4E2M1FN
    {2, 3, 1, Specials::kFiniteOnly},          // f6E2M3FN
    {3, 2, 3, Specials::kFiniteOnly},          // f6E3M2FN
};
static_assert(std::size(kFormats) == static_cast<std::size_t>(DType::kF6E3M2FN) -
                                         static_cast<std::size_t>(DType::kF16) + 1);

const Format& format_of(DType type) {
  const auto i = static_cast<std::size_t>(type) - static_cast<std::size_t>(DType::kF16);
  MILLRACE_CHECK(i < std::size(kFormats) && kFormats[i].exponent_bits != 0, "a floating type");
  return kFormats[i];
}

// The bits of all magnitudes, of the largest finite one and of NaN.
std::uint64_t all_bits(const Format& f) {
  return (std::uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
}
std::uint64_t largest(const Format& f) {
  if (f.specials == Specials::kIeee) return all_bits(f) - (std::uint64_t{1} << f.mantissa_bits);
  return f.specials == Specials::kNanOnlyAllOnes ? all_bits(f) - 1 : all_bits(f);
}
std::uint64_t nan_bits(const Format& f) {
  // Infinity with the highest bit of the mantissa; or what no number has.
  if (f.specials == Specials::kIeee)
    return (largest(f) + 1) | (std::uint64_t{1} << (f.mantissa_bits - 1));
  return f.specials == Specials::kNanIsNegativeZero ? all_bits(f) + 1 : all_bits(f);
}

// f8E8M0FNU: an unsigned power of two; 0xFF is NaN, as all is that has no power near it: zero too.
std::uint64_t encode_scale(double value) {
  if (!(value > 0) || std::isinf(value)) return 0xFF;
  int exponent = 0;
  const double fraction =
      std::frexp(value, &exponent);  // value = fraction * 2^exponent, 0.5 <= fraction < 1
  const int biased = exponent - 1 + 127 + (fraction >= 0.75 ? 1 : 0);
  if (biased < 0) return 0;
  return biased > 0xFE ? 0xFF : static_cast<std::uint64_t>(biased);
}

}  // namespace

std::uint64_t encode_float(DType type, double value) {
  if (type == DType::kF64) return std::bit_cast<std::uint64_t>(value);
  if (type == DType::kF32 || type == DType::kTF32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (type == DType::kF8E8M0FNU) return encode_scale(value);
  return FloatEncoder(type).encode(value);
}

FloatEncoder::FloatEncoder(DType type) {
  constexpr std::uint64_t kBias = 1023;  // of doubles
  const Format f = format_of(type);
  mantissa_bits_ = f.mantissa_bits;
  width_ = f.exponent_bits + f.mantissa_bits;
  MILLRACE_CHECK(width_ < 16, "a floating type of at most 16 bits");
  lowest_ = kBias + 1 - static_cast<std::uint64_t>(f.bias);
  unit_ = 2 * kBias + static_cast<std::uint64_t>(f.mantissa_bits);
  // No exponent of the format is above this one, so a carry cannot be mistaken for a number.
  beyond_ = (lowest_ + (std::uint64_t{1} << f.exponent_bits)) << 52;
  largest_ = largest(f);
  nan_ = nan_bits(f);
  const std::uint64_t sign = std::uint64_t{1} << width_;
  const bool to_nan =
      f.specials == Specials::kNanOnlyAllOnes || f.specials == Specials::kNanIsNegativeZero;
  over_ = to_nan ? nan_ : f.specials == Specials::kIeee ? largest_ + 1 : largest_;
  over_sign_ = to_nan ? 0 : sign;
  zero_sign_ = f.specials == Specials::kNanIsNegativeZero ? 0 : sign;
}

FloatLayout float_layout(DType type) {
  if (type == DType::kF8E8M0FNU) return {8, 0, 127, 0xFF};
  const Format f = format_of(type);
  return {f.exponent_bits, f.mantissa_bits, f.bias, largest(f) + 1};
}

double decode_float(DType type, std::uint64_t bits) {
  using Limits = std::numeric_limits<double>;
  if (type == DType::kF64) return std::bit_cast<double>(bits);
  if (type == DType::kF32 || type == DType::kTF32)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (type == DType::kF8E8M0FNU) {
    return (bits & 0xFF) == 0xFF ? Limits::quiet_NaN()
                                 : std::ldexp(1.0, static_cast<int>(bits & 0xFF) - 127);
  }
  const Format f = format_of(type);
  const int width = f.exponent_bits + f.mantissa_bits;
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << width) - 1);
  const bool negative = ((bits >> width) & 1) != 0;
  if (f.specials == Specials::kIeee && magnitude == largest(f) + 1)
    return negative ? -Limits::infinity() : Limits::infinity();
  if (magnitude > largest(f) ||
      (f.specials == Specials::kNanIsNegativeZero && negative && magnitude == 0)) {
    return Limits::quiet_NaN();
  }
  const auto exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  const std::uint64_t units =
      exponent == 0 ? mantissa : mantissa | (std::uint64_t{1} << f.mantissa_bits);
  const double value =
      std::ldexp(static_cast<double>(units), std::max(exponent, 1) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

void append_float(std::string& out, DType type, std::uint64_t bits) {
  const double value = decode_float(type, bits);
  if (!std::isfinite(value)) {
    out += "0x";
    for (int shift = (bit_width(type) + 3) / 4 * 4 - 4; shift >= 0; shift -= 4)
      out += kHexDigits[bits >> shift & 15];
    return;
  }
  const std::size_t begin = out.size();
  append_number(out, value);
  // The grammar wants a decimal point: 1e+20 becomes 1.0e+20.
  if (out.find('.', begin) == std::string::npos)
    out.insert(std::min(out.find('e', begin), out.size()), ".0");
}

}  // namespace millrace::devices::stablehlo::ir
