// Constants and operations that move elements without computing. Where the shape comes from
// operands, what types and attributes say is checked; what the operands' values must be, once they
// are known.
#include <algorithm>
#include <limits>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// The product of the dimensions, stopping at more than 2^63; nullopt if one is dynamic.
std::optional<Wide> product(Ints dims) {
  constexpr Wide kTooMany = Wide{kMax} + 1;
  Wide out = 1;
  for (std::int64_t d : dims) {
    if (d == ir::kDynamic) return std::nullopt;
    // A zero anywhere makes the product zero, however large the others are.
    out = d == 0 || out == 0 ? Wide{0} : std::min(out * d, kTooMany);
  }
  return out;
}

bool same_as_operand(Check& c) { return c.per_tensor(0) && c.result_like(0, c.operand(0)); }

// Start indices of dynamic slices, one scalar integer per dimension, all of one type, behind
// `first` operands.
bool check_starts(Check& c, int first) {
  return c.at_least_operands(first) && c.counts(first + c.operand(0).rank(), 1) &&
         all(c.operand(0).rank(), [&](int i) {
           return c.scalar(first + i) && c.element_in(first + i, kInteger) &&
                  c.same_element(first + i, c.operand(first));
         });
}

// A vector of integers, one per dimension.
bool index_vector(Check& c, int operand, int count) {
  return c.element_in(operand, kInteger) && c.same_dims(operand, Dims{count});
}

// The result has the elements and the rank of operand 0, the operands from `first` on are vectors
// of indices into it.
bool moves_within_rank(Check& c, int operands, int first) {
  if (!c.counts(operands, 1) || !c.per_tensor(0) || !c.keeps_element()) return false;
  const int rank = c.operand(0).rank();
  if (c.result().rank() != rank)
    return c.fail("the result has rank ", c.result().rank(), ", expected ", rank);
  return all(operands - first, [&](int i) { return index_vector(c, first + i, rank); });
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

}  // namespace

bool check_constant(Check& c) {
  if (!c.counts(0, 1)) return false;
  const ir::Attribute value = c.op.attr("value");
  if (!value) return c.fail("the attribute value is missing");
  const auto* dense = value.as<ir::DenseAttr>();
  if (const ir::QuantParameters* q = c.result().element().quant()) {
    // The stored integers; of signed and unsigned ones the bytes are the same.
    const bool fits = dense != nullptr &&
                      std::ranges::equal(dense->type.dims(), c.result().dims()) &&
                      (element_class(dense->type.dtype()) & kInteger) != 0 &&
                      bit_width(dense->type.dtype()) == bit_width(q->storage);
    return fits || c.fail("the value is ",
                          dense != nullptr ? dense->type.to_string() : "no array of integers",
                          ", expected ", q->storage, ", the storage type, in the shape ",
                          c.result().dims());
  }
  return dense == nullptr || dense->type == c.result() ||
         c.fail("the value is ", dense->type, ", expected the result's ", c.result());
}

bool check_iota(Check& c) {
  const bool dynamic = c.op.kind() == ir::OpKind::kDynamicIota;
  if (!c.counts(dynamic ? 1 : 0, 1)) return false;
  std::int64_t axis = 0;
  if (c.result().rank() == 0)
    return c.fail("the result is a scalar, expected at least one dimension");
  return c.integer("iota_dimension", 0, c.result().rank() - 1, &axis) &&
         c.element_in(c.result(), kNumber, "the result") &&
         (!dynamic || index_vector(c, 0, c.result().rank()));
}

bool check_reshape(Check& c) {
  const bool dynamic = c.op.kind() == ir::OpKind::kDynamicReshape;
  if (!c.counts(dynamic ? 2 : 1, 1) || !reshaped_element(c) ||
      (dynamic && !index_vector(c, 1, c.result().rank()))) {
    return false;
  }
  const auto from = product(c.operand(0).dims()), to = product(c.result().dims());
  return !from || !to || *from == *to ||
         c.fail("the operand has the shape ", c.operand(0).dims(), ", the result ",
                c.result().dims(), ": expected the same number of elements");
}

bool check_broadcast_in_dim(Check& c) {
  constexpr std::string_view kName = "broadcast_dimensions";
  const bool dynamic = c.op.kind() == ir::OpKind::kDynamicBroadcastInDim;
  if (!c.counts(dynamic ? 2 : 1, 1) || (dynamic && !index_vector(c, 1, c.result().rank())))
    return false;
  Dims dims, expanding, kept;
  const auto from = c.operand(0).dims();
  if (!c.ints(kName, from.size(), &dims) || !c.axes(dims, c.result().rank(), kName)) return false;
  const int axis = c.moved_axis();
  if (!c.moved_element(axis < 0 ? -1 : static_cast<int>(dims[static_cast<std::size_t>(axis)])))
    return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t target = c.result().dim(dims[i]);
    if (from[i] == 1 || agree(from[i], target)) continue;
    return c.fail("dimension ", i, " of the operand is ", from[i], ", expected 1 or ", target,
                  ", the result's dimension ", dims[i]);
  }
  const auto hint = [&](std::string_view name, Dims* out) {
    return !c.op.attr(name) || c.required_ints(name, out);
  };
  return !dynamic ||
         (hint("known_expanding_dimensions", &expanding) &&
          hint("known_nonexpanding_dimensions", &kept) &&
          c.axes(expanding, kept, c.operand(0).rank(),
                 "the hints known_expanding_dimensions and known_nonexpanding_dimensions"));
}

