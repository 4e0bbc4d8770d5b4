// Operations whose shape comes from operands: what their types and attributes tell already. What
// the operands' values must be is checked when they are known.
#include <limits>

#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

// A vector of integers, one per dimension.
bool index_vector(Check& c, int operand, int count) {
  const std::string what = "operand " + std::to_string(operand);
  const std::int64_t dims[] = {count};
  return c.element_in(c.operand(operand), kInteger, what) &&
         c.same_dims(c.operand(operand).dims(), dims, what);
}

bool same_rank(Check& c) {
  return c.result().rank() == c.operand(0).rank() ||
         c.fail("the result has rank " + std::to_string(c.result().rank()) + ", expected " +
                std::to_string(c.operand(0).rank()));
}

bool element_of_operand(Check& c) { return c.same_element(c.result(), c.operand(0), "the result"); }

}  // namespace

bool check_dynamic_iota(Check& c) {
  std::int64_t axis = 0;
  return c.operands(1) && c.results(1) && c.element_in(c.result(), kNumber, "the result") &&
         index_vector(c, 0, c.result().rank()) &&
         c.integer("iota_dimension", 0, c.result().rank() - 1, &axis);
}

bool check_dynamic_reshape(Check& c) {
  if (!c.operands(2) || !c.results(1) || !reshaped_element(c) ||
      !index_vector(c, 1, c.result().rank())) {
    return false;
  }
  const auto from = c.operand(0).elements(), to = c.result().elements();
  return !from || !to || *from == *to ||
         c.fail("the operand has " + std::to_string(*from) + " elements, the result " +
                std::to_string(*to));
}

bool check_dynamic_broadcast_in_dim(Check& c) {
  if (!c.operands(2) || !index_vector(c, 1, c.op.result_count() == 1 ? c.result().rank() : 0) ||
      !check_broadcast(c, "broadcast_dimensions")) {
    return false;
  }
  Dims hinted;
  for (const char* hint : {"known_expanding_dimensions", "known_nonexpanding_dimensions"}) {
    Dims some;
    if (!c.op.attr(hint)) continue;
    if (!c.required_ints(hint, &some)) return false;
    hinted.insert(hinted.end(), some.begin(), some.end());
  }
  return c.axes(hinted, c.operand(0).rank(),
                "the hints known_expanding_dimensions and "
                "known_nonexpanding_dimensions");
}

bool check_broadcast_op(Check& c) {
  Dims sizes;
  if (!c.operands(1) || !c.results(1) || !element_of_operand(c) ||
      !c.required_ints("broadcast_sizes", &sizes)) {
    return false;
  }
  sizes.insert(sizes.end(), c.operand(0).dims().begin(), c.operand(0).dims().end());
  return c.result_dims(0, sizes);
}

bool check_dynamic_pad(Check& c) {
  const int rank = c.op.operand_count() > 0 ? c.operand(0).rank() : 0;
  return c.operands(5) && c.results(1) && c.per_tensor(0) && element_of_operand(c) &&
         same_rank(c) && c.scalar(c.operand(1), "operand 1") &&
         c.same_element(c.operand(1), c.operand(0), "operand 1") && index_vector(c, 2, rank) &&
         index_vector(c, 3, rank) && index_vector(c, 4, rank);
}

bool check_real_dynamic_slice(Check& c) {
  const int rank = c.op.operand_count() > 0 ? c.operand(0).rank() : 0;
  return c.operands(4) && c.results(1) && c.per_tensor(0) && element_of_operand(c) &&
         same_rank(c) && index_vector(c, 1, rank) && index_vector(c, 2, rank) &&
         index_vector(c, 3, rank);
}

bool check_get_dimension_size(Check& c) {
  std::int64_t axis = 0;
  return c.operands(1) && c.results(1) && c.scalar(c.result(), "the result") &&
         c.element_in(c.result(), kSigned, "the result") &&
         c.integer("dimension", 0, c.operand(0).rank() - 1, &axis);
}

bool check_set_dimension_size(Check& c) {
  std::int64_t axis = 0;
  return c.operands(2) && c.results(1) && element_of_operand(c) && same_rank(c) &&
         c.scalar(c.operand(1), "operand 1") && c.element_in(c.operand(1), kInteger, "operand 1") &&
         c.integer("dimension", 0, c.operand(0).rank() - 1, &axis) &&
         c.result_dims(0, c.operand(0).dims());
}

bool check_torch_index_select(Check& c) {
  std::int64_t axis = 0, batch = 0;
  if (!c.operands(2) || !c.results(1) || !c.per_tensor(0) || !element_of_operand(c) ||
      !c.element_in(c.operand(1), kInteger, "operand 1") ||
      !c.integer("dim", 0, c.operand(0).rank() - 1, &axis) ||
      !c.integer("batch_dims", 0, c.operand(1).rank(), &batch)) {
    return false;
  }
  if (batch > axis)
    return c.fail("found batch_dims = " + std::to_string(batch) + ", expected at most dim");
  const auto from = c.operand(0).dims(), index = c.operand(1).dims();
  const auto begin = from.begin();
  Dims expected(begin, begin + axis);
  expected.insert(expected.end(), index.begin() + batch, index.end());
  expected.insert(expected.end(), begin + axis + 1, from.end());
  for (std::int64_t d = 0; d < batch; ++d) {
    if (!agree(from[static_cast<std::size_t>(d)], index[static_cast<std::size_t>(d)]))
      return c.fail("the batch dimensions of both operands differ");
  }
  return c.result_dims(0, expected);
}

bool check_uniform(Check& c) {
  if (!c.operands(1) || !c.results(1)) return false;
  const bool to_quantised = c.op.kind() == ir::OpKind::kUniformQuantize;
  const ir::Type quantised = to_quantised ? c.result() : c.operand(0);
  if (quantised.element().kind() != ir::TypeKind::kQuant) {
    return c.fail(std::string(to_quantised ? "the result" : "the operand") + " is " +
                  quantised.to_string() + ", expected quantised elements");
  }
  if (!to_quantised && !c.not_quantised(c.result(), "the result")) return false;
  const DType found = expressed_dtype(to_quantised ? c.operand(0) : c.result());
  const DType expressed = expressed_dtype(quantised);
  if (found != expressed) {
    return c.fail(std::string(to_quantised ? "the operand" : "the result") + " is " +
                  (to_quantised ? c.operand(0) : c.result()).to_string() +
                  ", expected elements of " + std::string(to_string(expressed)) +
                  ", which the quantised ones express");
  }
  return c.result_dims(0, c.operand(0).dims());
}

}  // namespace millrace::devices::cpu::verify
