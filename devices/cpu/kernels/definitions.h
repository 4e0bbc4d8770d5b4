// The definitions of the operations, as their rows in stablehlo/ir/ops.inc name them; each family
// has a folder, and run_pad is defined where the family's *_definition.cc is. A definition may
// assume what the verifier has checked.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/call.h"

namespace millrace::devices::cpu::definition {

#define MILLRACE_KERNEL_none
#define MILLRACE_KERNEL_runs(function) Status function(const Call& c);
#define MILLRACE_KERNEL_measures(function) MILLRACE_KERNEL_runs(function)
#define MILLRACE_KERNEL_makes(function) \
  Result<std::shared_ptr<const Kernel>> function(const ir::Op& op);
#define MILLRACE_OP_KERNEL(kind, kernel) MILLRACE_KERNEL_##kernel
#include "millrace/devices/stablehlo/ir/ops.inc"
#undef MILLRACE_KERNEL_none
#undef MILLRACE_KERNEL_runs
#undef MILLRACE_KERNEL_measures
#undef MILLRACE_KERNEL_makes
Status run_elementwise(const Call& c);

// The integers of attribute `name`, or `n` times `otherwise`.
Integers ints_or(const Call& c, std::string_view name, std::size_t n, std::int64_t otherwise);
// The integers of an operand that holds sizes, starts or paddings.
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
