// Element types as C++ types: Half and BFloat16 (stored as their bits, computed in float), and
// visit(), which turns a DType into a template argument. Booleans are bytes 0 or 1. Used by every
// kernel.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "millrace/core/base/check.h"
#include "millrace/devices/shape.h"

// Always inlined: kernels are compiled for several instruction sets, and a shared
// out-of-line copy could be the one that this processor cannot run.
#define MILLRACE_INLINE inline __attribute__((always_inline))

namespace millrace::devices::cpu {

// Rounds to odd, so that a second rounding to a narrower format gives the correctly rounded result.
MILLRACE_INLINE float narrow_to_odd(double x) {
  const float f = static_cast<float>(x);
  if (static_cast<double>(f) == x || x != x || f - f != 0.0f) {
    if (f - f == 0.0f || x != x || x - x != 0.0) return f;
    return x > 0 ? std::numeric_limits<float>::max() : -std::numeric_limits<float>::max();
  }
  std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  if (bits & 1) return f;
  const bool rounded_away = (x > 0) == (static_cast<double>(f) > x);
  bits = rounded_away ? bits - 1 : bits + 1;
  return std::bit_cast<float>(bits);
}

// IEEE 754-2019's maximum and minimum (llvm.maximum): NaN where either side is, and +0 above -0.
template <class T>
MILLRACE_INLINE T larger_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (a == b) return std::bit_cast<T>(std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b));
    if (__builtin_isnan(a)) return a;
  }
  return a > b ? a : b;
}
template <class T>
MILLRACE_INLINE T smaller_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (a == b) return std::bit_cast<T>(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b));
    if (__builtin_isnan(a)) return a;
  }
  return a < b ? a : b;
}

// 8 bits of exponent, 7 of mantissa. Rounds to nearest even; NaN stays NaN.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  MILLRACE_INLINE explicit BFloat16(float x) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
    bits = x != x ? static_cast<std::uint16_t>((u >> 16) | 0x40u)
                  : static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  MILLRACE_INLINE explicit BFloat16(double x) : BFloat16(narrow_to_odd(x)) {}
  MILLRACE_INLINE operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

// IEEE binary16. Rounds to nearest even, overflows to infinity, keeps denormals.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  MILLRACE_INLINE explicit Half(float x) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = (u >> 16) & 0x8000u;
    const std::uint32_t magnitude = u & 0x7fffffffu;
    std::uint32_t h;
    if (magnitude > 0x7f800000u) {
      h = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    } else if (magnitude >= 0x477ff000u) {
      h = 0x7c00u;
    } else if (magnitude >= 0x38800000u) {
      h = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    } else {
      // Below the smallest normal: adding 0.5 makes the hardware round at the right bit.
      h = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    }
    bits = static_cast<std::uint16_t>(sign | h);
  }
  MILLRACE_INLINE explicit Half(double x) : Half(narrow_to_odd(x)) {}
  MILLRACE_INLINE operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t rest = bits & 0x7fffu;
    std::uint32_t u;
    if (rest >= 0x7c00u) {
      u = 0x7f800000u | ((rest & 0x3ffu) << 13);
    } else if (rest >= 0x400u) {
      u = (rest << 13) + 0x38000000u;
    } else {
      u = std::bit_cast<std::uint32_t>(static_cast<float>(rest) * 0x1p-24f);
    }
    return std::bit_cast<float>(sign | u);
  }
};

// A boolean: its own type, distinct from ui8.
struct Bool {
  std::uint8_t value = 0;
  Bool() = default;
  MILLRACE_INLINE explicit Bool(bool b) : value(b) {}
  MILLRACE_INLINE explicit operator bool() const { return value != 0; }
};

template <class T>
inline constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsSmallFloat<T>;
template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<T>;
template <class T>
inline constexpr bool kIsBool = std::is_same_v<T, Bool>;

// The type in which T is computed: float for the 16-bit formats, T itself otherwise.
template <class T>
using ComputeType = std::conditional_t<kIsSmallFloat<T>, float, T>;

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the C++ type of a real element type; returns otherwise() for any
// other.
template <class F, class G>
auto visit(DType type, F&& f, G&& otherwise) {
  switch (type) {
#define MILLRACE_TYPE(dtype, T) \
  case DType::dtype:            \
    return f(TypeTag<T>{});
    MILLRACE_TYPE(kI1, Bool)
    MILLRACE_TYPE(kI8, std::int8_t)
    MILLRACE_TYPE(kI16, std::int16_t)
    MILLRACE_TYPE(kI32, std::int32_t)
    MILLRACE_TYPE(kI64, std::int64_t)
    MILLRACE_TYPE(kU8, std::uint8_t)
    MILLRACE_TYPE(kU16, std::uint16_t)
    MILLRACE_TYPE(kU32, std::uint32_t)
    MILLRACE_TYPE(kU64, std::uint64_t)
    MILLRACE_TYPE(kF16, Half)
    MILLRACE_TYPE(kBF16, BFloat16)
    MILLRACE_TYPE(kF32, float)
    MILLRACE_TYPE(kF64, double)
#undef MILLRACE_TYPE
    default:
      return otherwise();
  }
}

struct Wide {
  std::uint64_t low, high;
};

// Calls f(TypeTag<U>{}) with an unsigned type of so many bytes, for what is only copied.
template <class F>
void with_width(std::size_t width, F f) {
  switch (width) {
    case 1:
      return f(TypeTag<std::uint8_t>{});
    case 2:
      return f(TypeTag<std::uint16_t>{});
    case 4:
      return f(TypeTag<std::uint32_t>{});
    case 8:
      return f(TypeTag<std::uint64_t>{});
    default:
      MILLRACE_CHECK(width == 16, "an element width that no type has");
      return f(TypeTag<Wide>{});
  }
}

// The element types that visit() knows.
inline bool is_real_element(DType type) {
  return visit(type, [](auto) { return true; }, [] { return false; });
}

// A conversion as StableHLO's convert does it: floats to integers saturate and NaN gives 0;
// integers wrap; anything to a boolean asks whether it is not zero.
template <class To, class From>
MILLRACE_INLINE To convert_element(From x) {
  if constexpr (kIsBool<To>) {
    if constexpr (kIsBool<From>)
      return x;
    else
      return To(static_cast<ComputeType<From>>(x) != ComputeType<From>(0));
  } else if constexpr (kIsBool<From>) {
    return static_cast<To>(static_cast<ComputeType<To>>(x.value != 0));
  } else if constexpr (kIsFloat<From> && kIsInteger<To>) {
    const auto v = static_cast<ComputeType<From>>(x);
    using V = decltype(v);
    constexpr V low = static_cast<V>(std::numeric_limits<To>::min());
    constexpr V high = static_cast<V>(std::numeric_limits<To>::max());  // may round up to 2^N
    if (__builtin_isnan(v)) return To(0);
    if (v <= low) return std::numeric_limits<To>::min();
    if (v >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(v);
  } else if constexpr (kIsSmallFloat<To>) {
    if constexpr (std::is_same_v<From, double>)
      return To(x);
    else if constexpr (kIsInteger<From> && sizeof(From) >= 4)
      return To(static_cast<double>(x));
    else
      return To(static_cast<float>(x));
  } else {
    return static_cast<To>(static_cast<ComputeType<From>>(x));
  }
}

}  // namespace millrace::devices::cpu
