// CHLO: elementwise functions, their broadcasting forms, constants and top_k.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "millrace/devices/cpu/ir/ragged_dot.h"
#include "millrace/devices/cpu/ir/scan.h"
#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

using ir::OpKind;

struct Row {
  OpKind kind;
  int operands;
  unsigned elements;
  bool predicate = false;   // the result is i1
  bool complex = false;     // the result is complex of the operands' elements
  bool broadcasts = false;  // trailing dimensions are matched, and those of size 1 repeated
};

constexpr unsigned kFloatOrComplex = kFloat | kComplex;
constexpr unsigned kBits = kBool | kInteger;

constexpr Row kRows[] = {
    {OpKind::kChloAsinAcosKernel, 1, kComplex},
    {OpKind::kChloAcos, 1, kFloatOrComplex},
    {OpKind::kChloAcosh, 1, kFloatOrComplex},
    {OpKind::kChloAsin, 1, kFloatOrComplex},
    {OpKind::kChloAsinh, 1, kFloatOrComplex},
    {OpKind::kChloAtan, 1, kFloatOrComplex},
    {OpKind::kChloAtanh, 1, kFloatOrComplex},
    {OpKind::kChloBesselI1e, 1, kFloat},
    {OpKind::kChloConj, 1, kNumber},
    {OpKind::kChloCosh, 1, kFloatOrComplex},
    {OpKind::kChloDigamma, 1, kFloat},
    {OpKind::kChloErf, 1, kFloat},
    {OpKind::kChloErfInv, 1, kFloat},
    {OpKind::kChloErfc, 1, kFloat},
    {OpKind::kChloIsInf, 1, kFloat, true},
    {OpKind::kChloIsNegInf, 1, kFloat, true},
    {OpKind::kChloIsPosInf, 1, kFloat, true},
    {OpKind::kChloLgamma, 1, kFloat},
    {OpKind::kChloSinh, 1, kFloatOrComplex},
    {OpKind::kChloSquare, 1, kNumber},
    {OpKind::kChloTan, 1, kFloatOrComplex},
    {OpKind::kChloConstantLike, 1, kAny},
    {OpKind::kChloMulhi, 2, kInteger},
    {OpKind::kChloNextAfter, 2, kFloat},
    {OpKind::kChloPolygamma, 2, kFloat},
    {OpKind::kChloZeta, 2, kFloat},
    {OpKind::kChloBroadcastAdd, 2, kAny, false, false, true},
    {OpKind::kChloBroadcastAnd, 2, kBits, false, false, true},
    {OpKind::kChloBroadcastAtan2, 2, kFloatOrComplex, false, false, true},
    {OpKind::kChloBroadcastCompare, 2, kAny, true, false, true},
    {OpKind::kChloBroadcastComplex, 2, kFloat, false, true, true},
    {OpKind::kChloBroadcastDivide, 2, kNumber, false, false, true},
    {OpKind::kChloBroadcastMaximum, 2, kAny, false, false, true},
    {OpKind::kChloBroadcastMinimum, 2, kAny, false, false, true},
    {OpKind::kChloBroadcastMultiply, 2, kAny, false, false, true},
    {OpKind::kChloBroadcastNextAfter, 2, kFloat, false, false, true},
    {OpKind::kChloBroadcastOr, 2, kBits, false, false, true},
    {OpKind::kChloBroadcastPolygamma, 2, kFloat, false, false, true},
    {OpKind::kChloBroadcastPower, 2, kNumber, false, false, true},
    {OpKind::kChloBroadcastRemainder, 2, kNumber, false, false, true},
    {OpKind::kChloBroadcastShiftLeft, 2, kInteger, false, false, true},
    {OpKind::kChloBroadcastShiftRightArithmetic, 2, kInteger, false, false, true},
    {OpKind::kChloBroadcastShiftRightLogical, 2, kInteger, false, false, true},
    {OpKind::kChloBroadcastSubtract, 2, kNumber, false, false, true},
    {OpKind::kChloBroadcastXor, 2, kBits, false, false, true},
    {OpKind::kChloBroadcastZeta, 2, kFloat, false, false, true},
};

const Row* row_of(OpKind kind) {
  const auto* row = std::ranges::find(kRows, kind, &Row::kind);
  return row == std::end(kRows) ? nullptr : row;
}

