// The definitions of the operations, by family. Each is a Function of kernel.h: it may assume what
// the verifier has checked.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "millrace/devices/cpu/kernels/dim_vector.h"
#include "millrace/devices/cpu/kernels/kernel.h"

namespace millrace::devices::cpu::definition {

// elementwise/elementwise_definition.cc
Status run_elementwise(const Call& c);
Status run_map(const Call& c);
Status run_constant(const Call& c);
Status run_constant_like(const Call& c);
Status run_identity(const Call& c);
Status run_zero(const Call& c);
Status run_collective_permute(const Call& c);

// movement/movement_definition.cc
Status run_iota(const Call& c);
Status run_reshape(const Call& c);
Status run_broadcast_in_dim(const Call& c);  // also of dynamic_broadcast_in_dim, broadcast
Status run_transpose(const Call& c);
Status run_reverse(const Call& c);
Status run_slice(const Call& c);  // also of real_dynamic_slice
Status run_pad(const Call& c);    // also of dynamic_pad
Status run_concatenate(const Call& c);
Status run_get_dimension_size(const Call& c);
Status run_set_dimension_size(const Call& c);
Status run_bitcast(const Call& c);

// movement/indexing_definition.cc
Status run_dynamic_slice(const Call& c);
Status run_dynamic_update_slice(const Call& c);
Status run_gather(const Call& c);  // also of dynamic_gather
Status run_scatter(const Call& c);
Status run_index_select(const Call& c);

// reduce/reduce_definition.cc
Status run_reduce(const Call& c);
Status run_reduce_window(const Call& c);
Status run_select_and_scatter(const Call& c);

// movement/sort_definition.cc
Status run_sort(const Call& c);
Status run_top_k(const Call& c);

// contraction/dot_definition.cc
Status run_dot(const Call& c);
Result<std::shared_ptr<const Kernel>> make_einsum_kernel(const ir::Op& op);  // also unary_einsum
// contraction/ragged_dot.cc
Result<std::shared_ptr<const Kernel>> make_ragged_dot_kernel(const ir::Op& op);
// convolution/convolution_definition.cc
Status run_convolution(const Call& c);  // also of dynamic_conv
// ../linalg/solve_definition.cc
Status run_cholesky(const Call& c);
Status run_triangular_solve(const Call& c);
// fourier/fft.cc
Result<std::shared_ptr<const Kernel>> make_fft_kernel(const ir::Op& op);
// random/rng.cc
Status run_rng(const Call& c);
Status run_rng_bit_generator(const Call& c);
// reduce/normalise.cc
Status run_batch_norm_inference(const Call& c);
Status run_batch_norm_training(const Call& c);
Status run_batch_norm_grad(const Call& c);

// custom_attributes.cc: those of its mhlo.backend_config (as JAX writes it) and its backend_config,
// where they are dictionaries. What CallValue has nothing for (types, symbols, lists of several
// kinds, literals of more than a million elements) is not among them.
CallAttributes call_attributes(const ir::Op& op);

// The integers of attribute `name`, or `n` times `otherwise`.
Integers ints_or(const Call& c, std::string_view name, std::size_t n, std::int64_t otherwise);
// The integers of an operand of sizes, starts or paddings.
Integers index_vector(const ConstArray& array);

// Calls f(index, linear) for every index of an array of these dimensions, in row-major order.
template <class F>
void each_index(std::span<const std::int64_t> dims, F f) {
  DimVector index(dims.size());
  const std::int64_t n = product(dims);
  for (std::int64_t linear = 0; linear < n; ++linear) {
    f(static_cast<const DimVector&>(index), linear);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}
inline std::int64_t linear_of(const DimVector& index, const DimVector& strides) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
  return at;
}
// Whole arrays, which may be empty and then have no address.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t n) {
  if (n != 0) std::memcpy(to, from, n);
}
inline void clear_bytes(std::byte* to, std::size_t n) {
  if (n != 0) std::memset(to, 0, n);
}
// The bytes of one element.
inline std::size_t width_of(const Shape& shape) { return byte_width(shape.dtype()); }
// Element i of an array.
Scalar element(const auto& array, std::int64_t i) {
  const DType type = array.shape.dtype();
  return load(type, array.data + static_cast<std::size_t>(i) * byte_width(type));
}
inline std::int64_t index_element(const ConstArray& array, std::int64_t i) {
  return as_index(array.shape.dtype(), element(array, i));
}
inline void put(const MutableArray& to, std::int64_t i, const Scalar& value) {
  const DType type = to.shape.dtype();
  store(type, value, to.data + static_cast<std::size_t>(i) * byte_width(type));
}
inline void fill(const MutableArray& to, const Scalar& value) {
  for (std::int64_t i = 0; i < to.shape.elements(); ++i) put(to, i, value);
}
inline void copy_element(const std::byte* from, std::int64_t i, std::byte* to, std::int64_t j,
                         std::size_t width) {
  std::memcpy(to + static_cast<std::size_t>(j) * width, from + static_cast<std::size_t>(i) * width,
              width);
}

}  // namespace millrace::devices::cpu::definition
