// Constants and operations that move elements without computing.
#include <algorithm>
#include <limits>

#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// The product of the dimensions, stopping at more than 2^63; nullopt if one is dynamic.
std::optional<Wide> product(std::span<const std::int64_t> dims) {
  constexpr Wide kTooMany = Wide{kMax} + 1;
  Wide out = 1;
  for (std::int64_t d : dims) {
    if (d == ir::kDynamic) return std::nullopt;
    // A zero anywhere makes the product zero, however large the others are.
    out = d == 0 || out == 0 ? Wide{0} : std::min(out * d, kTooMany);
  }
  return out;
}

bool same_as_operand(Check& c) {
  return c.per_tensor(0) && c.result_like(0, c.operand(0), "the result");
}

// Start indices of dynamic slices: one scalar integer per dimension, all of one type.
bool check_starts(Check& c, int first) {
  const int rank = c.operand(0).rank();
  if (!c.operands(first + rank)) return false;
  for (int i = first; i < first + rank; ++i) {
    const std::string what = "operand " + std::to_string(i);
    if (!c.scalar(c.operand(i), what) || !c.element_in(c.operand(i), kInteger, what) ||
        !c.same_element(c.operand(i), c.operand(first), what)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool check_constant(Check& c) {
  if (!c.operands(0) || !c.results(1)) return false;
  const ir::Attribute value = c.op.attr("value");
  if (!value) return c.fail("the attribute value is missing");
  const auto* dense = value.as<ir::DenseAttr>();
  if (const ir::QuantParameters* q = c.result().element().quant()) {
    // The stored integers; of signed and unsigned ones the bytes are the same.
    const bool fits = dense != nullptr &&
                      std::ranges::equal(dense->type.dims(), c.result().dims()) &&
                      (element_class(dense->type.dtype()) & kInteger) != 0 &&
                      bit_width(dense->type.dtype()) == bit_width(q->storage);
    return fits || c.fail("the value is " +
                          (dense != nullptr ? dense->type.to_string() : "no array of integers") +
                          ", expected " + std::string(to_string(q->storage)) +
                          ", the storage type, in the shape " + to_string(c.result().dims()));
  }
  if (dense == nullptr) return true;
  return dense->type == c.result() || c.fail("the value is " + dense->type.to_string() +
                                             ", expected the result's " + c.result().to_string());
}

bool check_iota(Check& c) {
  if (!c.operands(0) || !c.results(1)) return false;
  std::int64_t axis = 0;
  if (c.result().rank() == 0)
    return c.fail("the result is a scalar, expected at least one dimension");
  return c.integer("iota_dimension", 0, c.result().rank() - 1, &axis) &&
         c.element_in(c.result(), kNumber, "the result");
}

// The scales' dimension is one of the result where as many elements stand in front of it and behind
// it.
bool reshaped_element(Check& c) {
  const int axis = c.moved_axis();
  if (axis < 0) return c.moved_element(-1);
  const auto at = static_cast<std::size_t>(axis);
  const auto from = c.operand(0).dims(), to = c.result().dims();
  const auto stands_at = [&](int place) {
    const auto k = static_cast<std::size_t>(place);
    return agree(from[at], to[k]) && product(from.first(at)) == product(to.first(k)) &&
           product(from.subspan(at + 1)) == product(to.subspan(k + 1));
  };
  // Beside dimensions of one element there may be several: then the one that is asked for.
  int place = c.result().element().quant()->axis;
  if (place >= c.result().rank() || !stands_at(place)) {
    for (place = c.result().rank() - 1; place >= 0 && !stands_at(place);) --place;
  }
  return c.moved_element(place);
}

bool check_reshape(Check& c) {
  if (!c.operands(1) || !c.results(1) || !reshaped_element(c)) return false;
  const auto from = product(c.operand(0).dims());
  const auto to = product(c.result().dims());
  return !from || !to || *from == *to ||
         c.fail("the operand has the shape " + to_string(c.operand(0).dims()) + ", the result " +
                to_string(c.result().dims()) + ": expected the same number of elements");
}

bool check_broadcast_in_dim(Check& c) {
  return c.operands(1) && check_broadcast(c, "broadcast_dimensions");
}

bool check_broadcast(Check& c, std::string_view dimensions) {
  Dims dims;
  if (!c.results(1)) return false;
  const auto from = c.operand(0).dims();
  const auto to = c.result().dims();
  if (!c.ints(dimensions, from.size(), &dims) || !c.axes(dims, c.result().rank(), dimensions))
    return false;
  const int axis = c.moved_axis();
  if (!c.moved_element(axis < 0 ? -1 : static_cast<int>(dims[static_cast<std::size_t>(axis)])))
    return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t target = to[static_cast<std::size_t>(dims[i])];
    if (from[i] != 1 && !agree(from[i], target)) {
      return c.fail("dimension " + std::to_string(i) + " of the operand is " +
                    std::to_string(from[i]) + ", expected 1 or " + std::to_string(target) +
                    ", the result's dimension " + std::to_string(dims[i]));
    }
  }
  return true;
}

bool check_transpose(Check& c) {
  Dims permutation;
  if (!c.operands(1) || !c.results(1)) return false;
  const auto from = c.operand(0).dims();
  if (!c.ints("permutation", from.size(), &permutation) ||
      !c.axes(permutation, c.operand(0).rank(), "permutation"))
    return false;
  const int axis = c.moved_axis();
  const auto place = std::ranges::find(permutation, axis) - permutation.begin();
  if (!c.moved_element(axis < 0 ? -1 : static_cast<int>(place))) return false;
  Dims expected;
  for (std::int64_t axis : permutation) expected.push_back(from[static_cast<std::size_t>(axis)]);
  return c.result_dims(0, expected);
}

bool check_reverse(Check& c) {
  Dims dims;
  return c.operands(1) && c.results(1) && c.required_ints("dimensions", &dims) &&
         c.axes(dims, c.operand(0).rank(), "dimensions") && same_as_operand(c);
}

bool check_slice(Check& c) {
  Dims start;
  Dims limit;
  Dims stride;
  if (!c.operands(1) || !c.results(1) || !c.per_tensor(0) ||
      !c.same_element(c.result(), c.operand(0), "the result")) {
    return false;
  }
  const auto from = c.operand(0).dims();
  if (!c.ints("start_indices", from.size(), &start) ||
      !c.ints("limit_indices", from.size(), &limit) ||
      !c.ints("strides", from.size(), &stride, 1)) {
    return false;
  }
  Dims expected;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t extent = from[i] == ir::kDynamic ? kMax : from[i];
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > extent || stride[i] < 1) {
      return c.fail("found " + std::to_string(start[i]) + ":" + std::to_string(limit[i]) + ":" +
                    std::to_string(stride[i]) + " for dimension " + std::to_string(i) +
                    ", expected 0 <= start <= limit <= " + std::to_string(extent) +
                    " and a stride of at least 1");
    }
    expected.push_back((limit[i] - start[i]) / stride[i] +
                       ((limit[i] - start[i]) % stride[i] != 0 ? 1 : 0));
  }
  return c.result_dims(0, expected);
}

