// The loops of several operations at once (tile_op.h), compiled once per instruction set: those of
// float that sums, products, scales and limits are made of, and a generator's rotation.
#include "millrace/devices/cpu/kernels/functions/tile_loops.inc"

namespace millrace::devices::cpu::MILLRACE_ISA {
namespace {

template <class Out, class F>
MILLRACE_INLINE void loop3(void* out, const void* const* ins, int n, F f) {
  Out* o = static_cast<Out*>(out);
  const Out* a = static_cast<const Out*>(ins[0]);
  const Out* b = static_cast<const Out*>(ins[1]);
  const Out* c = static_cast<const Out*>(ins[2]);
  MILLRACE_ELEMENTWISE
  for (int i = 0; i < n; ++i) o[i] = f(a[i], b[i], c[i]);
}

template <class First, class Second, bool kSwapped>
void pair_loop(void* out, const void* const* ins, int n, std::uint32_t) {
  loop3<float>(out, ins, n, [](float a, float b, float c) {
    const float first = First::call(a, b);
    return kSwapped ? Second::call(c, first) : Second::call(first, c);
  });
}

template <class First>
TileLoop find_second(TileOp op, bool swapped) {
  using enum TileOp;
  switch (op) {
    case kAdd:
      return swapped ? pair_loop<First, Add, true> : pair_loop<First, Add, false>;
    case kSubtract:
      return swapped ? pair_loop<First, Sub, true> : pair_loop<First, Sub, false>;
    case kMultiply:
      return swapped ? pair_loop<First, Mul, true> : pair_loop<First, Mul, false>;
    case kMaximum:
      return swapped ? pair_loop<First, Max, true> : pair_loop<First, Max, false>;
    case kMinimum:
      return swapped ? pair_loop<First, Min, true> : pair_loop<First, Min, false>;
    default:
      return nullptr;
  }
}

using Bits = std::uint32_t;

MILLRACE_INLINE Bits rotated(Bits a, Bits left, Bits right) {
  return ShiftLeft::call(a, left) | ShiftRightLogical::call(a, right);
}

void rotation_loop(void* out, const void* const* ins, int n, std::uint32_t) {
  loop3<Bits>(out, ins, n, [](Bits a, Bits left, Bits right) { return rotated(a, left, right); });
}

void rotation_xor_loop(void* out, const void* const* ins, int n, std::uint32_t) {
  auto* o = static_cast<Bits*>(out);
  const auto* a = static_cast<const Bits*>(ins[0]);
  const auto* left = static_cast<const Bits*>(ins[1]);
  const auto* right = static_cast<const Bits*>(ins[2]);
  const auto* b = static_cast<const Bits*>(ins[3]);
  MILLRACE_ELEMENTWISE
  for (int i = 0; i < n; ++i) o[i] = rotated(a[i], left[i], right[i]) ^ b[i];
}

}  // namespace

TileLoop find_common_pair(const TilePair& pair, DType type) {
  if (type != DType::kF32) return nullptr;
  switch (pair.first) {
    case TileOp::kAdd:
      return find_second<Add>(pair.second, pair.swapped);
    case TileOp::kSubtract:
      return find_second<Sub>(pair.second, pair.swapped);
    case TileOp::kMultiply:
      return find_second<Mul>(pair.second, pair.swapped);
    default:
      return nullptr;
  }
}

TileLoop find_common_rotation(DType type) { return type == DType::kU32 ? rotation_loop : nullptr; }
TileLoop find_common_rotation_xor(DType type) {
  return type == DType::kU32 ? rotation_xor_loop : nullptr;
}

}  // namespace millrace::devices::cpu::MILLRACE_ISA
