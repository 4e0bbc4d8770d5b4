// reduce_precision on the bits of one number, as XLA has it: the mantissa is rounded to nearest,
// ties to even; then, if fewer bits of exponent are wanted than the number has, what they cannot
// hold becomes infinity or zero. A format that keeps its exponent keeps its denormals.
#pragma once

#include <algorithm>

#include "millrace/devices/cpu/kernels/base/element.h"

namespace millrace::devices::cpu {

// What the numbers are made of, all as bits without the sign.
template <class U>
struct FloatBits {
  int exponent_bits, mantissa_bits, bias;
  U infinity;  // where there is none: one above the largest
};
template <class T>
MILLRACE_INLINE constexpr auto float_bits() {
  if constexpr (std::is_same_v<T, double>)
    return FloatBits<std::uint64_t>{11, 52, 1023, std::uint64_t{0x7FF} << 52};
  else if constexpr (std::is_same_v<T, float>)
    return FloatBits<std::uint32_t>{8, 23, 127, 0x7F800000};
  else if constexpr (std::is_same_v<T, Half>)
    return FloatBits<std::uint16_t>{5, 10, 15, 0x7C00};
  else
    return FloatBits<std::uint16_t>{8, 7, 127, 0x7F80};
}

// magnitude: without the sign, finite or infinity.
template <class U>
MILLRACE_INLINE U reduce_magnitude(U magnitude, const FloatBits<U>& of, int exponent_bits,
                                   int mantissa_bits) {
  const U all = static_cast<U>(~U{0});
  const int drop = std::max(of.mantissa_bits - mantissa_bits, 0);
  const U half = static_cast<U>(((U{1} << drop) >> 1) - (drop > 0 ? 1 : 0));
  const U odd = static_cast<U>(drop > 0 ? (magnitude >> drop) & 1 : 0);
  // A carry out of the mantissa lands in the exponent, at most at infinity.
  const U rounded = static_cast<U>((magnitude + half + odd) & static_cast<U>(all << drop));
  const bool narrower = exponent_bits < of.exponent_bits;
  const int reach = (1 << (std::min(exponent_bits, of.exponent_bits) - 1)) - 1;
  const int exponent = static_cast<int>(rounded >> of.mantissa_bits) - of.bias;
  const U low = narrower && exponent <= -reach ? U{0} : rounded;
  return std::min(narrower && exponent > reach ? of.infinity : low, of.infinity);
}

}  // namespace millrace::devices::cpu
