// DirectProduct: products of matrices that are read where they lie, without panels and without a
// call of oneDNN for each: with a vector, and of batches of small matrices.
#pragma once

#include <cstdint>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/contraction/gemm_tile.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"

namespace millrace::devices::cpu {

// T: one of gemm_tile.h, of both sides and of the result. False where a product is none of those:
//   a batch of matrices of at most kSmallSide rows, columns and terms: as many as a vector has
//     lanes are multiplied side by side;
//   a matrix whose rows, or columns, have neighbours as elements, times a vector.
// Every sum depends on the sizes alone, not on the number of threads. Thread-safety: immutable.
template <class T>
class DirectProduct {
 public:
  // most_parts: for threads.
  DirectProduct(const MatmulSpec& spec, std::int64_t most_parts);
  explicit operator bool() const { return way_ != Way::kNone; }
  void run(const T* a, const T* b, T* c, Parallel& parallel) const;

 private:
  using Index = std::int64_t;
  enum class Way : std::uint8_t { kNone, kSideBySide, kDots, kRows };
  void multiply(const T* matrix, const T* vector, Index results, T* c) const;

  MatmulSpec spec_;
  GemmTile<T> tile_;
  Index most_parts_;
  Way way_ = Way::kNone;
  // With a vector: the results, the matrix's steps to the next result and to the next term, the
  // vector's step.
  bool right_is_vector_ = false;
  Index results_ = 0, outer_ = 0, term_ = 0, step_ = 0;
};

}  // namespace millrace::devices::cpu
