// Functions of integers and booleans. Results wrap when they are stored, so most functions compute
// in 64 bits without a thought.
#include <algorithm>
#include <bit>
#include <iterator>

#include "millrace/devices/cpu/kernels/functions/scalar_op.h"

namespace millrace::devices::cpu::definition {
namespace {

using ir::OpKind;
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

using S = const Scalar*;
using I = const ScalarInfo&;

std::uint64_t mask(I info) { return ~std::uint64_t{0} >> (64 - bit_width(info.in)); }
Scalar u(std::uint64_t x) { return from_unsigned(x); }
Scalar s(std::int64_t x) { return from_signed(x); }

// A shift by as many bits as there are, or more, leaves nothing but the sign.
std::uint64_t distance(S x, I info) { return x[1].u & mask(info); }
bool too_far(S x, I info) {
  return distance(x, info) >= static_cast<std::uint64_t>(bit_width(info.in));
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

// A division by zero gives -1 and leaves the dividend as the remainder, as XLA has it.
Scalar signed_divide(S x, I) {
  if (x[1].i == 0) return s(-1);
  if (x[1].i == -1) return u(0 - x[0].u);
  return s(x[0].i / x[1].i);
}
Scalar signed_remainder(S x, I) {
  if (x[1].i == 0) return x[0];
  return s(x[1].i == -1 ? 0 : x[0].i % x[1].i);
}
Scalar signed_power(S x, I) {
  if (x[1].i < 0) {
    if (x[0].i == 1) return s(1);
    if (x[0].i == -1) return s((x[1].i & 1) != 0 ? -1 : 1);
    return s(0);
  }
  return u(power_of(x[0].u, x[1].u));
}

// What is the same for both, in the member of the union and the product that the sign asks for.
#define MILLRACE_ORDERED(sign, member, made, Product)                                \
  Scalar sign##_maximum(S x, I) { return made(std::max(x[0].member, x[1].member)); } \
  Scalar sign##_minimum(S x, I) { return made(std::min(x[0].member, x[1].member)); } \
  Scalar sign##_clamp(S x, I) {                                                      \
    return made(std::min(std::max(x[1].member, x[0].member), x[2].member));          \
  }                                                                                  \
  Scalar sign##_compare(S x, I info) {                                               \
    const int order = (x[0].member > x[1].member) - (x[0].member < x[1].member);     \
    return u(compares(info.direction, order) ? 1 : 0);                               \
  }                                                                                  \
  Scalar sign##_mulhi(S x, I info) {                                                 \
    const Product product = static_cast<Product>(x[0].member) * x[1].member;         \
    return made(static_cast<decltype(x[0].member)>(product >> bit_width(info.in)));  \
  }
MILLRACE_ORDERED(signed, i, s, Wide)
MILLRACE_ORDERED(unsigned, u, u, UnsignedWide)
#undef MILLRACE_ORDERED

// Functions by the form of the operands; nullptr for what it does not have.
struct IntegerRow {
  OpKind kind;
  ScalarFunction of_bool, of_signed, of_unsigned;
};
// One function for both signs.
constexpr IntegerRow numbers(OpKind kind, ScalarFunction function) {
  return {kind, nullptr, function, function};
}

using enum OpKind;
constexpr ScalarFunction add = [](S x, I) { return u(x[0].u + x[1].u); },
                         multiply = [](S x, I) { return u(x[0].u * x[1].u); },
                         bit_and = [](S x, I) { return u(x[0].u & x[1].u); },
                         bit_or = [](S x, I) { return u(x[0].u | x[1].u); },
                         bit_xor = [](S x, I) { return u(x[0].u ^ x[1].u); },
                         bit_not = [](S x, I) { return u(~x[0].u); };
constexpr IntegerRow kRows[] = {
    {kAdd, bit_or, add, add},
    {kMultiply, bit_and, multiply, multiply},
    {kNot, bit_not, bit_not, bit_not},
    {kAnd, bit_and, bit_and, bit_and},
    {kOr, bit_or, bit_or, bit_or},
    {kXor, bit_xor, bit_xor, bit_xor},
    numbers(kSubtract, [](S x, I) { return u(x[0].u - x[1].u); }),
    numbers(kNegate, [](S x, I) { return u(0 - x[0].u); }),
    numbers(kChloSquare, [](S x, I) { return u(x[0].u * x[0].u); }),
    numbers(kPopcnt,
            [](S x, I info) {
              return u(static_cast<std::uint64_t>(std::popcount(x[0].u & mask(info))));
            }),
    numbers(kCountLeadingZeros,
            [](S x, I info) {
              return u(static_cast<std::uint64_t>(std::countl_zero(x[0].u & mask(info)) -
                                                  (64 - bit_width(info.in))));
            }),
    numbers(kShiftLeft,
            [](S x, I info) { return u(too_far(x, info) ? 0 : x[0].u << distance(x, info)); }),
    numbers(kShiftRightLogical,
            [](S x, I info) {
              return u(too_far(x, info) ? 0 : (x[0].u & mask(info)) >> distance(x, info));
            }),
    numbers(kShiftRightArithmetic, shift_right_arithmetic),
    {kAbs, nullptr, [](S x, I) { return u(x[0].i < 0 ? 0 - x[0].u : x[0].u); },
     [](S x, I) { return x[0]; }},
    {kSign, nullptr, [](S x, I) { return s((x[0].i > 0) - (x[0].i < 0)); },
     [](S x, I) { return u(x[0].u != 0); }},
    {kDivide, nullptr, signed_divide,
     [](S x, I) { return u(x[1].u == 0 ? ~std::uint64_t{0} : x[0].u / x[1].u); }},
    {kRemainder, nullptr, signed_remainder,
     [](S x, I) { return u(x[1].u == 0 ? x[0].u : x[0].u % x[1].u); }},
    {kMaximum, bit_or, signed_maximum, unsigned_maximum},
    {kMinimum, bit_and, signed_minimum, unsigned_minimum},
    {kClamp, unsigned_clamp, signed_clamp, unsigned_clamp},
    {kPower, nullptr, signed_power, [](S x, I) { return u(power_of(x[0].u, x[1].u)); }},
    {kCompare, unsigned_compare, signed_compare, unsigned_compare},
    {kChloMulhi, nullptr, signed_mulhi, unsigned_mulhi},
};

}  // namespace

ScalarFunction integer_function(OpKind kind, Form form) {
  const auto* const row = std::ranges::find(kRows, kind, &IntegerRow::kind);
  if (row == std::end(kRows)) return nullptr;
  return form == Form::kBool     ? row->of_bool
         : form == Form::kSigned ? row->of_signed
                                 : row->of_unsigned;
}

}  // namespace millrace::devices::cpu::definition
