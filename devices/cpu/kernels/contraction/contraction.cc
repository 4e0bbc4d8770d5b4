#include "millrace/devices/cpu/kernels/contraction/contraction.h"

#include <algorithm>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/base/split.h"
#include "millrace/devices/cpu/kernels/contraction/gemm.h"

namespace millrace::devices::cpu {
namespace {

// Reads an element of any type as A (double, or uint64 with wrap-around for integers).
template <class A>
using Reader = A (*)(const void* data, std::int64_t at);

template <class A, class T>
A read_as(const void* data, std::int64_t at) {
  const T v = static_cast<const T*>(data)[at];
  if constexpr (kIsBool<T>)
    return static_cast<A>(v.value);
  else
    return static_cast<A>(static_cast<ComputeType<T>>(v));
}

// to[i] = element places[i] + offset, n of them.
template <class A>
using RowReader = void (*)(const void* data, const std::int64_t* places, std::int64_t offset, int n,
                           A* to);

template <class A, class T>
void read_row_as(const void* data, const std::int64_t* places, std::int64_t offset, int n, A* to) {
  // Two loops: that of neighbours is one that a compiler turns into vectors.
  if (places[n - 1] - places[0] == n - 1) {
    for (int i = 0; i < n; ++i) to[i] = read_as<A, T>(data, places[0] + offset + i);
  } else {
    for (int i = 0; i < n; ++i) to[i] = read_as<A, T>(data, places[i] + offset);
  }
}

template <class A>
struct Readers {
  Reader<A> one = nullptr;
  RowReader<A> row = nullptr;
};
template <class A>
Readers<A> readers_of(DType type) {
  const auto of_type = [](auto tag) -> Readers<A> {
    using T = typename decltype(tag)::type;
    return {read_as<A, T>, read_row_as<A, T>};
  };
  return visit(type, of_type, [] { return Readers<A>(); });
}

template <class A>
void store(DType type, void* data, std::int64_t at, A value) {
  visit(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsBool<T>)
          static_cast<T*>(data)[at] = T(value != A(0));
        else if constexpr (std::is_floating_point_v<A>)
          static_cast<T*>(data)[at] = convert_element<T>(value);
        else if constexpr (kIsInteger<T>)
          static_cast<T*>(data)[at] = static_cast<T>(value);
      },
      [] {});
}

// Calls f with a value of the accumulator type for the result.
template <class F>
void with_accumulator(DType result, F f) {
  if (result == DType::kF32)
    f(float{});
  else if (is_floating(result))
    f(double{});
  else
    f(std::uint64_t{});
}

constexpr std::int64_t kPartCost = 32 << 10, kMostParts = 32;

}  // namespace

std::int64_t terms_of(const DotDims& dims, const Shape& lhs) {
  return Axes(lhs, dims.lhs_contract).size;
}

bool dot_is_plain(const DotDims& dims, const Shape& lhs, const Shape& rhs, const Shape& result) {
  const double work =
      static_cast<double>(result.elements()) * static_cast<double>(terms_of(dims, lhs));
  const auto sums_in_double = [](const Shape& shape) {
    return is_complex(shape.dtype()) ||
           (is_floating(shape.dtype()) && byte_width(shape.dtype()) < 4);
  };
  return work == 0 || (work <= kPlainWork &&
                       (sums_in_double(lhs) || sums_in_double(rhs) || sums_in_double(result)));
}

bool dot_fits_gemm(const DotDims& dims, const Shape& lhs, const Shape& rhs, const Shape& result) {
  return can_gemm(lhs.dtype(), rhs.dtype(), result.dtype()) &&
         !dot_is_plain(dims, lhs, rhs, result);
}

bool can_contract(DType lhs, DType rhs, DType result) {
  return is_real_element(lhs) && is_real_element(rhs) && is_real_element(result);
}

