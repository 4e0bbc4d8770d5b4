// CHLO: top_k, ragged_dot and scan. Its elementwise functions are in elementwise.cc.
#include <limits>
#include <string>

#include "millrace/devices/stablehlo/ir/contraction_dims.h"
#include "millrace/devices/stablehlo/ir/scan.h"
#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {

bool check_top_k(Check& c) {
  if (!c.counts(1, 2) || !c.element_in(0, kBool | kInteger | kFloat) ||
      !c.same_element(c.result(0), c.operand(0), "result 0")) {
    return false;
  }
  if (c.result(1).dtype() != DType::kI32)
    return c.fail("result 1 is ", c.result(1), ", expected elements of i32");
  Dims expected = dims_of(c.operand(0));
  if (expected.empty()) return c.fail("operand 0 is a scalar, expected at least one dimension");
  const std::int64_t extent =
      expected.back() == ir::kDynamic ? std::numeric_limits<std::int64_t>::max() : expected.back();
  return c.integer("k", 0, extent, &expected.back()) && c.result_dims(0, expected) &&
         c.result_dims(1, expected);
}

bool check_ragged_dot(Check& c) {
  if (!c.counts(3, 1) || !c.element_in(c.operand(2), kInteger, "the group sizes") ||
      !c.not_quantised(0) || !c.not_quantised(1) || !c.not_quantised(c.result(), "the result")) {
    return false;
  }
  const ir::Type lhs = c.operand(0), rhs = c.operand(1);
  const auto d = ir::ragged_dot_of(c.op);
  if (!d || !d->fits(lhs.rank(), rhs.rank())) {
    return c.fail(
        "expected ragged_dot_dimension_numbers with one ragged dimension, and a group dimension "
        "where that is no contracting or batching one");
  }
  const Ints sizes = c.operand(2).dims();
  if (sizes.empty()) return c.fail("the group sizes are a scalar, expected at least one dimension");
  if (!c.agree_at(d->lhs_batch, d->rhs_batch, "batching") ||
      !c.agree_at(d->lhs_contract, d->rhs_contract, "contracting")) {
    return false;
  }
  const std::int64_t groups = sizes.back();
  if (sizes.size() > 1) {
    Dims expected;
    for (std::int64_t p : d->prefix(lhs.rank())) expected.push_back(lhs.dim(p));
    expected.push_back(groups);
    if (!c.same_dims(sizes, expected, "the group sizes")) return false;
  }
  Dims result, taken = d->rhs_batch;
  if (d->mode() == ir::RaggedMode::kContract) result.push_back(groups);
  if (d->mode() == ir::RaggedMode::kFree) {
    taken.push_back(d->rhs_group[0]);
    const std::int64_t found = rhs.dim(d->rhs_group[0]);
    if (!agree(found, groups))
      return c.fail("operand 1 has ", found, " groups, the group sizes ", groups);
  }
  for (std::int64_t b : d->lhs_batch) result.push_back(lhs.dim(b));
  append_others(result, lhs, d->lhs_batch, d->lhs_contract);
  append_others(result, rhs, taken, d->rhs_contract);
  return c.result_dims(0, result);
}

bool check_scan(Check& c) {
  if (!c.regions(1)) return false;
  const auto parts = ir::scan_parts_of(c.op);
  if (!parts) {
    return c.fail(
        "expected inputs and outputs of one extent in the dimension, and as many arguments of the "
        "body as operands, values as results, and carried results as initial values");
  }
  // The body has slices of the inputs and outputs, without the dimension, and whole carried values.
  const auto fits = [&](ir::Type whole, ir::Type found, bool sliced, const std::string& what) {
    if (!sliced) return c.same_shape_and_element(found, whole, what);
    Dims expected = dims_of(whole);
    expected.erase(expected.begin() + parts->dimension);
    if (!found.is_tensor()) return c.fail(what, " is no array");
    return c.same_element(found, whole, what) && c.same_dims(found.dims(), expected, what);
  };
  const ir::Block& body = c.op.region().block();
  const auto argument = [&](int i) {
    return fits(c.operand(i), body.argument(i)->type(), i < parts->inputs,
                ir::message("argument ", i, " of the body"));
  };
  const auto value = [&](int i) {
    const bool sliced = i < parts->outputs;
    return fits(c.result(i), body.terminator()->operand(i)->type(), sliced,
                ir::message("value ", i, " of the body")) &&
           (sliced ||
            c.same_shape_and_element(c.result(i), c.operand(i - parts->outputs + parts->inputs),
                                     result_name(i)));
  };
  return all(c.op.operand_count(), argument) && all(c.op.result_count(), value);
}

}  // namespace millrace::devices::stablehlo::verify
