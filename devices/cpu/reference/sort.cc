#include <algorithm>
#include <numeric>

#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
namespace {

// The rows of an array along one dimension: where each starts, and how far its elements are apart.
struct Rows {
  std::vector<std::int64_t> starts;
  std::int64_t extent = 1, step = 1;
  Rows(const Shape& shape, int dimension) {
    extent = shape.dim(dimension);
    const DimVector strides = dense_strides(shape);
    step = strides[static_cast<std::size_t>(dimension)];
    DimVector outer(shape.dims());
    outer[static_cast<std::size_t>(dimension)] = extent == 0 ? 0 : 1;
    each_index(outer, [&](const DimVector& index, std::int64_t) {
      starts.push_back(linear_of(index, strides));
    });
  }
};

}  // namespace

// Always stable: merge sort calls the comparator as the specification asks, whatever it answers.
Status run_sort(const Call& c) {
  const Shape& shape = c.operands[0].shape;
  if (shape.rank() == 0) return run_identity(c);
  const std::int64_t given = c.op.int_or("dimension", -1);
  const Rows rows(shape, static_cast<int>(given < 0 ? given + shape.rank() : given));
  const std::size_t count = c.operands.size();
  Body::Frame frame(c.bodies[0]);
  std::vector<std::vector<Scalar>> values(count);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.extent));
  for (const std::int64_t start : rows.starts) {
    for (std::size_t k = 0; k < count; ++k) {
      const ConstArray& from = c.operands[k];
      values[k].resize(order.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::int64_t at = start + static_cast<std::int64_t>(i) * rows.step;
        values[k][i] = load(from.shape.dtype(),
                            from.data + static_cast<std::size_t>(at) * width_of(from.shape));
      }
    }
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      for (std::size_t k = 0; k < count; ++k) {
        frame.argument(static_cast<int>(2 * k)) = values[k][static_cast<std::size_t>(a)];
        frame.argument(static_cast<int>(2 * k + 1)) = values[k][static_cast<std::size_t>(b)];
      }
      frame.run();
      return frame.result(0).u != 0;
    });
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < order.size(); ++i)
        copy_element(c.operands[k].data, start + order[i] * rows.step, c.results[k].data,
                     start + static_cast<std::int64_t>(i) * rows.step,
                     width_of(c.results[k].shape));
    }
  }
  return {};
}

// The k largest of each row, the largest first; of equal ones the first. A NaN is larger than all.
Status run_top_k(const Call& c) {
  const ConstArray& from = c.operands[0];
  const DType type = from.shape.dtype(), index_type = c.results[1].shape.dtype();
  const std::int64_t k = c.op.int_or("k", 0);
  const std::int64_t extent = from.shape.dim(from.shape.rank() - 1);
  const std::int64_t rows = extent == 0 ? 0 : from.shape.elements() / extent;
  const std::size_t width = width_of(from.shape);
  std::vector<Scalar> values(static_cast<std::size_t>(extent));
  std::vector<std::int64_t> order(static_cast<std::size_t>(extent));
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
  for (std::int64_t row = 0; row < rows; ++row) {
    load(type, from.data + static_cast<std::size_t>(row * extent) * width, extent, values.data());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), larger);
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t at = order[static_cast<std::size_t>(i)];
      copy_element(from.data, row * extent + at, c.results[0].data, row * k + i, width);
      store(index_type, from_signed(at),
            c.results[1].data + static_cast<std::size_t>(row * k + i) * byte_width(index_type));
    }
  }
  return {};
}

}  // namespace millrace::devices::cpu::reference
