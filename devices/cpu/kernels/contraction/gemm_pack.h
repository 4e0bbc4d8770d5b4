// GemmPack: lays the operands of a product (gemm.h) in panels for the tiles of gemm_tile.h, as the
// type in which it is summed.
#pragma once

#include <cstdint>

#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// Elements [outer, term] of an operand, which lie these many elements apart.
struct GemmMatrix {
  const void* data;
  std::int64_t outer, term;
};

// Panels of `width` sums of A: to[t * width + i] = m[i, t], with zeros for the `outers` that are
// not there.
template <class A>
using GemmPack = void (*)(const GemmMatrix& m, std::int64_t outers, std::int64_t terms,
                          std::int64_t width, A* to);

// A: double, float, std::uint32_t or std::uint64_t.
template <class A>
struct GemmPacking {
  GemmPack<A> left = nullptr, right = nullptr;
  explicit operator bool() const { return left != nullptr && right != nullptr; }
};

// How operands of the types become sums of A, which hold each of their elements; null functions
// where they do not. Of complex numbers, the sums are of their parts.
template <class A>
GemmPacking<A> find_gemm_packing(DType lhs, DType rhs);

}  // namespace millrace::devices::cpu