void dot_plain(const DotDims& dims, const Shape& lhs, const Shape& rhs, const Shape& result,
               const void* lhs_data, const void* rhs_data, void* result_data, Parallel& parallel) {
  const Axes lhs_batch(lhs, dims.lhs_batch), rhs_batch(rhs, dims.rhs_batch),
      rows(lhs, other_dims(lhs.rank(), dims.lhs_batch, dims.lhs_contract)),
      columns(rhs, other_dims(rhs.rank(), dims.rhs_batch, dims.rhs_contract)),
      lhs_inner(lhs, dims.lhs_contract), rhs_inner(rhs, dims.rhs_contract);
  // Blocks of rows by columns, whose sums grow side by side, each in the order of its terms.
  constexpr std::int64_t kRows = 8, kColumns = 64;
  const std::int64_t row_blocks = (rows.size + kRows - 1) / kRows;
  with_accumulator(result.dtype(), [&](auto zero) {
    using A = decltype(zero);
    const Reader<A> left = readers_of<A>(lhs.dtype()).one;
    const RowReader<A> right = readers_of<A>(rhs.dtype()).row;
    const std::int64_t blocks = lhs_batch.size * row_blocks;
    split(blocks, result.elements() * (lhs_inner.size + 1) / kPartCost, kMostParts, parallel,
          [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t block = begin; block < end; ++block) {
              const std::int64_t batch = block / row_blocks, row = block % row_blocks * kRows;
              const std::int64_t r0 = rhs_batch.offset(batch);
              const auto height = static_cast<int>(std::min(kRows, rows.size - row));
              std::int64_t starts[kRows], places[kColumns];
              for (int i = 0; i < height; ++i)
                starts[i] = lhs_batch.offset(batch) + rows.offset(row + i);
              for (std::int64_t column = 0; column < columns.size; column += kColumns) {
                const auto width = static_cast<int>(std::min(kColumns, columns.size - column));
                for (int c = 0; c < width; ++c) places[c] = r0 + columns.offset(column + c);
                A sums[kRows][kColumns] = {}, terms[kColumns];
                for (std::int64_t k = 0; k < lhs_inner.size; ++k) {
                  right(rhs_data, places, rhs_inner.offset(k), width, terms);
                  const std::int64_t at = lhs_inner.offset(k);
                  for (int i = 0; i < height; ++i) {
                    const A x = left(lhs_data, starts[i] + at);
                    for (int c = 0; c < width; ++c) sums[i][c] += x * terms[c];
                  }
                }
                for (int i = 0; i < height; ++i) {
                  const std::int64_t line = batch * rows.size + row + i;
                  for (int c = 0; c < width; ++c)
                    store(result.dtype(), result_data, line * columns.size + column + c,
                          sums[i][c]);
                }
              }
            }
          });
  });
}

void convolution_plain(const ConvolutionDims& dims, const Shape& lhs, const Shape& rhs,
                       const Shape& result, const void* lhs_data, const void* rhs_data,
                       void* result_data, Parallel& parallel) {
  const DimVector ls = dense_strides(lhs), rs = dense_strides(rhs);
  const std::size_t spatial = dims.input_spatial.size();
  const std::int64_t out_features = result.dim(static_cast<int>(dims.output_feature));
  const std::int64_t kernel_features = rhs.dim(static_cast<int>(dims.kernel_input_feature));
  const std::int64_t lhs_batch = lhs.dim(static_cast<int>(dims.input_batch));
  const std::int64_t positions = Axes(rhs, dims.kernel_spatial).size;
  const std::int64_t features_per_group = out_features / dims.feature_groups;
  const std::int64_t features_per_batch_group = out_features / dims.batch_groups;
  const std::int64_t batches_per_group = lhs_batch / dims.batch_groups;

  with_accumulator(result.dtype(), [&](auto zero) {
    using A = decltype(zero);
    const Reader<A> left = readers_of<A>(lhs.dtype()).one, right = readers_of<A>(rhs.dtype()).one;
    const std::int64_t n = result.elements();
    split(n, n * positions * kernel_features / kPartCost, kMostParts, parallel,
          [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              const DimVector index = index_of(i, result.dims());
              const std::int64_t feature = index[dims.output_feature];
              const std::int64_t batch =
                  index[dims.output_batch] +
                  feature / features_per_batch_group * batches_per_group * (dims.batch_groups > 1);
              const std::int64_t first_feature = feature / features_per_group * kernel_features;
              const std::int64_t l0 =
                  batch * ls[dims.input_batch] + first_feature * ls[dims.input_feature];
              const std::int64_t r0 = feature * rs[dims.kernel_output_feature];
              A sum{};
              for (std::int64_t p = 0; p < positions; ++p) {
                std::int64_t left_rest = p, l = l0, r = r0;
                bool inside = true;
                for (std::size_t s = spatial; s-- > 0 && inside;) {
                  const std::int64_t extent = rhs.dim(static_cast<int>(dims.kernel_spatial[s]));
                  const std::int64_t k = left_rest % extent;
                  left_rest /= extent;
                  const std::int64_t padded = index[dims.output_spatial[s]] * dims.strides[s] +
                                              k * dims.rhs_dilation[s] - dims.pad_low[s];
                  inside = padded >= 0 && padded % dims.lhs_dilation[s] == 0 &&
                           padded / dims.lhs_dilation[s] <
                               lhs.dim(static_cast<int>(dims.input_spatial[s]));
                  if (!inside) break;
                  l += padded / dims.lhs_dilation[s] * ls[dims.input_spatial[s]];
                  r += (dims.reversal[s] ? extent - 1 - k : k) * rs[dims.kernel_spatial[s]];
                }
                if (!inside) continue;
                for (std::int64_t f = 0; f < kernel_features; ++f) {
                  sum += left(lhs_data, l + f * ls[dims.input_feature]) *
                         right(rhs_data, r + f * rs[dims.kernel_input_feature]);
                }
              }
              store(result.dtype(), result_data, i, sum);
            }
          });
  });
}

}  // namespace millrace::devices::cpu
