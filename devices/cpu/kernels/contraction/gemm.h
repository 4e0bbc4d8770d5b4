// Gemm: products of matrices of the element types that oneDNN has no kernel for here: f64, complex
// and integers; of f32, what oneDNN has only its slow reference for, and batches of small matrices.
// Products that direct_product.h has need no panels. Other operands are packed in panels (K. Goto,
// R. van de Geijn, "Anatomy of high-performance matrix multiplication", 2008) for the tiles of
// gemm_tile.h. A complex product is one of real matrices: each element of the left side stands for
// [re -im; im re], one of the right side for a column [re; im].
//
// Integers of 8 bits are multiplied as f32, which holds the sum of a block of them.
//
// Every sum is taken in blocks of kGemmTerms, each in the order of its terms (those with a vector:
// direct_product.h), whatever the number of threads; nothing is left out, so that zero times
// infinity is NaN. The result is only written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// Whether there is a Gemm of these: f32 of f32 and integers of 8 bits; f64 of f32 and f64; c64 of
// c64 and c128 of c128; integers of 8 to 32 bits of integers of at most 32, those of 64 bits of any
// from 8 on.
bool can_gemm(DType lhs, DType rhs, DType result);

// Thread-safety: immutable.
class Gemm {
 public:
  // The types are some that can_gemm; spec has at least one term. Unless it is to be
  // split, it stays on one thread.
  Gemm(const MatmulSpec& spec, DType lhs, DType rhs, DType result, bool split = true);

  // 64-byte aligned scratch of one execution.
  std::size_t scratch_bytes() const;
  void run(const void* a, const void* b, void* c, std::byte* scratch, Parallel& parallel) const;

 private:
  MatmulSpec spec_;
  DType lhs_, rhs_, result_;
  std::int64_t most_parts_;
};

}  // namespace millrace::devices::cpu
