#include "millrace/devices/cpu/kernels/elementwise/complex_loops.h"

#include <bit>
#include <cmath>

namespace millrace::devices::cpu::definition {
namespace {

using ir::OpKind;

// A number's two parts, as they lie.
template <class T>
struct Parts {
  T re, im;
};

// f(x) of each. In, Out: T or Parts<T>.
template <class In, class Out, auto kFunction>
void unary(const std::byte* a, const std::byte* /*b*/, std::byte* to, std::int64_t n) {
  const auto* const x = reinterpret_cast<const In*>(a);
  auto* const result = reinterpret_cast<Out*>(to);
  for (std::int64_t i = 0; i < n; ++i) result[i] = kFunction(x[i]);
}
template <class In, class Out, auto kFunction>
void binary(const std::byte* a, const std::byte* b, std::byte* to, std::int64_t n) {
  const auto* const x = reinterpret_cast<const In*>(a);
  const auto* const y = reinterpret_cast<const In*>(b);
  auto* const result = reinterpret_cast<Out*>(to);
  for (std::int64_t i = 0; i < n; ++i) result[i] = kFunction(x[i], y[i]);
}

// In double, rounded once.
Parts<float> multiply(const Parts<float>& x, const Parts<float>& y) {
  const double a = x.re, b = x.im, c = y.re, d = y.im;
  return {static_cast<float>(a * c - b * d), static_cast<float>(a * d + b * c)};
}
float absolute(const Parts<float>& x) {
  const double a = x.re, b = x.im;
  const auto size = std::bit_cast<std::uint32_t>(static_cast<float>(std::sqrt(a * a + b * b)));
  // Also of an infinity and a NaN. By bits, since a branch would keep the loop from vectors.
  constexpr std::uint32_t kInfinity = 0x7F800000, kMagnitude = 0x7FFFFFFF;
  const std::uint32_t re = std::bit_cast<std::uint32_t>(x.re) & kMagnitude;
  const std::uint32_t im = std::bit_cast<std::uint32_t>(x.im) & kMagnitude;
  const std::uint32_t infinite =
      0U - static_cast<std::uint32_t>((re == kInfinity) | (im == kInfinity));
  return std::bit_cast<float>((size & ~infinite) | (kInfinity & infinite));
}

// What double needs no wider numbers for, too.
template <class T>
ComplexLoop exact_loop(OpKind kind) {
  using C = Parts<T>;
  switch (kind) {
    case OpKind::kAdd:
      return binary<C, C, [](C x, C y) { return C{x.re + y.re, x.im + y.im}; }>;
    case OpKind::kSubtract:
      return binary<C, C, [](C x, C y) { return C{x.re - y.re, x.im - y.im}; }>;
    case OpKind::kNegate:
      return unary<C, C, [](C x) { return C{-x.re, -x.im}; }>;
    case OpKind::kChloConj:
      return unary<C, C, [](C x) { return C{x.re, -x.im}; }>;
    case OpKind::kReal:
      return unary<C, T, [](C x) { return x.re; }>;
    case OpKind::kImag:
      return unary<C, T, [](C x) { return x.im; }>;
    default:
      return nullptr;
  }
}

template <class T>
ComplexLoop complex_loop(OpKind kind, bool to_complex) {
  if (kind == OpKind::kConvert && to_complex)
    return unary<T, Parts<T>, [](T re) { return Parts<T>{re, 0}; }>;
  if (kind != OpKind::kComplex) return nullptr;
  return binary<T, Parts<T>, [](T re, T im) { return Parts<T>{re, im}; }>;
}

}  // namespace

ComplexLoop find_complex_loop(OpKind kind, DType in, DType out) {
  switch (in) {
    case DType::kC64:
      if (kind == OpKind::kMultiply) return binary<Parts<float>, Parts<float>, multiply>;
      if (kind == OpKind::kAbs) return unary<Parts<float>, float, absolute>;
      return exact_loop<float>(kind);
    case DType::kC128:
      return exact_loop<double>(kind);
    case DType::kF32:
      return complex_loop<float>(kind, out == DType::kC64);
    case DType::kF64:
      return complex_loop<double>(kind, out == DType::kC128);
    default:
      return nullptr;
  }
}

}  // namespace millrace::devices::cpu::definition
