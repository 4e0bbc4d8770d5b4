// The loops of reduce_loops.h, compiled once per instruction set.
#include <cstdint>
#include <limits>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/functions/reduce_loops.h"
#include "millrace/devices/cpu/kernels/functions/widen.inc"

namespace millrace::devices::cpu::MILLRACE_ISA {
namespace {

template <TileOp K, class A>
MILLRACE_INLINE A combine(A a, A b) {
  if constexpr (kIsBool<A>) {
    A r;
    if constexpr (K == TileOp::kAdd || K == TileOp::kMaximum || K == TileOp::kOr) {
      r.value = a.value | b.value;
    } else {
      r.value = a.value & b.value;
    }
    return r;
  } else if constexpr (K == TileOp::kAdd || K == TileOp::kMultiply) {
    if constexpr (std::is_integral_v<A>) {
      using W = std::conditional_t<sizeof(A) < 4, std::uint32_t, std::make_unsigned_t<A>>;
      const W x = static_cast<W>(a), y = static_cast<W>(b);
      return static_cast<A>(K == TileOp::kAdd ? x + y : x * y);
    } else {
      return K == TileOp::kAdd ? a + b : a * b;
    }
  } else if constexpr (K == TileOp::kMaximum) {
    return larger_of(a, b);
  } else if constexpr (K == TileOp::kMinimum) {
    return smaller_of(a, b);
  } else if constexpr (K == TileOp::kAnd) {
    return static_cast<A>(a & b);
  } else {
    return static_cast<A>(a | b);
  }
}

template <TileOp K, class A>
MILLRACE_INLINE A identity() {
  using L = std::numeric_limits<A>;
  if constexpr (kIsBool<A>) {
    A r;
    r.value = K == TileOp::kMultiply || K == TileOp::kMinimum || K == TileOp::kAnd;
    return r;
  } else if constexpr (K == TileOp::kAdd) {
    // -0, not +0: x + -0 is x for every x. The init value brings +0 where the program has it.
    if constexpr (std::is_floating_point_v<A>)
      return -A(0);
    else
      return A(0);
  } else if constexpr (K == TileOp::kOr) {
    return A(0);
  } else if constexpr (K == TileOp::kMultiply) {
    return A(1);
  } else if constexpr (K == TileOp::kMaximum) {
    if constexpr (std::is_floating_point_v<A>)
      return -L::infinity();
    else
      return L::min();
  } else if constexpr (K == TileOp::kMinimum) {
    if constexpr (std::is_floating_point_v<A>)
      return L::infinity();
    else
      return L::max();
  } else {
    return static_cast<A>(~A(0));
  }
}

template <class T, TileOp K>
struct Loops {
  using LaneValue = ComputeType<T>;
  static constexpr bool kWide =
      std::is_floating_point_v<LaneValue> && (K == TileOp::kAdd || K == TileOp::kMultiply);
  using Acc = std::conditional_t<kWide, double, LaneValue>;
  static constexpr bool kOrderless = K == TileOp::kMaximum || K == TileOp::kMinimum;
  // More of them where they are compared: loops of 16 are unrolled before they can become vectors,
  // and comparisons do not become vectors then.
  static constexpr int kLanes = kOrderless ? 64 : 16;

