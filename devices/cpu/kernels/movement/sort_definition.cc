#include <algorithm>
#include <numeric>

#include "millrace/devices/cpu/kernels/definitions.h"
#include "millrace/devices/cpu/kernels/movement/merge_sort.h"

namespace millrace::devices::cpu::definition {
// Always stable.
Status run_sort(const Call& c) {
  const Shape& shape = c.operands[0].shape;
  if (shape.rank() == 0) return c.scratch.measures() ? Status() : run_identity(c);
  const std::int64_t given = c.op.int_or("dimension", -1);
  const auto dimension = static_cast<std::size_t>(given < 0 ? given + shape.rank() : given);
  const DimVector strides = dense_strides(shape);
  const std::int64_t extent = shape.dim(static_cast<int>(dimension)), step = strides[dimension];
  const std::size_t count = c.operands.size();
  Body::Frame frame = c.frame(0);
  // One row: the operands' values one after the other, and the order.
  const auto values = c.scratch.take<Scalar>(static_cast<std::int64_t>(count) * extent);
  const auto order = c.scratch.take<std::int64_t>(extent);
  const auto memory = c.scratch.take<std::int64_t>(extent);
  if (c.scratch.measures()) return {};
  const auto value = [&](std::size_t k, std::int64_t i) -> Scalar& {
    return values[k * order.size() + static_cast<std::size_t>(i)];
  };
  DimVector outer(shape.dims());
  outer[dimension] = extent == 0 ? 0 : 1;
  each_index(outer, [&](const DimVector& index, std::int64_t) {
    const std::int64_t start = linear_of(index, strides);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::int64_t i = 0; i < extent; ++i)
        value(k, i) = element(c.operands[k], start + i * step);
    }
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto sorted = merge_sort(order, memory, [&](std::int64_t a, std::int64_t b) {
      for (std::size_t k = 0; k < count; ++k) {
        frame.argument(static_cast<int>(2 * k)) = value(k, a);
        frame.argument(static_cast<int>(2 * k + 1)) = value(k, b);
      }
      frame.run();
      return frame.result(0).u != 0;
    });
    for (std::size_t k = 0; k < count; ++k) {
      for (std::int64_t i = 0; i < extent; ++i)
        copy_element(c.operands[k].data, start + sorted[static_cast<std::size_t>(i)] * step,
                     c.results[k].data, start + i * step, width_of(c.results[k].shape));
    }
  });
  return frame.status();
}

// The k largest of each row, the largest first; of equal ones the first. A NaN is larger than all.
Status run_top_k(const Call& c) {
  const ConstArray& from = c.operands[0];
  const DType type = from.shape.dtype();
  const std::int64_t k = c.op.int_or("k", 0);
  const std::int64_t extent = from.shape.dim(from.shape.rank() - 1);
  const std::int64_t rows = extent == 0 ? 0 : from.shape.elements() / extent;
  const std::size_t width = width_of(from.shape);
  const auto values = c.scratch.take<Scalar>(extent);
  const auto order = c.scratch.take<std::int64_t>(extent);
  if (c.scratch.measures()) return {};
  const auto larger = [&](std::int64_t a, std::int64_t b) {
    const Scalar &x = values[static_cast<std::size_t>(a)], &y = values[static_cast<std::size_t>(b)];
    switch (form_of(type)) {
      case Form::kSigned:
        return x.i > y.i;
      case Form::kReal:
      case Form::kReal64:
        return total_order(x.re, y.re) > 0;
      default:
        return x.u > y.u;
    }
  };
  const auto first = [&](std::int64_t a, std::int64_t b) {
    return larger(a, b) || (!larger(b, a) && a < b);
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    load(type, from.data + static_cast<std::size_t>(row * extent) * width, extent, values.data());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::partial_sort(order.begin(), order.begin() + k, order.end(), first);
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t at = order[static_cast<std::size_t>(i)];
      copy_element(from.data, row * extent + at, c.results[0].data, row * k + i, width);
      put(c.results[1], row * k + i, from_signed(at));
    }
  }
  return {};
}

}  // namespace millrace::devices::cpu::definition