bool check_transpose(Check& c) {
  Dims permutation, expected;
  if (!c.counts(1, 1) || !c.ints("permutation", c.operand(0).dims().size(), &permutation) ||
      !c.axes(permutation, c.operand(0).rank(), "permutation")) {
    return false;
  }
  const int axis = c.moved_axis();
  const auto place = std::ranges::find(permutation, axis) - permutation.begin();
  if (!c.moved_element(axis < 0 ? -1 : static_cast<int>(place))) return false;
  for (std::int64_t d : permutation) expected.push_back(c.operand(0).dim(d));
  return c.result_dims(0, expected);
}

bool check_reverse(Check& c) {
  Dims dims;
  return c.counts(1, 1) && c.required_ints("dimensions", &dims) &&
         c.axes(dims, c.operand(0).rank(), "dimensions") && same_as_operand(c);
}

bool check_slice(Check& c) {
  Dims start, limit, stride, expected;
  if (!c.counts(1, 1) || !c.per_tensor(0) || !c.keeps_element()) return false;
  const auto from = c.operand(0).dims();
  if (!c.ints("start_indices", from.size(), &start) ||
      !c.ints("limit_indices", from.size(), &limit) ||
      !c.ints("strides", from.size(), &stride, 1)) {
    return false;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t extent = from[i] == ir::kDynamic ? kMax : from[i];
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > extent || stride[i] < 1) {
      return c.fail("found ", start[i], ":", limit[i], ":", stride[i], " for dimension ", i,
                    ", expected 0 <= start <= limit <= ", extent, " and a stride of at least 1");
    }
    const std::int64_t length = limit[i] - start[i];
    expected.push_back(length / stride[i] + (length % stride[i] != 0 ? 1 : 0));
  }
  return c.result_dims(0, expected);
}

bool check_dynamic_slice(Check& c) {
  Dims sizes;
  if (!check_starts(c, 1) || !c.per_tensor(0)) return false;
  const auto from = c.operand(0).dims();
  if (!c.ints("slice_sizes", from.size(), &sizes)) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || (from[i] != ir::kDynamic && sizes[i] > from[i])) {
      return c.fail("found a slice size of ", sizes[i], " for dimension ", i, ", expected 0 to ",
                    from[i]);
    }
  }
  return c.keeps_element() && c.result_dims(0, sizes);
}

bool check_dynamic_update_slice(Check& c) {
  if (!check_starts(c, 2) || !c.same_element(1, c.operand(0))) return false;
  const auto from = c.operand(0).dims(), update = c.operand(1).dims();
  if (update.size() != from.size())
    return c.fail("operand 1 has rank ", update.size(), ", expected ", from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != ir::kDynamic && update[i] != ir::kDynamic && update[i] > from[i]) {
      return c.fail("dimension ", i, " of operand 1 is ", update[i], ", expected at most ",
                    from[i]);
    }
  }
  return same_as_operand(c);
}

bool check_concatenate(Check& c) {
  if (!c.at_least_operands(1) || !c.results(1)) return false;
  const ir::Type first = c.operand(0);
  std::int64_t axis = 0;
  if (!c.integer("dimension", 0, first.rank() - 1, &axis)) return false;
  Dims expected = dims_of(first);
  std::int64_t& along = expected[static_cast<std::size_t>(axis)];
  Wide total = 0;
  for (int i = 0; i < c.op.operand_count(); ++i) {
    if (!c.per_tensor(i) || !c.same_element(i, first)) return false;
    if (c.operand(i).rank() != first.rank())
      return c.fail("operand ", i, " has another rank than operand 0");
    along = c.operand(i).dim(axis);
    total = along == ir::kDynamic || total < 0 ? Wide{-1} : total + along;
    if (!c.same_dims(i, expected)) return false;
  }
  if (total > kMax) return c.fail("the result's dimension does not fit in 64 bits");
  along = total < 0 ? ir::kDynamic : static_cast<std::int64_t>(total);
  return c.keeps_element() && c.result_dims(0, expected);
}

