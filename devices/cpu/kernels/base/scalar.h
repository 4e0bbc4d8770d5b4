// Scalar: one element of any type, in the widest form of its kind, as the definitions
// compute with it. Loading is exact; storing wraps integers and rounds floats once, to nearest
// even. So f32 and everything narrower is computed in double and rounded once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/devices/shape.h"

namespace millrace::devices::cpu::definition {

// Signed integers are in i, unsigned ones and i1 in u, floats in re, complex numbers in re and im.
struct Scalar {
  union {
    std::int64_t i = 0;
    std::uint64_t u;
    double re;
  };
  double im = 0;
};

inline Scalar from_signed(std::int64_t x) { return {.i = x}; }
inline Scalar from_unsigned(std::uint64_t x) { return {.u = x}; }
inline Scalar from_real(double x) { return {.re = x}; }
inline Scalar from_complex(double re, double im) { return {.re = re, .im = im}; }

// In which form a type's elements are computed.
enum class Form : std::uint8_t {
  kBool,
  kSigned,
  kUnsigned,
  kReal,       // f32 and narrower
  kReal64,     // f64
  kComplex,    // complex<f32>
  kComplex64,  // complex<f64>
  kNone,       // no elements that one can compute with
};
Form form_of(DType type);

// n elements, one after the other.
void load(DType type, const std::byte* data, std::int64_t n, Scalar* to);
void store(DType type, const Scalar* from, std::int64_t n, std::byte* data);
Scalar load(DType type, const std::byte* data);
void store(DType type, const Scalar& value, std::byte* data);
// As it comes back after it was stored.
Scalar rounded(DType type, const Scalar& value);

// x as a float of `type` is what convert gives: correctly rounded, also where x has more bits than
// a double.
Scalar from_integer(DType type, std::int64_t x);
Scalar from_integer(DType type, std::uint64_t x);
// The value as an index; unsigned ones beyond the range of 64 bits saturate.
std::int64_t as_index(DType type, const Scalar& value);

}  // namespace millrace::devices::cpu::definition
