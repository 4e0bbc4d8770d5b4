// The loops of complex numbers that most programs have, compiled once per instruction set; others
// run by their definitions (scalar_float.cc). What these compute of c64 has the definitions' bits,
// but for quotients, where double is rounded at other places; of c128, in double where the
// definitions have long double, products, quotients and sizes have its roundings.
#include <complex>

#include "millrace/devices/cpu/kernels/functions/tile_loops.inc"

namespace millrace::devices::cpu::MILLRACE_ISA {
namespace {

// A number's two parts, as they lie.
template <class T>
struct Parts {
  T re, im;
};

template <class T, TileLoop kLoop>
void each_part(void* out, const void* const* ins, int n, std::uint32_t param) {
  kLoop(out, ins, 2 * n, param);
}
template <class In, class Out, auto kFunction>
void one(void* out, const void* const* ins, int n, std::uint32_t) {
  loop1<Out, In>(out, ins, n, [](const In& x) { return kFunction(x); });
}
template <class In, class Out, auto kFunction>
void two(void* out, const void* const* ins, int n, std::uint32_t) {
  loop2<Out, In>(out, ins, n, [](const In& x, const In& y) { return kFunction(x, y); });
}

// What a loop makes of all elements: a part at a time, since g++ 12 makes of both at once sums that
// are not rounded before (vfmaddsub, its bug 107766), with other bits on every processor.
template <class T>
struct Made {
  T re[kTileElements], im[kTileElements];  // before anything is written: out may be one of ins
  void store(void* out, int n) const {
    auto* const to = static_cast<Parts<T>*>(out);
    for (int i = 0; i < n; ++i) to[i] = {re[i], im[i]};
  }
};
template <class T>
void multiply(void* out, const void* const* ins, int n, std::uint32_t) {
  const auto* const x = static_cast<const Parts<T>*>(ins[0]);
  const auto* const y = static_cast<const Parts<T>*>(ins[1]);
  Made<T> made;
  const auto wide = [](T a) { return static_cast<double>(a); };
  for (int i = 0; i < n; ++i)
    made.re[i] = static_cast<T>(wide(x[i].re) * wide(y[i].re) - wide(x[i].im) * wide(y[i].im));
  for (int i = 0; i < n; ++i)
    made.im[i] = static_cast<T>(wide(x[i].re) * wide(y[i].im) + wide(x[i].im) * wide(y[i].re));
  made.store(out, n);
}

MILLRACE_INLINE float absolute(const Parts<float>& x) {
  const double a = x.re, b = x.im;
  const auto size = std::bit_cast<std::uint32_t>(static_cast<float>(__builtin_sqrt(a * a + b * b)));
  // Also of an infinity and a NaN. By bits, since a branch would keep the loop from vectors.
  constexpr std::uint32_t kInfinity = 0x7F800000, kMagnitude = 0x7FFFFFFF;
  const std::uint32_t re = std::bit_cast<std::uint32_t>(x.re) & kMagnitude;
  const std::uint32_t im = std::bit_cast<std::uint32_t>(x.im) & kMagnitude;
  const std::uint32_t infinite =
      0U - static_cast<std::uint32_t>((re == kInfinity) | (im == kInfinity));
  return std::bit_cast<float>((size & ~infinite) | (kInfinity & infinite));
}
MILLRACE_INLINE double absolute(const Parts<double>& x) { return std::hypot(x.re, x.im); }

// What is not finite goes by the rules of C's division (C23, annex G).
void divide_c64(void* out, const void* const* ins, int n, std::uint32_t) {
  const auto* const x = static_cast<const Parts<float>*>(ins[0]);
  const auto* const y = static_cast<const Parts<float>*>(ins[1]);
  Made<float> made;
  double scale[kTileElements];
  const auto wide = [](float a) { return static_cast<double>(a); };
  for (int i = 0; i < n; ++i)
    scale[i] = 1 / (wide(y[i].re) * wide(y[i].re) + wide(y[i].im) * wide(y[i].im));
  for (int i = 0; i < n; ++i) {
    const double sum = wide(x[i].re) * wide(y[i].re) + wide(x[i].im) * wide(y[i].im);
    made.re[i] = static_cast<float>(sum * scale[i]);
  }
  for (int i = 0; i < n; ++i) {
    const double difference = wide(x[i].im) * wide(y[i].re) - wide(x[i].re) * wide(y[i].im);
    made.im[i] = static_cast<float>(difference * scale[i]);
  }
  int odd = 0;  // how many are not finite
  const auto is_odd = [&](int i) {
    return static_cast<int>((made.re[i] - made.re[i] != 0) | (made.im[i] - made.im[i] != 0));
  };
  for (int i = 0; i < n; ++i) odd += is_odd(i);
  for (int i = 0; i < n && odd > 0; ++i) {
    if (is_odd(i) == 0) continue;
    const auto exact =
        std::complex<double>(x[i].re, x[i].im) / std::complex<double>(y[i].re, y[i].im);
    made.re[i] = static_cast<float>(exact.real());
    made.im[i] = static_cast<float>(exact.imag());
  }
  made.store(out, n);
}
MILLRACE_INLINE Parts<double> quotient_c128(const Parts<double>& x, const Parts<double>& y) {
  const auto made = std::complex<double>(x.re, x.im) / std::complex<double>(y.re, y.im);
  return {made.real(), made.imag()};
}

template <class T>
TileLoop find_complex(TileOp op, DType out) {
  using C = Parts<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint64_t, Wide>;
  static constexpr TileEntry kLoops[] = {
      {TileOp::kAdd, each_part<T, binary<T, Add>>},
      {TileOp::kSubtract, each_part<T, binary<T, Sub>>},
      {TileOp::kNegate, each_part<T, unary<T, FloatNegate>>},
      {TileOp::kCopy, each_part<T, unary<T, Copy>>},
      {TileOp::kMultiply, multiply<T>},
      {TileOp::kDivide,
       sizeof(T) == 4 ? &divide_c64 : two<Parts<double>, Parts<double>, quotient_c128>},
      {TileOp::kSelect, select<Bits>},
      {TileOp::kChloConj, one<C, C, [](const C& x) { return C{x.re, -x.im}; }>},
      {TileOp::kReal, one<C, T, [](const C& x) { return x.re; }>},
      {TileOp::kImag, one<C, T, [](const C& x) { return x.im; }>},
      {TileOp::kAbs, one<C, T, [](const C& x) { return absolute(x); }>},
      {TileOp::kEq, two<C, std::uint8_t,
                        [](const C& x, const C& y) {
                          return static_cast<std::uint8_t>((x.re == y.re) & (x.im == y.im));
                        }>},
      {TileOp::kNe, two<C, std::uint8_t, [](const C& x, const C& y) {
         return static_cast<std::uint8_t>((x.re != y.re) | (x.im != y.im));
       }>}};
  if (op != TileOp::kConvert) return find_in(kLoops, op);
  const auto converted = [](const C& x) {
    using Other = std::conditional_t<sizeof(T) == 4, double, float>;
    return Parts<Other>{static_cast<Other>(x.re), static_cast<Other>(x.im)};
  };
  using Other = decltype(converted(C{}));
  return is_complex(out) ? one<C, Other, converted> : nullptr;
}

// From two real numbers, or one.
template <class T>
TileLoop find_to_complex(TileOp op, DType in) {
  using C = Parts<T>;
  if (op == TileOp::kComplex) return two<T, C, [](T re, T im) { return C{re, im}; }>;
  if (op != TileOp::kConvert) return nullptr;
  return visit(
      in,
      [](auto from) -> TileLoop {
        using From = typename decltype(from)::type;
        return one<From, C, [](const From& x) { return C{convert_element<T>(x), 0}; }>;
      },
      []() -> TileLoop { return nullptr; });
}

}  // namespace

TileLoop find_complex_loop(TileOp op, DType in, DType out) {
  if (in == DType::kC64) return find_complex<float>(op, out);
  if (in == DType::kC128) return find_complex<double>(op, out);
  if (out == DType::kC64) return find_to_complex<float>(op, in);
  if (out == DType::kC128) return find_to_complex<double>(op, in);
  return nullptr;
}

}  // namespace millrace::devices::cpu::MILLRACE_ISA
