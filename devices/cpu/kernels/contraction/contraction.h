// dot_general and convolution of real element types, with every option of StableHLO, as plain
// loops: what runs small and unusual cases. Sums are taken as kernels/contraction/accumulate.h
// takes them. Fast kernels: onednn.h for f32, gemm.h for other types and for what oneDNN is slow
// at.
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

struct DotDims {
  std::vector<std::int64_t> lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};

// Up to this many multiply-adds: then sums of narrow floats and of parts of complex numbers are
// double, and a call of oneDNN takes longer than the work.
inline constexpr std::int64_t kPlainWork = 4096;

// The terms of each sum.
std::int64_t terms_of(const DotDims& dims, const Shape& lhs);
// Whether it is for dot_plain, or for the definition: of nothing, or of few terms where an operand
// or the result wants double sums.
bool dot_is_plain(const DotDims& dims, const Shape& lhs, const Shape& rhs, const Shape& result);
// Whether Gemm can do what is not.
bool dot_fits_gemm(const DotDims& dims, const Shape& lhs, const Shape& rhs, const Shape& result);

// Whether dot_plain and convolution_plain know the types.
bool can_contract(DType lhs, DType rhs, DType result);

void dot_plain(const DotDims& dims, const Shape& lhs, const Shape& rhs, const Shape& result,
               const void* lhs_data, const void* rhs_data, void* result_data, Parallel& parallel);

// StableHLO's convolution dimension numbers and window.
struct ConvolutionDims {
  std::int64_t input_batch = 0, input_feature = 0, kernel_input_feature = 0,
               kernel_output_feature = 0;
  std::int64_t output_batch = 0, output_feature = 0;
  std::vector<std::int64_t> input_spatial, kernel_spatial, output_spatial;
  std::vector<std::int64_t> strides, pad_low, pad_high, lhs_dilation, rhs_dilation;
  std::vector<bool> reversal;
  std::int64_t feature_groups = 1, batch_groups = 1;
};

void convolution_plain(const ConvolutionDims& dims, const Shape& lhs, const Shape& rhs,
                       const Shape& result, const void* lhs_data, const void* rhs_data,
                       void* result_data, Parallel& parallel);

}  // namespace millrace::devices::cpu