bool check_dynamic_slice(Check& c) {
  Dims sizes;
  if (!c.at_least_operands(1) || !c.results(1) || !c.per_tensor(0) || !check_starts(c, 1))
    return false;
  const auto from = c.operand(0).dims();
  if (!c.ints("slice_sizes", from.size(), &sizes)) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || (from[i] != ir::kDynamic && sizes[i] > from[i])) {
      return c.fail("found a slice size of " + std::to_string(sizes[i]) + " for dimension " +
                    std::to_string(i) + ", expected 0 to " + std::to_string(from[i]));
    }
  }
  return c.same_element(c.result(), c.operand(0), "the result") && c.result_dims(0, sizes);
}

bool check_dynamic_update_slice(Check& c) {
  if (!c.at_least_operands(2) || !c.results(1) || !check_starts(c, 2)) return false;
  const auto from = c.operand(0).dims();
  const auto update = c.operand(1).dims();
  if (!c.same_element(c.operand(1), c.operand(0), "operand 1")) return false;
  if (update.size() != from.size()) {
    return c.fail("operand 1 has rank " + std::to_string(update.size()) + ", expected " +
                  std::to_string(from.size()));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != ir::kDynamic && update[i] != ir::kDynamic && update[i] > from[i]) {
      return c.fail("dimension " + std::to_string(i) + " of operand 1 is " +
                    std::to_string(update[i]) + ", expected at most " + std::to_string(from[i]));
    }
  }
  return same_as_operand(c);
}

