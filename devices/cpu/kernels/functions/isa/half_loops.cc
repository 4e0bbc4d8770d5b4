// The usual loops of f16 and bf16, compiled once per instruction set: where it has vectors for them
// (F16C), a tile is widened to floats, computed by the loops of f32 and rounded again. What is
// missing here is in tile_loops_other.cc, with the same results.
#include "millrace/devices/cpu/kernels/functions/tile_loops.inc"

#if defined(__F16C__)

#include "millrace/devices/cpu/kernels/functions/widen.inc"

namespace millrace::devices::cpu::MILLRACE_ISA {
namespace {

void narrow(const float* from, Half* to, int n) {
  constexpr int kToNearestEven = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), kToNearestEven);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
  for (; i < n; ++i) to[i] = Half(from[i]);
}
void narrow(const float* from, BFloat16* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = BFloat16(from[i]);
}

// All of a tile is read before anything is written: out may be one of ins.
template <class T, TileLoop kLoop, bool kTruth = false>
void two(void* out, const void* const* ins, int n, std::uint32_t param) {
  alignas(64) float a[kTileElements], b[kTileElements];
  widen(static_cast<const T*>(ins[0]), a, n);
  widen(static_cast<const T*>(ins[1]), b, n);
  const void* const wide[] = {a, b};
  if constexpr (kTruth) return kLoop(out, wide, n, param);
  kLoop(a, wide, n, param);
  narrow(a, static_cast<T*>(out), n);
}
template <class T, TileLoop kLoop>
void one(void* out, const void* const* ins, int n, std::uint32_t param) {
  alignas(64) float a[kTileElements];
  widen(static_cast<const T*>(ins[0]), a, n);
  const void* const wide[] = {a};
  kLoop(a, wide, n, param);
  narrow(a, static_cast<T*>(out), n);
}
template <class T>
void to_float(void* out, const void* const* ins, int n, std::uint32_t) {
  widen(static_cast<const T*>(ins[0]), static_cast<float*>(out), n);
}
template <class T>
void from_float(void* out, const void* const* ins, int n, std::uint32_t) {
  narrow(static_cast<const float*>(ins[0]), static_cast<T*>(out), n);
}

template <class T>
TileLoop find_for(TileOp op) {
  static constexpr TileEntry kLoops[] = {{TileOp::kAbs, one<T, unary<float, Abs>>},
                                         {TileOp::kNegate, one<T, unary<float, FloatNegate>>},
                                         {TileOp::kExponential, one<T, unary<float, Exponential>>},
                                         {TileOp::kLog, one<T, unary<float, Log>>},
                                         {TileOp::kSqrt, one<T, unary<float, Sqrt>>},
                                         {TileOp::kRsqrt, one<T, unary<float, Rsqrt>>},
                                         {TileOp::kTanh, one<T, unary<float, Tanh>>},
                                         {TileOp::kLogistic, one<T, unary<float, Logistic>>},
                                         {TileOp::kAdd, two<T, binary<float, Add>>},
                                         {TileOp::kSubtract, two<T, binary<float, Sub>>},
                                         {TileOp::kMultiply, two<T, binary<float, Mul>>},
                                         {TileOp::kDivide, two<T, binary<float, Div>>},
                                         {TileOp::kMaximum, two<T, binary<float, Max>>},
                                         {TileOp::kMinimum, two<T, binary<float, Min>>},
                                         {TileOp::kEq, two<T, comparison<float, Eq>, true>},
                                         {TileOp::kNe, two<T, comparison<float, Ne>, true>},
                                         {TileOp::kGe, two<T, comparison<float, Ge>, true>},
                                         {TileOp::kGt, two<T, comparison<float, Gt>, true>},
                                         {TileOp::kLe, two<T, comparison<float, Le>, true>},
                                         {TileOp::kLt, two<T, comparison<float, Lt>, true>}};
  return find_in(kLoops, op);
}

}  // namespace

TileLoop find_half_loop(TileOp op, DType in, DType out) {
  const bool half = in == DType::kF16, brain = in == DType::kBF16;
  if (op == TileOp::kConvert) {
    if (out == DType::kF32) return half ? to_float<Half> : brain ? to_float<BFloat16> : nullptr;
    if (in != DType::kF32) return nullptr;
    return out == DType::kF16    ? from_float<Half>
           : out == DType::kBF16 ? from_float<BFloat16>
                                 : nullptr;
  }
  return half ? find_for<Half>(op) : brain ? find_for<BFloat16>(op) : nullptr;
}

}  // namespace millrace::devices::cpu::MILLRACE_ISA

#else

namespace millrace::devices::cpu::MILLRACE_ISA {
TileLoop find_half_loop(TileOp, DType, DType) { return nullptr; }
}  // namespace millrace::devices::cpu::MILLRACE_ISA

#endif
