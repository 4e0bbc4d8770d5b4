// GemmTile: the innermost loop of gemm.h, a block of a product of matrices whose operands lie
// packed, compiled once per instruction set. Each element of the block is the sum of its terms in
// their order; x86-64-v3 and -v4 fuse each multiply-add of floats and so agree in every bit, the
// baseline rounds twice.
#pragma once

#include <cstdint>

#include "millrace/devices/cpu/kernels/base/isa_level.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"

namespace millrace::devices::cpu {

inline constexpr int kMaxTileVectors = 3;
// Sums that a product of vectors is taken in, whatever the vectors of the processor.
inline constexpr int kDotSums = 32;
// Rows, columns and terms, at most, of matrices that are multiplied side by side.
inline constexpr int kSmallSide = 16;

// T is double, float, std::uint32_t or std::uint64_t.
template <class T>
struct GemmTile {
  int rows = 0;     // of the left side's panels
  int lanes = 0;    // elements of a vector; the right side's panels are 1 to `vectors` of them wide
  int vectors = 0;  // at most kMaxTileVectors
  // run[v - 1], of v vectors: c[r * row + j] = (add ? c[r * row + j] : 0) + the sum over t < terms,
  // in order, of a[t * rows + r] * b[t * v * lanes + j].
  using Run = void (*)(std::int64_t terms, const T* a, const T* b, T* c, std::int64_t row,
                       bool add);
  Run run[kMaxTileVectors] = {};
  // The sum over t < terms of x[t] * y[t]: kDotSums sums, of every kDotSums-th term each, and then
  // their sum.
  T (*dot)(std::int64_t terms, const T* x, const T* y) = nullptr;
  // c[j], j < columns, = the sum over t < terms, in order, of x[t * step] * y[t * row + j].
  void (*sum_rows)(std::int64_t terms, std::int64_t columns, const T* x, std::int64_t step,
                   const T* y, std::int64_t row, T* c) = nullptr;
  // The first `count` products of a batch, at most `lanes` of them, each in a lane of its own.
  void (*side_by_side)(const MatmulSpec& spec, int count, const T* a, const T* b, T* c) = nullptr;
};

MILLRACE_IN_EACH_ISA(template <class T> GemmTile<T> gemm_tile();)

}  // namespace millrace::devices::cpu
