#include <algorithm>
#include <numeric>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/definitions.h"
#include "millrace/devices/cpu/kernels/movement/merge_sort.h"
#include "millrace/devices/cpu/kernels/movement/sort_key.h"

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

namespace {

// The key of a number that visit() does not know; floats in total order.
std::uint64_t key_of(DType type, const Scalar& value) {
  switch (form_of(type)) {
    case Form::kSigned:
      return sort_number(value.i);
    case Form::kReal:
    case Form::kReal64:
      return sort_number(value.re);
    default:
      return value.u;
  }
}

}  // namespace

// The k largest of each row, the largest first; of equal ones the first. Floats are in total order.
Status run_top_k(const Call& c) {
  const ConstArray& from = c.operands[0];
  const DType type = from.shape.dtype();
  const std::int64_t k = c.op.int_or("k", 0);
  const std::int64_t extent = from.shape.dim(from.shape.rank() - 1);
  if (extent > INT32_MAX)
    return fail(ErrorCode::kUnimplemented, c.op.where() + ": rows of more than 2^31 elements");
  const std::int64_t rows = extent == 0 ? 0 : from.shape.elements() / extent;
  const std::size_t width = width_of(from.shape);
  using Entry = SortEntry<std::uint64_t>;
  const auto values = c.scratch.take<Scalar>(is_real_element(type) ? 0 : extent);
  const auto entries = c.scratch.take<Entry>(extent);
  if (c.scratch.measures()) return {};
  const auto first = [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key > b.key : a.index < b.index;
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::byte* const data = from.data + static_cast<std::size_t>(row * extent) * width;
    visit(
        type,
        [&](auto tag) {
          const auto* const elements = reinterpret_cast<const typename decltype(tag)::type*>(data);
          for (std::size_t i = 0; i < entries.size(); ++i)
            entries[i] = {sort_number(elements[i]), static_cast<std::int32_t>(i)};
        },
        [&] {
          load(type, data, extent, values.data());
          for (std::size_t i = 0; i < entries.size(); ++i)
            entries[i] = {key_of(type, values[i]), static_cast<std::int32_t>(i)};
        });
    std::partial_sort(entries.begin(), entries.begin() + k, entries.end(), first);
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t at = entries[static_cast<std::size_t>(i)].index;
      copy_element(from.data, row * extent + at, c.results[0].data, row * k + i, width);
      put(c.results[1], row * k + i, from_signed(at));
    }
  }
  return {};
}

}  // namespace millrace::devices::cpu::definition
