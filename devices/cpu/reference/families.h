// The operations of the reference evaluator, by family. Each is a Function of kernel.h: it may
// assume what the verifier has checked.
#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>

#include "millrace/devices/cpu/kernels/dim_vector.h"
#include "millrace/devices/cpu/reference/kernel.h"

namespace millrace::devices::cpu::reference {

// elementwise.cc
Status run_elementwise(const Call& c);
Status run_map(const Call& c);
Status run_constant(const Call& c);
Status run_constant_like(const Call& c);
Status run_identity(const Call& c);
Status run_zero(const Call& c);
Status run_collective_permute(const Call& c);

// movement.cc
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

// indexing.cc
Status run_dynamic_slice(const Call& c);
Status run_dynamic_update_slice(const Call& c);
Status run_gather(const Call& c);  // also of dynamic_gather
Status run_scatter(const Call& c);
Status run_index_select(const Call& c);

// reduce.cc
Status run_reduce(const Call& c);
Status run_reduce_window(const Call& c);
Status run_select_and_scatter(const Call& c);

// sort.cc
Status run_sort(const Call& c);
Status run_top_k(const Call& c);

// linear.cc
Status run_dot(const Call& c);
Result<std::shared_ptr<const Kernel>> make_einsum_kernel(const ir::Op& op);  // also unary_einsum
// ragged_dot.cc
Result<std::shared_ptr<const Kernel>> make_ragged_dot_kernel(const ir::Op& op);
// convolution.cc
Status run_convolution(const Call& c);  // also of dynamic_conv
// matrix.cc
Status run_cholesky(const Call& c);
Status run_triangular_solve(const Call& c);
// fft.cc
Result<std::shared_ptr<const Kernel>> make_fft_kernel(const ir::Op& op);
// random.cc
Status run_rng(const Call& c);
Status run_rng_bit_generator(const Call& c);
// normalise.cc
Status run_batch_norm_inference(const Call& c);
Status run_batch_norm_training(const Call& c);
Status run_batch_norm_grad(const Call& c);

// A list of integers without allocation: one or two per dimension.
class Integers {
 public:
  Integers(std::span<const std::int64_t> values)  // NOLINT(google-explicit-constructor)
      : size_(values.size()) {
    MILLRACE_CHECK(size_ <= std::size(data_), "a longer list than there are dimensions");
    std::copy(values.begin(), values.end(), data_);
  }
  Integers(std::size_t n, std::int64_t value) : size_(n) { std::fill_n(data_, n, value); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t& operator[](std::size_t i) { return data_[i]; }
  std::int64_t operator[](std::size_t i) const { return data_[i]; }
  const std::int64_t* begin() const { return data_; }
  const std::int64_t* end() const { return data_ + size_; }
  operator std::span<const std::int64_t>() const {  // NOLINT(google-explicit-constructor)
    return {data_, size_};
  }

 private:
  std::int64_t data_[2 * kMaxRank] = {};
  std::size_t size_ = 0;
};

// The integers of attribute `name`, or `n` times `otherwise`.
Integers ints_or(const Call& c, std::string_view name, std::size_t n, std::int64_t otherwise);
// The integers of an operand that tells sizes, starts or paddings.
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
// Of whole arrays, which may be empty and then have no address.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t n) {
  if (n != 0) std::memcpy(to, from, n);
}
inline void clear_bytes(std::byte* to, std::size_t n) {
  if (n != 0) std::memset(to, 0, n);
}
// The bytes of one element.
inline std::size_t width_of(const Shape& shape) { return byte_width(shape.dtype()); }
inline void copy_element(const std::byte* from, std::int64_t i, std::byte* to, std::int64_t j,
                         std::size_t width) {
  std::memcpy(to + static_cast<std::size_t>(j) * width, from + static_cast<std::size_t>(i) * width,
              width);
}

}  // namespace millrace::devices::cpu::reference