  template <class X, class N>
  static void fill_identity(void* to, N n) {
    for (N i = 0; i < n; ++i) static_cast<X*>(to)[i] = identity<K, X>();
  }
  // Calls f(values, at, m) with some of the data at a time as floats, from number `at` on.
  template <class F>
  static void each_widened(const void* data, int n, F f) {
    constexpr int kBlock = 256;
    float wide[kBlock];
    for (int at = 0; at < n; at += kBlock) {
      const int m = n - at < kBlock ? n - at : kBlock;
      widen(static_cast<const T*>(data) + at, wide, m);
      f(wide, at, m);
    }
  }
  static void row(void* acc, const void* data, int n) {
    if constexpr (kIsSmallFloat<T>) {
      each_widened(data, n,
                   [acc](const float* wide, int, int m) { Loops<float, K>::row(acc, wide, m); });
      return;
    }
    const T* __restrict d = static_cast<const T*>(data);
    Acc total = *static_cast<Acc*>(acc);
    int i = 0;
    if (n >= 2 * kLanes) {
      LaneValue lanes[kLanes];
      for (int k = 0; k < kLanes; ++k) lanes[k] = static_cast<LaneValue>(d[k]);
      for (i = kLanes; i + kLanes <= n; i += kLanes) {
        for (int k = 0; k < kLanes; ++k)
          lanes[k] = combine<K>(lanes[k], static_cast<LaneValue>(d[i + k]));
      }
      if constexpr (kOrderless) {
        total = combine<K>(total, static_cast<Acc>(fold_halves<kLanes>(lanes)));
      } else {
        for (int k = 0; k < kLanes; ++k) total = combine<K>(total, static_cast<Acc>(lanes[k]));
      }
    }
    for (; i < n; ++i) total = combine<K>(total, static_cast<Acc>(static_cast<LaneValue>(d[i])));
    *static_cast<Acc*>(acc) = total;
  }
  // Where neither the order matters nor that an element counts twice: each half with the other.
  template <int kWidth>
  static LaneValue fold_halves(LaneValue* values) {
    if constexpr (kWidth > 1) {
      constexpr int kHalf = kWidth / 2;
      for (int k = 0; k < kHalf; ++k) values[k] = combine<K>(values[k], values[k + kHalf]);
      fold_halves<kHalf>(values);
    }
    return values[0];
  }
  // n is kWidth to 2 * kWidth: the first and the last ones, which may overlap.
  template <int kWidth>
  static LaneValue fold_ends(const T* data, int n) {
    LaneValue values[kWidth];
    for (int k = 0; k < kWidth; ++k) {
      values[k] =
          combine<K>(static_cast<LaneValue>(data[k]), static_cast<LaneValue>(data[n - kWidth + k]));
    }
    return fold_halves<kWidth>(values);
  }
  // acc[k] = the fold of row k of up to kMostRows. Short rows lie across the lanes, in each the
  // elements keep their order.
  static constexpr int kMostRows = 64;
  static void fold_rows(Acc* acc, const T* data, int rows, int n) {
    fill_identity<Acc>(acc, rows);
    if (n >= 2 * kLanes) {
      for (int k = 0; k < rows; ++k) row(acc + k, data + k * n, n);
      return;
    }
    if constexpr (kOrderless) {
      const auto fold = n >= 64 ? &fold_ends<64> : n >= 32 ? &fold_ends<32> : &fold_ends<16>;
      if (n >= 16) {
        for (int k = 0; k < rows; ++k) acc[k] = fold(data + k * n, n);
        return;
      }
    }
    LaneValue elements[kMostRows];
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < rows; ++k) elements[k] = static_cast<LaneValue>(data[k * n + i]);
      flush(acc, elements, rows);
    }
  }
  static void rows(void* out, const void* data, const void* init, int count, int n) {
    const T* const d = static_cast<const T*>(data);
    [[maybe_unused]] float wide[kIsSmallFloat<T> ? kTileElements : 1];
    if constexpr (kIsSmallFloat<T>) widen(d, wide, count * n);
    for (int r = 0; r < count; r += kMostRows) {
      const int m = count - r < kMostRows ? count - r : kMostRows;
      Acc acc[kMostRows];
      if constexpr (kIsSmallFloat<T>)
        Loops<float, K>::fold_rows(acc, wide + r * n, m, n);
      else
        fold_rows(acc, d + r * n, m, n);
      finish(static_cast<T*>(out) + r, acc, init, m);
    }
  }
  static void column(void* lanes, const void* data, int n) {
    if constexpr (kIsSmallFloat<T>) {
      each_widened(data, n, [lanes](const float* wide, int at, int m) {
        Loops<float, K>::column(static_cast<float*>(lanes) + at, wide, m);
      });
      return;
    }
    LaneValue* __restrict l = static_cast<LaneValue*>(lanes);
    const T* __restrict d = static_cast<const T*>(data);
    for (int i = 0; i < n; ++i) l[i] = combine<K>(l[i], static_cast<LaneValue>(d[i]));
  }
  static void flush(void* acc, const void* lanes, int n) {
    Acc* __restrict a = static_cast<Acc*>(acc);
    const LaneValue* __restrict l = static_cast<const LaneValue*>(lanes);
    for (int i = 0; i < n; ++i) a[i] = combine<K>(a[i], static_cast<Acc>(l[i]));
  }
  static void merge(void* acc, const void* other, std::int64_t n) {
    Acc* __restrict a = static_cast<Acc*>(acc);
    const Acc* __restrict o = static_cast<const Acc*>(other);
    for (std::int64_t i = 0; i < n; ++i) a[i] = combine<K>(a[i], o[i]);
  }
  static void finish(void* out, const void* acc, const void* init, std::int64_t n) {
    T* __restrict o = static_cast<T*>(out);
    const Acc* __restrict a = static_cast<const Acc*>(acc);
    const Acc first = static_cast<Acc>(static_cast<LaneValue>(*static_cast<const T*>(init)));
    for (std::int64_t i = 0; i < n; ++i) o[i] = convert_element<T>(combine<K>(first, a[i]));
  }
  static ReduceLoops make() {
    // Bitwise ones of floats do not exist.
    if constexpr (kIsFloat<T> && (K == TileOp::kAnd || K == TileOp::kOr))
      return {};
    else
      return {.acc_bytes = sizeof(Acc),
              .lane_bytes = sizeof(LaneValue),
              .acc_identity = fill_identity<Acc, std::int64_t>,
              .row = row,
              .rows = rows,
              .lane_identity = fill_identity<LaneValue, int>,
              .column = column,
              .flush = flush,
              .merge = merge,
              .finish = finish};
  }
};

template <class T>
ReduceLoops find_for(TileOp kind) {
  switch (kind) {
#define MILLRACE_CASE(kind) \
  case TileOp::kind:        \
    return Loops<T, TileOp::kind>::make();
    MILLRACE_CASE(kAdd)
    MILLRACE_CASE(kMultiply)
    MILLRACE_CASE(kMaximum)
    MILLRACE_CASE(kMinimum)
    MILLRACE_CASE(kAnd)
    MILLRACE_CASE(kOr)
#undef MILLRACE_CASE
    default:
      return {};
  }
}

}  // namespace

ReduceLoops reduce_loops(TileOp kind, DType type) {
  return visit(
      type, [kind](auto tag) { return find_for<typename decltype(tag)::type>(kind); },
      [] { return ReduceLoops{}; });
}

}  // namespace millrace::devices::cpu::MILLRACE_ISA
