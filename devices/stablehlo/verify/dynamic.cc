// Operations whose shape comes from operands: what their types and attributes tell already. What
// the operands' values must be is checked when they are known.
#include <algorithm>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
namespace {

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
  for (int i = first; i < operands; ++i) {
    if (!index_vector(c, i, rank)) return false;
  }
  return true;
}

}  // namespace

bool check_dynamic_iota(Check& c) {
  std::int64_t axis = 0;
  return c.counts(1, 1) && c.element_in(c.result(), kNumber, "the result") &&
         index_vector(c, 0, c.result().rank()) &&
         c.integer("iota_dimension", 0, c.result().rank() - 1, &axis);
}

bool check_dynamic_reshape(Check& c) {
  if (!c.counts(2, 1) || !reshaped_element(c) || !index_vector(c, 1, c.result().rank()))
    return false;
  const auto from = c.operand(0).elements(), to = c.result().elements();
  return !from || !to || *from == *to ||
         c.fail("the operand has ", *from, " elements, the result ", *to);
}

bool check_dynamic_broadcast_in_dim(Check& c) {
  if (!c.counts(2, 1) || !index_vector(c, 1, c.result().rank()) || !check_broadcast(c))
    return false;
  Dims hints[2];
  constexpr std::string_view kHints[] = {"known_expanding_dimensions",
                                         "known_nonexpanding_dimensions"};
  for (std::size_t i = 0; i < 2; ++i) {
    if (c.op.attr(kHints[i]) && !c.required_ints(kHints[i], &hints[i])) return false;
  }
  return c.axes(hints[0], hints[1], c.operand(0).rank(),
                "the hints known_expanding_dimensions and known_nonexpanding_dimensions");
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