bool check_concatenate(Check& c) {
  if (!c.at_least_operands(1) || !c.results(1)) return false;
  const ir::Type first = c.operand(0);
  std::int64_t axis = 0;
  if (!c.integer("dimension", 0, first.rank() - 1, &axis)) return false;
  Dims expected(first.dims().begin(), first.dims().end());
  Wide total = 0;
  for (int i = 0; i < c.op.operand_count(); ++i) {
    const std::string what = "operand " + std::to_string(i);
    if (!c.per_tensor(i) || !c.same_element(c.operand(i), first, what)) return false;
    if (c.operand(i).rank() != first.rank())
      return c.fail(what + " has another rank than operand 0");
    const std::int64_t extent = c.operand(i).dims()[static_cast<std::size_t>(axis)];
    total = extent == ir::kDynamic || total < 0 ? Wide{-1} : total + extent;
    expected[static_cast<std::size_t>(axis)] = extent;
    if (!c.same_dims(c.operand(i).dims(), expected, what)) return false;
  }
  if (total > kMax) return c.fail("the result's dimension does not fit in 64 bits");
  expected[static_cast<std::size_t>(axis)] =
      total < 0 ? ir::kDynamic : static_cast<std::int64_t>(total);
  return c.same_element(c.result(), first, "the result") && c.result_dims(0, expected);
}

bool check_pad(Check& c) {
  Dims low;
  Dims high;
  Dims interior;
  if (!c.operands(2) || !c.results(1) || !c.per_tensor(0) || !c.scalar(c.operand(1), "operand 1") ||
      !c.same_element(c.operand(1), c.operand(0), "operand 1")) {
    return false;
  }
  const auto from = c.operand(0).dims();
  if (!c.ints("edge_padding_low", from.size(), &low) ||
      !c.ints("edge_padding_high", from.size(), &high) ||
      !c.ints("interior_padding", from.size(), &interior)) {
    return false;
  }
  Dims expected;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (interior[i] < 0)
      return c.fail("found an interior padding of " + std::to_string(interior[i]) +
                    ", expected at least 0");
    if (from[i] == ir::kDynamic) {
      expected.push_back(ir::kDynamic);
      continue;
    }
    const Wide inner = from[i] == 0 ? Wide{0} : from[i] + Wide{from[i] - 1} * interior[i];
    const Wide extent = inner + low[i] + high[i];
    if (extent < 0 || extent > kMax) {
      return c.fail("the padding of dimension " + std::to_string(i) +
                    " leaves no extent from 0 to 2^63 - 1");
    }
    expected.push_back(static_cast<std::int64_t>(extent));
  }
  return c.same_element(c.result(), c.operand(0), "the result") && c.result_dims(0, expected);
}

bool check_bitcast_convert(Check& c) {
  if (!c.operands(1) || !c.results(1)) return false;
  const int from = bit_width(storage_dtype(c.operand(0)));
  const int to = bit_width(storage_dtype(c.result()));
  if (from == 0 || to == 0) {
    return c.fail("found " + c.operand(0).to_string() + " and " + c.result().to_string() +
                  ", expected elements of a known width");
  }
  if (is_complex(storage_dtype(c.operand(0))) != is_complex(storage_dtype(c.result()))) {
    return c.fail("found " + c.operand(0).to_string() + " and " + c.result().to_string() +
                  ", expected complex numbers of both or of neither");
  }
  // The wider side has one dimension less; the narrower one's last dimension holds the parts.
  Dims expected(c.operand(0).dims().begin(), c.operand(0).dims().end());
  if (to > from) {
    if (to % from != 0 || expected.empty() || !agree(expected.back(), to / from)) {
      return c.fail("the operand is " + c.operand(0).to_string() +
                    ", expected a last dimension of " + std::to_string(to / from));
    }
    expected.pop_back();
  } else if (to < from) {
    expected.push_back(from / to);
  }
  return c.result_dims(0, expected);
}

}  // namespace millrace::devices::cpu::verify
