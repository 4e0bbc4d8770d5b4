// The loops of select_scatter.h, compiled once per instruction set.
#include <cstdint>
#include <type_traits>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/reduce/select_scatter.h"

namespace millrace::devices::cpu::MILLRACE_ISA {
namespace {

// So many additions of all lanes, most of which change nothing, are cheaper than one for each lane.
constexpr int kFewPositions = 32;

template <class T>
MILLRACE_INLINE T sum(T a, T b) {
  if constexpr (kIsInteger<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return T(static_cast<ComputeType<T>>(a) + static_cast<ComputeType<T>>(b));
  }
}

template <TileOp kOp, class K>
MILLRACE_INLINE bool keeps(K a, K b) {
  if constexpr (kOp == TileOp::kGe)
    return a >= b;
  else if constexpr (kOp == TileOp::kGt)
    return a > b;
  else if constexpr (kOp == TileOp::kLe)
    return a <= b;
  else
    return a < b;
}

// As wide as the type, where that holds a position's number.
template <class K>
using NumberType =
    std::conditional_t<sizeof(K) == 8, std::int64_t,
                       std::conditional_t<sizeof(K) == 4, std::int32_t, std::int16_t>>;

// The chosen position of each lane, -1 where it has none: the first element, until a later one is
// kept in its place.
template <class T, TileOp kOp>
MILLRACE_INLINE void choose(const SelectLanes& l, NumberType<ComputeType<T>>* __restrict chosen) {
  using K = ComputeType<T>;
  using N = NumberType<K>;
  K best[kSelectLanes], current[kSelectLanes];
  for (int i = 0; i < l.lanes; ++i) {
    best[i] = K(0);
    chosen[i] = -1;
  }
  for (int p = 0; p < l.position_count; ++p) {
    const SelectPosition& at = l.positions[p];
    const T* __restrict from = static_cast<const T*>(l.operand) + at.offset;
    if (l.step == 1) {
      for (int i = at.begin; i < at.end; ++i) current[i] = static_cast<K>(from[i]);
    } else if (l.step == 2) {
      for (int i = at.begin; i < at.end; ++i) current[i] = static_cast<K>(from[2 * i]);
    } else {
      for (int i = at.begin; i < at.end; ++i) current[i] = static_cast<K>(from[i * l.step]);
    }
    const N number = static_cast<N>(p);
    for (int i = at.begin; i < at.end; ++i) {
      const K a = best[i], b = current[i];
      const bool keep = keeps<kOp>(a, b) & (chosen[i] >= 0);
      best[i] = keep ? a : b;
      chosen[i] = keep ? chosen[i] : number;
    }
  }
}

template <class T, TileOp kOp>
void run(const SelectLanes& l) {
  using N = NumberType<ComputeType<T>>;
  N chosen[kSelectLanes];
  choose<T, kOp>(l, chosen);
  const T* __restrict source = static_cast<const T*>(l.source);
  T* __restrict out = static_cast<T*>(l.out);
  if (l.apart && l.position_count <= kFewPositions) {
    for (int p = 0; p < l.position_count; ++p) {
      const SelectPosition& at = l.positions[p];
      T* __restrict to = out + at.offset;
      for (int i = at.begin; i < at.end; ++i) {
        const T before = to[i], after = sum(before, source[i]);
        to[i] = chosen[i] == static_cast<N>(p) ? after : before;
      }
    }
    return;
  }
  for (int i = 0; i < l.lanes; ++i) {
    if (chosen[i] < 0) continue;
    T& to = out[l.positions[chosen[i]].offset + i * l.step];
    to = sum(to, source[i * l.source_step]);
  }
}

}  // namespace

SelectLoop find_select_loop(DType type, TileOp comparison) {
  return visit(
      type,
      [&](auto tag) -> SelectLoop {
        using T = typename decltype(tag)::type;
        if constexpr (!kIsBool<T>) {
          switch (comparison) {
            case TileOp::kGe:
              return &run<T, TileOp::kGe>;
            case TileOp::kGt:
              return &run<T, TileOp::kGt>;
            case TileOp::kLe:
              return &run<T, TileOp::kLe>;
            case TileOp::kLt:
              return &run<T, TileOp::kLt>;
            default:
              break;
          }
        }
        return nullptr;
      },
      [] { return SelectLoop{nullptr}; });
}

}  // namespace millrace::devices::cpu::MILLRACE_ISA