// Numpy's rule, aligned at the end.
bool broadcast_dims(Check& c, std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                    Dims* out) {
  const std::size_t rank = std::max(a.size(), b.size());
  out->assign(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != 1 && y != 1 && !agree(x, y)) {
      return c.fail("the operands have the shapes " + to_string(a) + " and " + to_string(b) +
                    ", expected ones that can be broadcast to each other");
    }
    (*out)[rank - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

bool check_result_element(Check& c, const Row& row) {
  if (!row.predicate && !row.complex) return c.same_element(c.result(), c.operand(0), "the result");
  const DType in = c.operand(0).dtype();
  const DType expected = row.predicate       ? DType::kI1
                         : in == DType::kF64 ? DType::kC128
                                             : DType::kC64;
  return c.result().dtype() == expected ||
         c.fail("the result has elements of " + std::string(to_string(c.result().dtype())) +
                ", expected " + std::string(to_string(expected)));
}

}  // namespace

bool is_chlo_elementwise(OpKind kind) { return row_of(kind) != nullptr; }

bool check_chlo_elementwise(Check& c) {
  const Row& row = *row_of(c.op.kind());
  if (!c.operands(row.operands) || !c.results(1) ||
      !c.element_in(c.operand(0), row.elements, "operand 0")) {
    return false;
  }
  if (row.complex && !c.not_quantised(c.operand(0), "operand 0")) return false;
  Dims expected(c.operand(0).dims().begin(), c.operand(0).dims().end());
  if (row.operands == 2) {
    if (!c.same_element(c.operand(1), c.operand(0), "operand 1")) return false;
    if (!row.broadcasts && !c.same_dims(c.operand(1).dims(), expected, "operand 1")) return false;
    if (row.broadcasts && !broadcast_dims(c, c.operand(0).dims(), c.operand(1).dims(), &expected)) {
      return false;
    }
  }
  if (row.kind == OpKind::kChloBroadcastCompare) {
    const auto* direction = c.op.attr<ir::EnumAttr>("comparison_direction");
    if (direction == nullptr || direction->enum_class != ir::EnumClass::kComparisonDirection)
      return c.fail("the attribute comparison_direction is missing or no direction");
  }
  return check_result_element(c, row) && c.result_dims(0, expected);
}

bool check_top_k(Check& c) {
  if (!c.operands(1) || !c.results(2) ||
      !c.element_in(c.operand(0), kBool | kInteger | kFloat, "operand 0") ||
      !c.same_element(c.result(0), c.operand(0), "result 0")) {
    return false;
  }
  if (c.result(1).dtype() != DType::kI32)
    return c.fail("result 1 is " + c.result(1).to_string() + ", expected elements of i32");
  Dims expected(c.operand(0).dims().begin(), c.operand(0).dims().end());
  if (expected.empty()) return c.fail("operand 0 is a scalar, expected at least one dimension");
  const std::int64_t extent =
      expected.back() == ir::kDynamic ? std::numeric_limits<std::int64_t>::max() : expected.back();
  std::int64_t k = 0;
  if (!c.integer("k", 0, extent, &k)) return false;
  expected.back() = k;
  return c.result_dims(0, expected) && c.result_dims(1, expected);
}

bool check_broadcast_select(Check& c) {
  if (!c.operands(3) || !c.results(1) || !c.element_in(c.operand(0), kBool, "the predicate") ||
      !c.same_element(c.operand(2), c.operand(1), "operand 2") ||
      !c.same_element(c.result(), c.operand(1), "the result")) {
    return false;
  }
  Dims values, all;
  return broadcast_dims(c, c.operand(1).dims(), c.operand(2).dims(), &values) &&
         broadcast_dims(c, c.operand(0).dims(), values, &all) && c.result_dims(0, all);
}

namespace {

// That the dimensions that both sides have in common agree.
bool same_extents(Check& c, const std::vector<std::int64_t>& lhs,
                  const std::vector<std::int64_t>& rhs, const char* what) {
  for (std::size_t i = 0; i < lhs.size(); ++i) {
    const std::int64_t x = c.operand(0).dims()[static_cast<std::size_t>(lhs[i])],
                       y = c.operand(1).dims()[static_cast<std::size_t>(rhs[i])];
    if (!agree(x, y)) {
      return c.fail(std::string(what) + " dimensions of " + std::to_string(x) + " and " +
                    std::to_string(y) + " elements, expected equal ones");
    }
  }
  return true;
}

}  // namespace

bool check_ragged_dot(Check& c) {
  if (!c.operands(3) || !c.results(1) || !c.element_in(c.operand(2), kInteger, "the group sizes"))
    return false;
  if (!c.not_quantised(c.operand(0), "operand 0") || !c.not_quantised(c.operand(1), "operand 1") ||
      !c.not_quantised(c.result(), "the result")) {
    return false;
  }
  const int lhs_rank = c.operand(0).rank(), rhs_rank = c.operand(1).rank();
  const auto d = ir::ragged_dot_of(c.op);
  if (!d || !d->fits(lhs_rank, rhs_rank)) {
    return c.fail(
        "expected ragged_dot_dimension_numbers with one ragged dimension, and a group dimension "
        "where that is no contracting or batching one");
  }
  const auto lhs = c.operand(0).dims(), rhs = c.operand(1).dims(), sizes = c.operand(2).dims();
  if (sizes.empty()) return c.fail("the group sizes are a scalar, expected at least one dimension");
  if (!same_extents(c, d->lhs_batch, d->rhs_batch, "batching") ||
      !same_extents(c, d->lhs_contract, d->rhs_contract, "contracting")) {
    return false;
  }
  const std::int64_t groups = sizes.back();
  if (sizes.size() > 1) {
    Dims expected;
    for (std::int64_t p : d->prefix(lhs_rank)) expected.push_back(lhs[static_cast<std::size_t>(p)]);
    expected.push_back(groups);
    if (!c.same_dims(sizes, expected, "the group sizes")) return false;
  }
  Dims result, taken = d->rhs_batch;
  if (d->mode() == ir::RaggedMode::kContract) result.push_back(groups);
  if (d->mode() == ir::RaggedMode::kFree) {
    taken.push_back(d->rhs_group[0]);
    if (!agree(rhs[static_cast<std::size_t>(d->rhs_group[0])], groups)) {
      return c.fail("operand 1 has " +
                    std::to_string(rhs[static_cast<std::size_t>(d->rhs_group[0])]) +
                    " groups, the group sizes " + std::to_string(groups));
    }
  }
  for (std::int64_t b : d->lhs_batch) result.push_back(lhs[static_cast<std::size_t>(b)]);
  for (std::int64_t f : ir::RaggedDot::others(lhs_rank, d->lhs_batch, d->lhs_contract))
    result.push_back(lhs[static_cast<std::size_t>(f)]);
  for (std::int64_t f : ir::RaggedDot::others(rhs_rank, taken, d->rhs_contract))
    result.push_back(rhs[static_cast<std::size_t>(f)]);
  return c.result_dims(0, result);
}

namespace {

// That `slice` is `whole` without the dimension.
bool is_slice(Check& c, ir::Type whole, ir::Type slice, std::int64_t dimension,
              const std::string& what) {
  Dims expected(whole.dims().begin(), whole.dims().end());
  expected.erase(expected.begin() + dimension);
  if (!slice.is_tensor()) return c.fail(what + " is no array");
  return c.same_element(slice, whole, what) && c.same_dims(slice.dims(), expected, what);
}

}  // namespace

bool check_scan(Check& c) {
  if (!c.regions(1)) return false;
  const auto parts = ir::scan_parts_of(c.op);
  if (!parts) {
    return c.fail(
        "expected inputs and outputs of one extent in the dimension, and as many arguments of the "
        "body as operands, values as results, and carried results as initial values");
  }
  const ir::Block& body = c.op.region().block();
  const ir::Op& end = *body.terminator();
  for (int i = 0; i < c.op.operand_count(); ++i) {
    const ir::Type found = body.argument(i)->type();
    const std::string what = "argument " + std::to_string(i) + " of the body";
    if (i < parts->inputs ? !is_slice(c, c.operand(i), found, parts->dimension, what)
                          : !c.same_shape_and_element(found, c.operand(i), what)) {
      return false;
    }
  }
  for (int i = 0; i < c.op.result_count(); ++i) {
    const ir::Type found = end.operand(i)->type();
    const std::string what = "value " + std::to_string(i) + " of the body";
    if (i < parts->outputs ? !is_slice(c, c.result(i), found, parts->dimension, what)
                           : !c.same_shape_and_element(found, c.result(i), what)) {
      return false;
    }
    // What is carried keeps its type.
    if (i >= parts->outputs &&
        !c.same_shape_and_element(c.result(i), c.operand(i - parts->outputs + parts->inputs),
                                  "result " + std::to_string(i))) {
      return false;
    }
  }
  return true;
}

}  // namespace millrace::devices::cpu::verify
