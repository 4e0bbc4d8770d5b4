// The floating formats of StableHLO, from f64 down to f4E2M1FN: between their bits and double.
// Used by the reader for literals, by attributes, and by the kernels for what no processor has.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>

#include "millrace/devices/shape.h"

namespace millrace::devices::stablehlo::ir {

// The nearest value of the format, ties to even. Overflow gives infinity where the format has one,
// else NaN, else the largest finite value. type must be a floating type.
std::uint64_t encode_float(DType type, double value);
// The value of the low bit_width(type) bits; exact.
double decode_float(DType type, std::uint64_t bits);

inline void append_number(std::string& out, auto value) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}
inline constexpr char kHexDigits[] = "0123456789ABCDEF";
// As the text writes it: decimal, with a point, if that reads back to the same bits, which NaN and
// infinity do not: those in hex.
void append_float(std::string& out, DType type, std::uint64_t bits);

// What the bits of a format are made of, without the sign. type must be a floating type.
struct FloatLayout {
  int exponent_bits, mantissa_bits, bias;
  std::uint64_t above;  // the bits behind the largest finite ones: infinity, where there is one
};
FloatLayout float_layout(DType type);

// encode_float for many values of one format of at most 16 bits that has a sign (all but
// f8E8M0FNU): what there is to know of the format is found once, and nothing branches.
class FloatEncoder {
 public:
  explicit FloatEncoder(DType type);
  std::uint64_t encode(double value) const {
    constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;
    const auto all = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t given = all & ~(std::uint64_t{1} << 63);
    const std::uint64_t magnitude = std::min(given, beyond_);
    // By the double's own exponent; denormal doubles are below all that is distinguished here.
    const std::uint64_t exponent = std::max(magnitude >> 52, lowest_);
    // Below 2^52, so that adding that rounds to an integer, to nearest even.
    const double units =
        (std::bit_cast<double>(magnitude) * std::bit_cast<double>((unit_ - exponent) << 52) +
         0x1p52) -
        0x1p52;
    // A carry out of the mantissa lands in the exponent, as it should.
    const std::uint64_t bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(units)) +
                               ((exponent - lowest_) << mantissa_bits_);
    const std::uint64_t sign = (all >> 63) << width_;
    const std::uint64_t number = bits | (bits == 0 ? sign & zero_sign_ : sign);
    const std::uint64_t finite = bits > largest_ ? over_ | (sign & over_sign_) : number;
    return given > kInfinity ? nan_ : finite;
  }

 private:
  int mantissa_bits_, width_;            // width_: without the sign
  std::uint64_t lowest_, unit_;          // exponents of doubles: of the smallest normal; see encode
  std::uint64_t beyond_;                 // a double that is too large for the format
  std::uint64_t largest_, over_, nan_;   // bits: the largest finite number, what is above it, NaN
  std::uint64_t over_sign_, zero_sign_;  // the sign bit where those have one
};

}  // namespace millrace::devices::stablehlo::ir
