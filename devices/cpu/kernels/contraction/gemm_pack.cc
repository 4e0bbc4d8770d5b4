#include "millrace/devices/cpu/kernels/contraction/gemm_pack.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "millrace/devices/cpu/kernels/base/element.h"

namespace millrace::devices::cpu {
namespace {

using Index = std::int64_t;

template <class A, class T>
void pack_real(const GemmMatrix& m, Index outers, Index terms, Index width, A* to) {
  const T* const data = static_cast<const T*>(m.data);
  if (m.outer == 1) {
    for (Index t = 0; t < terms; ++t, to += width) {
      const T* const from = data + t * m.term;
      if constexpr (std::is_same_v<A, T>)
        std::memcpy(to, from, static_cast<std::size_t>(outers) * sizeof(A));
      else
        std::transform(from, from + outers, to, [](T x) { return static_cast<A>(x); });
      std::fill(to + outers, to + width, A{});
    }
    return;
  }
  // Some lines at a time: what they read is whole cache lines, what they write is neighbours.
  constexpr Index kLines = 8;
  Index i = 0;
  for (; i + kLines <= outers; i += kLines) {
    const T* const from = data + i * m.outer;
    for (Index t = 0; t < terms; ++t) {
      for (Index j = 0; j < kLines; ++j)
        to[t * width + i + j] = static_cast<A>(from[j * m.outer + t * m.term]);
    }
  }
  for (; i < width; ++i) {
    for (Index t = 0; t < terms; ++t)
      to[t * width + i] = i < outers ? static_cast<A>(data[i * m.outer + t * m.term]) : A{};
  }
}

// Each complex term is two. Each row of the left side is two, each column of the right side one.
template <class A, bool kLeft>
void pack_complex(const GemmMatrix& m, Index outers, Index terms, Index width, A* to) {
  constexpr Index kStep = kLeft ? 2 : 1;
  const auto* const data = static_cast<const std::complex<A>*>(m.data);
  for (Index t = 0; t < terms; ++t) {
    A* const first = to + 2 * t * width;
    A* const second = first + width;
    for (Index i = 0; i < outers; ++i) {
      const std::complex<A> x = data[i * m.outer + t * m.term];
      first[kStep * i] = x.real();
      second[kStep * i] = kLeft ? -x.imag() : x.imag();
      if constexpr (kLeft) {
        first[2 * i + 1] = x.imag();
        second[2 * i + 1] = x.real();
      }
    }
    std::fill(first + kStep * outers, first + width, A{});
    std::fill(second + kStep * outers, second + width, A{});
  }
}

template <class A>
GemmPack<A> pack_of_real(DType type) {
  return visit(
      type,
      [](auto tag) -> GemmPack<A> {
        using T = typename decltype(tag)::type;
        constexpr bool kNumber = kIsInteger<T> || std::is_floating_point_v<T>;
        // Integers of 8 bits are summed as integers or, some of them, as f32.
        constexpr bool kKnown = kNumber && (std::is_integral_v<A> == kIsInteger<T>
                                                ? sizeof(T) <= sizeof(A)
                                                : std::is_same_v<A, float> && sizeof(T) == 1);
        if constexpr (kKnown) return pack_real<A, T>;
        return nullptr;
      },
      []() -> GemmPack<A> { return nullptr; });
}

}  // namespace

template <class A>
GemmPacking<A> find_gemm_packing(DType lhs, DType rhs) {
  if constexpr (std::is_floating_point_v<A>) {
    constexpr DType kComplex = sizeof(A) == 4 ? DType::kC64 : DType::kC128;
    if (lhs == kComplex && rhs == kComplex) return {pack_complex<A, true>, pack_complex<A, false>};
  }
  return {pack_of_real<A>(lhs), pack_of_real<A>(rhs)};
}
template GemmPacking<double> find_gemm_packing(DType, DType);
template GemmPacking<float> find_gemm_packing(DType, DType);
template GemmPacking<std::uint32_t> find_gemm_packing(DType, DType);
template GemmPacking<std::uint64_t> find_gemm_packing(DType, DType);

}  // namespace millrace::devices::cpu
