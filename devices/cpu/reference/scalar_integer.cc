// Functions of integers and booleans. Results wrap when they are stored, so most functions compute
// in 64 bits without a thought.
#include <algorithm>
#include <bit>

#include "millrace/devices/cpu/reference/scalar_op.h"

namespace millrace::devices::cpu::reference {
namespace {

using ir::OpKind;
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

using S = const Scalar*;
using I = const ScalarInfo&;

std::uint64_t mask(I info) { return ~std::uint64_t{0} >> (64 - bit_width(info.in)); }
Scalar u(std::uint64_t x) { return from_unsigned(x); }
Scalar s(std::int64_t x) { return from_signed(x); }

// The same for both signs.
Scalar add(S x, I) { return u(x[0].u + x[1].u); }
Scalar subtract(S x, I) { return u(x[0].u - x[1].u); }
Scalar multiply(S x, I) { return u(x[0].u * x[1].u); }
Scalar negate(S x, I) { return u(0 - x[0].u); }
Scalar bit_not(S x, I) { return u(~x[0].u); }
Scalar bit_and(S x, I) { return u(x[0].u & x[1].u); }
Scalar bit_or(S x, I) { return u(x[0].u | x[1].u); }
Scalar bit_xor(S x, I) { return u(x[0].u ^ x[1].u); }
Scalar square(S x, I) { return u(x[0].u * x[0].u); }
Scalar popcnt(S x, I info) {
  return u(static_cast<std::uint64_t>(std::popcount(x[0].u & mask(info))));
}
Scalar count_leading_zeros(S x, I info) {
  return u(static_cast<std::uint64_t>(std::countl_zero(x[0].u & mask(info)) -
                                      (64 - bit_width(info.in))));
}
// A shift by as many bits as there are, or more, leaves nothing but the sign.
std::uint64_t distance(S x, I info) { return x[1].u & mask(info); }
bool too_far(S x, I info) {
  return distance(x, info) >= static_cast<std::uint64_t>(bit_width(info.in));
}
Scalar shift_left(S x, I info) { return u(too_far(x, info) ? 0 : x[0].u << distance(x, info)); }
Scalar shift_right_logical(S x, I info) {
  return u(too_far(x, info) ? 0 : (x[0].u & mask(info)) >> distance(x, info));
}
Scalar shift_right_arithmetic(S x, I info) {
  const int bits = bit_width(info.in);
  const int unused = 64 - bits;
  const auto value = static_cast<std::int64_t>(x[0].u << unused) >> unused;
  const std::uint64_t by =
      too_far(x, info) ? static_cast<std::uint64_t>(bits - 1) : distance(x, info);
  return s(value >> by);
}
std::uint64_t power_of(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return result;
}

// Signed. A division by zero gives -1 and leaves the dividend as the remainder, as XLA has it.
Scalar signed_abs(S x, I) { return u(x[0].i < 0 ? 0 - x[0].u : x[0].u); }
Scalar signed_sign(S x, I) { return s((x[0].i > 0) - (x[0].i < 0)); }
Scalar signed_divide(S x, I) {
  if (x[1].i == 0) return s(-1);
  if (x[1].i == -1) return u(0 - x[0].u);
  return s(x[0].i / x[1].i);
}
Scalar signed_remainder(S x, I) {
  if (x[1].i == 0) return x[0];
  return s(x[1].i == -1 ? 0 : x[0].i % x[1].i);
}
Scalar signed_maximum(S x, I) { return s(std::max(x[0].i, x[1].i)); }
Scalar signed_minimum(S x, I) { return s(std::min(x[0].i, x[1].i)); }
Scalar signed_clamp(S x, I) { return s(std::min(std::max(x[1].i, x[0].i), x[2].i)); }
Scalar signed_power(S x, I) {
  if (x[1].i < 0) {
    if (x[0].i == 1) return s(1);
    if (x[0].i == -1) return s((x[1].i & 1) != 0 ? -1 : 1);
    return s(0);
  }
  return u(power_of(x[0].u, x[1].u));
}
Scalar signed_compare(S x, I info) {
  return u(compares(info.direction, (x[0].i > x[1].i) - (x[0].i < x[1].i)) ? 1 : 0);
}
Scalar signed_mulhi(S x, I info) {
  const Wide product = static_cast<Wide>(x[0].i) * x[1].i;
  return s(static_cast<std::int64_t>(product >> bit_width(info.in)));
}

// Unsigned.
Scalar unsigned_same(S x, I) { return x[0]; }
Scalar unsigned_sign(S x, I) { return u(x[0].u != 0); }
Scalar unsigned_divide(S x, I) { return u(x[1].u == 0 ? ~std::uint64_t{0} : x[0].u / x[1].u); }
Scalar unsigned_remainder(S x, I) { return u(x[1].u == 0 ? x[0].u : x[0].u % x[1].u); }
Scalar unsigned_maximum(S x, I) { return u(std::max(x[0].u, x[1].u)); }
Scalar unsigned_minimum(S x, I) { return u(std::min(x[0].u, x[1].u)); }
Scalar unsigned_clamp(S x, I) { return u(std::min(std::max(x[1].u, x[0].u), x[2].u)); }
Scalar unsigned_power(S x, I) { return u(power_of(x[0].u, x[1].u)); }
Scalar unsigned_compare(S x, I info) {
  return u(compares(info.direction, (x[0].u > x[1].u) - (x[0].u < x[1].u)) ? 1 : 0);
}
Scalar unsigned_mulhi(S x, I info) {
  const UnsignedWide product = static_cast<UnsignedWide>(x[0].u) * x[1].u;
  return u(static_cast<std::uint64_t>(product >> bit_width(info.in)));
}

ScalarFunction any_sign(OpKind kind) {
  switch (kind) {
    case OpKind::kAdd:
    case OpKind::kChloBroadcastAdd:
      return add;
    case OpKind::kSubtract:
    case OpKind::kChloBroadcastSubtract:
      return subtract;
    case OpKind::kMultiply:
    case OpKind::kChloBroadcastMultiply:
      return multiply;
    case OpKind::kNegate:
      return negate;
    case OpKind::kNot:
      return bit_not;
    case OpKind::kAnd:
    case OpKind::kChloBroadcastAnd:
      return bit_and;
    case OpKind::kOr:
    case OpKind::kChloBroadcastOr:
      return bit_or;
    case OpKind::kXor:
    case OpKind::kChloBroadcastXor:
      return bit_xor;
    case OpKind::kChloSquare:
      return square;
    case OpKind::kPopcnt:
      return popcnt;
    case OpKind::kCountLeadingZeros:
      return count_leading_zeros;
    case OpKind::kShiftLeft:
    case OpKind::kChloBroadcastShiftLeft:
      return shift_left;
    case OpKind::kShiftRightLogical:
    case OpKind::kChloBroadcastShiftRightLogical:
      return shift_right_logical;
    case OpKind::kShiftRightArithmetic:
    case OpKind::kChloBroadcastShiftRightArithmetic:
      return shift_right_arithmetic;
    default:
      return nullptr;
  }
}

}  // namespace

ScalarFunction bool_function(OpKind kind) {
  switch (kind) {
    case OpKind::kAdd:
    case OpKind::kOr:
    case OpKind::kMaximum:
    case OpKind::kChloBroadcastOr:
      return bit_or;
    case OpKind::kMultiply:
    case OpKind::kAnd:
    case OpKind::kMinimum:
    case OpKind::kChloBroadcastAnd:
      return bit_and;
    case OpKind::kXor:
    case OpKind::kChloBroadcastXor:
      return bit_xor;
    case OpKind::kNot:
      return bit_not;
    case OpKind::kCompare:
    case OpKind::kChloBroadcastCompare:
      return unsigned_compare;
    case OpKind::kClamp:
      return unsigned_clamp;
    default:
      return nullptr;
  }
}

ScalarFunction signed_function(OpKind kind) {
  switch (kind) {
    case OpKind::kAbs:
      return signed_abs;
    case OpKind::kSign:
      return signed_sign;
    case OpKind::kDivide:
    case OpKind::kChloBroadcastDivide:
      return signed_divide;
    case OpKind::kRemainder:
    case OpKind::kChloBroadcastRemainder:
      return signed_remainder;
    case OpKind::kMaximum:
    case OpKind::kChloBroadcastMaximum:
      return signed_maximum;
    case OpKind::kMinimum:
    case OpKind::kChloBroadcastMinimum:
      return signed_minimum;
    case OpKind::kClamp:
      return signed_clamp;
    case OpKind::kPower:
    case OpKind::kChloBroadcastPower:
      return signed_power;
    case OpKind::kCompare:
    case OpKind::kChloBroadcastCompare:
      return signed_compare;
    case OpKind::kChloMulhi:
      return signed_mulhi;
    default:
      return any_sign(kind);
  }
}

ScalarFunction unsigned_function(OpKind kind) {
  switch (kind) {
    case OpKind::kAbs:
      return unsigned_same;
    case OpKind::kSign:
      return unsigned_sign;
    case OpKind::kDivide:
    case OpKind::kChloBroadcastDivide:
      return unsigned_divide;
    case OpKind::kRemainder:
    case OpKind::kChloBroadcastRemainder:
      return unsigned_remainder;
    case OpKind::kMaximum:
    case OpKind::kChloBroadcastMaximum:
      return unsigned_maximum;
    case OpKind::kMinimum:
    case OpKind::kChloBroadcastMinimum:
      return unsigned_minimum;
    case OpKind::kClamp:
      return unsigned_clamp;
    case OpKind::kPower:
    case OpKind::kChloBroadcastPower:
      return unsigned_power;
    case OpKind::kCompare:
    case OpKind::kChloBroadcastCompare:
      return unsigned_compare;
    case OpKind::kChloMulhi:
      return unsigned_mulhi;
    default:
      return any_sign(kind);
  }
}

}  // namespace millrace::devices::cpu::reference
