// Sums of products for contractions and convolutions, for all element types. Sums that cancel leave
// what every rounding on the way left, so they are taken in order, as other libraries take them: in
// f32 for f32, in f64 for the other real types; integers wrap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {

struct Truth {
  std::uint64_t bit = 0;
};
// Without std::complex's care for infinities, which other libraries do not take either.
template <class T>
struct Pair {
  T re = 0, im = 0;
};

inline void add_product(std::uint64_t& sum, std::uint64_t x, std::uint64_t y) { sum += x * y; }
inline void add_product(Truth& sum, Truth x, Truth y) { sum.bit |= x.bit & y.bit; }
inline void add_product(float& sum, float x, float y) { sum += x * y; }
inline void add_product(double& sum, double x, double y) { sum += x * y; }
template <class T>
void add_product(Pair<T>& sum, const Pair<T>& x, const Pair<T>& y) {
  sum.re += x.re * y.re - x.im * y.im;
  sum.im += x.re * y.im + x.im * y.re;
}

// Calls f(TypeTag<T>{}) with the type in which sums of results of `type` are taken.
template <class F>
void with_sum_type(DType type, F f) {
  switch (form_of(type)) {
    case Form::kBool:
      return f(TypeTag<Truth>{});
    case Form::kSigned:
    case Form::kUnsigned:
      return f(TypeTag<std::uint64_t>{});
    case Form::kComplex:
      return f(TypeTag<Pair<float>>{});
    case Form::kComplex64:
      return f(TypeTag<Pair<double>>{});
    default:
      return type == DType::kF32 ? f(TypeTag<float>{}) : f(TypeTag<double>{});
  }
}

inline void take_scalar(const Scalar& s, std::uint64_t& x) { x = s.u; }
inline void take_scalar(const Scalar& s, Truth& x) { x.bit = s.u; }
inline void take_scalar(const Scalar& s, float& x) { x = static_cast<float>(s.re); }
inline void take_scalar(const Scalar& s, double& x) { x = s.re; }
template <class T>
void take_scalar(const Scalar& s, Pair<T>& x) {
  x = {static_cast<T>(s.re), static_cast<T>(s.im)};
}
inline Scalar to_scalar(std::uint64_t x) { return from_unsigned(x); }
inline Scalar to_scalar(Truth x) { return from_unsigned(x.bit); }
inline Scalar to_scalar(double x) { return from_real(x); }
template <class T>
Scalar to_scalar(const Pair<T>& x) {
  return from_complex(x.re, x.im);
}

// The elements of an operand of a contraction whose result is of `type`.
template <class T>
void load_terms(const ConstArray& array, DType type, std::span<T> to) {
  constexpr std::size_t kBlock = 256;
  const DType from = array.shape.dtype();
  const Form form = form_of(type);
  // The type of this form that loses nothing.
  const DType wide = form == Form::kSigned                          ? DType::kI64
                     : form == Form::kUnsigned                      ? DType::kU64
                     : form == Form::kReal || form == Form::kReal64 ? DType::kF64
                     : form == Form::kBool                          ? DType::kI1
                                                                    : DType::kC128;
  const ScalarFunction convert =
      form_of(from) == form ? nullptr : convert_function(form_of(from), form);
  const ScalarInfo info{.in = from, .out = wide};
  Scalar block[kBlock];
  for (std::size_t start = 0; start < to.size(); start += kBlock) {
    const std::size_t n = std::min(kBlock, to.size() - start);
    load(from, array.data + start * byte_width(from), static_cast<std::int64_t>(n), block);
    for (std::size_t i = 0; i < n; ++i)
      take_scalar(convert == nullptr ? block[i] : convert(&block[i], info), to[start + i]);
  }
}

// Sums as elements `first` and following of the result.
template <class T>
void store_sums(std::span<const T> sums, const MutableArray& to, std::int64_t first) {
  constexpr std::size_t kBlock = 256;
  const DType type = to.shape.dtype();
  std::byte* data = to.data + static_cast<std::size_t>(first) * byte_width(type);
  Scalar block[kBlock];
  for (std::size_t start = 0; start < sums.size(); start += kBlock) {
    const std::size_t n = std::min(kBlock, sums.size() - start);
    for (std::size_t i = 0; i < n; ++i) block[i] = to_scalar(sums[start + i]);
    store(type, block, static_cast<std::int64_t>(n), data + start * byte_width(type));
  }
}

}  // namespace millrace::devices::cpu::definition
