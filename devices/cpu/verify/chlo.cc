// CHLO: elementwise functions, their broadcasting forms, constants and top_k.
#include <algorithm>
#include <limits>

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
  Dims expected(c.operand(0).dims().begin(), c.operand(0).dims().end());
  if (row.operands == 2) {
    if (!c.same_element(c.operand(1), c.operand(0), "operand 1")) return false;
    if (!row.broadcasts && !c.same_dims(c.operand(1).dims(), expected, "operand 1")) return false;
    if (row.broadcasts && !broadcast_dims(c, c.operand(0).dims(), c.operand(1).dims(), &expected)) {
      return false;
    }
  }
  return check_result_element(c, row) && c.result_dims(0, expected);
}

bool check_top_k(Check& c) {
  if (!c.operands(1) || !c.results(2) ||
      !c.element_in(c.operand(0), kBool | kInteger | kFloat, "operand 0") ||
      !c.element_in(c.result(1), kInteger, "result 1") ||
      !c.same_element(c.result(0), c.operand(0), "result 0")) {
    return false;
  }
  Dims expected(c.operand(0).dims().begin(), c.operand(0).dims().end());
  if (expected.empty()) return c.fail("operand 0 is a scalar, expected at least one dimension");
  const std::int64_t extent =
      expected.back() == ir::kDynamic ? std::numeric_limits<std::int64_t>::max() : expected.back();
  std::int64_t k = 0;
  if (!c.integer("k", 0, extent, &k)) return false;
  expected.back() = k;
  return c.result_dims(0, expected) && c.result_dims(1, expected);
}

}  // namespace millrace::devices::cpu::verify