bool check_pad(Check& c) {
  Dims low, high, interior, expected;
  if (!c.counts(2, 1) || !c.per_tensor(0) || !c.scalar(1) || !c.same_element(1, c.operand(0)))
    return false;
  const auto from = c.operand(0).dims();
  if (!c.ints("edge_padding_low", from.size(), &low) ||
      !c.ints("edge_padding_high", from.size(), &high) ||
      !c.ints("interior_padding", from.size(), &interior)) {
    return false;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (interior[i] < 0)
      return c.fail("found an interior padding of ", interior[i], ", expected at least 0");
    if (from[i] == ir::kDynamic) {
      expected.push_back(ir::kDynamic);
      continue;
    }
    const Wide inner = from[i] == 0 ? Wide{0} : from[i] + Wide{from[i] - 1} * interior[i];
    const Wide extent = inner + low[i] + high[i];
    if (extent < 0 || extent > kMax) {
      return c.fail("the padding of dimension ", i, " leaves no extent from 0 to 2^63 - 1");
    }
    expected.push_back(static_cast<std::int64_t>(extent));
  }
  return c.keeps_element() && c.result_dims(0, expected);
}

bool check_bitcast_convert(Check& c) {
  if (!c.counts(1, 1)) return false;
  const DType in = storage_dtype(c.operand(0)), out = storage_dtype(c.result());
  const int from = bit_width(in), to = bit_width(out);
  if (from == 0 || to == 0 || is_complex(in) != is_complex(out)) {
    return c.fail("found ", c.operand(0), " and ", c.result(), ", expected ",
                  from == 0 || to == 0 ? "elements of a known width"
                                       : "complex numbers of both or of neither");
  }
  // The wider side has one dimension less; the narrower one's last dimension holds the parts.
  Dims expected = dims_of(c.operand(0));
  if (to > from) {
    if (to % from != 0 || expected.empty() || !agree(expected.back(), to / from))
      return c.fail("the operand is ", c.operand(0), ", expected a last dimension of ", to / from);
    expected.pop_back();
  } else if (to < from) {
    expected.push_back(from / to);
  }
  return c.result_dims(0, expected);
}

bool check_broadcast_op(Check& c) {
  Dims sizes;
  if (!c.counts(1, 1) || !c.keeps_element() || !c.required_ints("broadcast_sizes", &sizes))
    return false;
  sizes.insert(sizes.end(), c.operand(0).dims().begin(), c.operand(0).dims().end());
  return c.result_dims(0, sizes);
}

bool check_dynamic_pad(Check& c) {
  return moves_within_rank(c, 5, 2) && c.scalar(1) && c.same_element(1, c.operand(0));
}

bool check_real_dynamic_slice(Check& c) { return moves_within_rank(c, 4, 1); }

bool check_get_dimension_size(Check& c) {
  std::int64_t axis = 0;
  return c.counts(1, 1) && c.scalar(c.result(), "the result") &&
         c.element_in(c.result(), kSigned, "the result") &&
         c.integer("dimension", 0, c.operand(0).rank() - 1, &axis);
}

bool check_set_dimension_size(Check& c) {
  std::int64_t axis = 0;
  return c.counts(2, 1) && c.keeps_element() && c.scalar(1) && c.element_in(1, kInteger) &&
         c.integer("dimension", 0, c.operand(0).rank() - 1, &axis) &&
         c.result_dims(0, c.operand(0).dims());
}

bool check_torch_index_select(Check& c) {
  std::int64_t axis = 0, batch = 0;
  if (!c.counts(2, 1) || !c.per_tensor(0) || !c.keeps_element() || !c.element_in(1, kInteger) ||
      !c.integer("dim", 0, c.operand(0).rank() - 1, &axis) ||
      !c.integer("batch_dims", 0, c.operand(1).rank(), &batch)) {
    return false;
  }
  if (batch > axis) return c.fail("found batch_dims = ", batch, ", expected at most dim");
  const auto from = c.operand(0).dims(), index = c.operand(1).dims();
  const auto begin = from.begin();
  Dims expected(begin, begin + axis);
  expected.insert(expected.end(), index.begin() + batch, index.end());
  expected.insert(expected.end(), begin + axis + 1, from.end());
  if (!std::equal(begin, begin + batch, index.begin(), agree))
    return c.fail("the batch dimensions of both operands differ");
  return c.result_dims(0, expected);
}

bool check_uniform(Check& c) {
  if (!c.counts(1, 1)) return false;
  const bool to_quantised = c.op.kind() == ir::OpKind::kUniformQuantize;
  const ir::Type quantised = to_quantised ? c.result() : c.operand(0);
  const ir::Type plain = to_quantised ? c.operand(0) : c.result();
  const std::string_view names[] = {"the operand", "the result"};
  if (quantised.element().kind() != ir::TypeKind::kQuant) {
    return c.fail(names[to_quantised ? 1 : 0], " is ", quantised, ", expected quantised elements");
  }
  if (!to_quantised && !c.not_quantised(plain, "the result")) return false;
  const DType expressed = expressed_dtype(quantised);
  if (expressed_dtype(plain) != expressed) {
    return c.fail(names[to_quantised ? 0 : 1], " is ", plain, ", expected elements of ", expressed,
                  ", which the quantised ones express");
  }
  return c.result_dims(0, c.operand(0).dims());
}

}  // namespace millrace::devices::stablehlo::verify
