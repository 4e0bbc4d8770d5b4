// Operations that work element by element, of StableHLO and CHLO, whose broadcasting forms first
// bring their operands to one shape.
#include <limits>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
namespace {

using ir::OpKind;

// Numpy's rule, aligned at the end.
bool broadcast_dims(Check& c, Ints a, Ints b, Dims* out) {
  const std::size_t rank = std::max(a.size(), b.size());
  out->assign(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != 1 && y != 1 && !agree(x, y)) {
      return c.fail("the operands have the shapes ", a, " and ", b,
                    ", expected ones that can be broadcast to each other");
    }
    (*out)[rank - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

// What the result is computed as; of quantised operands it may be quantised otherwise.
bool result_element(Check& c, DType expected) {
  return expressed_dtype(c.result()) == expected ||
         c.fail("the result has elements of ", c.result().element(), ", expected ", expected);
}

bool check_outcome(Check& c, Outcome outcome, bool quantised) {
  const ir::Type type = c.operand(0);
  const DType element = expressed_dtype(type);
  switch (outcome) {
    case Outcome::kSame:
      return quantised ? result_element(c, element) : c.keeps_element();
    case Outcome::kPredicate:
      return result_element(c, DType::kI1);
    case Outcome::kPart:
      return (quantised || c.not_quantised(c.result(), "the result")) &&
             result_element(c, part_of(element));
    case Outcome::kShape:
      return c.element_in(c.result(), kAny, "the result");
    case Outcome::kComplex:
      if (element != DType::kF32 && element != DType::kF64)
        return c.fail("operand 0 is ", type, ", expected elements of f32 or f64");
      return result_element(c, element == DType::kF32 ? DType::kC64 : DType::kC128);
  }
  return true;
}

// Ops that have no meaning on quantised elements.
bool check_plain(Check& c, OpKind kind) {
  using K = OpKind;
  if (kind != K::kConvert && kind != K::kComplex && kind != K::kReal && kind != K::kImag)
    return true;
  return c.not_quantised(0) && c.not_quantised(c.result(), "the result");
}

bool check_precision(Check& c) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t bits = 0;
  return c.integer("exponent_bits", 1, kMost, &bits) && c.integer("mantissa_bits", 0, kMost, &bits);
}

bool check_comparison(Check& c) {
  if (!c.enumerated("comparison_direction", ir::EnumClass::kComparisonDirection, "direction"))
    return false;
  const auto type = c.op.enum_or("compare_type", ir::ComparisonType::kNoType);
  const unsigned element = element_class(c.operand(0).dtype());
  const bool floating = (element & (kFloat | kComplex)) != 0;
  const bool fits = type == ir::ComparisonType::kNoType || element == 0 ||
                    (type == ir::ComparisonType::kFloat && floating) ||
                    (type == ir::ComparisonType::kTotalOrder && element == kFloat) ||
                    (type == ir::ComparisonType::kSigned && element == kSigned) ||
                    (type == ir::ComparisonType::kUnsigned && (element & (kUnsigned | kBool)) != 0);
  return fits || c.fail("a comparison of type ",
                        ir::enum_value_name(ir::EnumClass::kComparisonType, static_cast<int>(type)),
                        " does not go with ", c.operand(0));
}

// A scalar, or of the shape of operand 1.
bool scalar_or_whole(Check& c, int i) {
  return c.operand(i).rank() == 0 || c.same_dims(i, c.operand(1).dims());
}

bool check_clamp(Check& c) {
  const ir::Type type = c.operand(1);
  return c.same_element(0, type) && scalar_or_whole(c, 0) && c.same_element(2, type) &&
         scalar_or_whole(c, 2) && c.element_in(1, kAny) && c.result_like(0, type);
}

bool check_select(Check& c) {
  const ir::Type type = c.operand(1);
  return c.element_in(0, kBool) && c.same_shape_and_element(c.operand(2), type, "operand 2") &&
         scalar_or_whole(c, 0) && c.result_like(0, type);
}

}  // namespace

bool check_elementwise(Check& c) {
  const OpKind kind = ir::without_broadcast(c.op.kind());
  const Elements& row = elements_of(kind);
  if (!c.counts(row.operands, 1)) return false;
  if (kind == OpKind::kClamp) return check_clamp(c);
  if (kind == OpKind::kSelect) return check_select(c);
  if (!c.element_in(0, row.classes)) return false;
  const bool broadcasts = kind != c.op.kind();
  // CHLO's operations know nothing of scales: their operands and results are of one type.
  const bool quantised =
      c.operand(0).element().quant() != nullptr && c.op.name().starts_with("stablehlo.");
  Dims dims = dims_of(c.operand(0));
  for (int i = 1; i < row.operands; ++i) {
    if (!quantised && !c.same_element(i, c.operand(0))) return false;
    if (expressed_dtype(c.operand(i)) != expressed_dtype(c.operand(0))) {
      return c.fail("operand ", i, " is ", c.operand(i), ", expected elements that express ",
                    expressed_dtype(c.operand(0)));
    }
    if (broadcasts ? !broadcast_dims(c, c.operand(0).dims(), c.operand(i).dims(), &dims)
                   : !c.same_dims(i, dims)) {
      return false;
    }
  }
  if (kind == OpKind::kCompare && !check_comparison(c)) return false;
  if (kind == OpKind::kReducePrecision && !check_precision(c)) return false;
  return check_plain(c, kind) && c.result_dims(0, dims) && check_outcome(c, row.outcome, quantised);
}

bool check_broadcast_select(Check& c) {
  Dims values, all;
  return c.counts(3, 1) && c.element_in(c.operand(0), kBool, "the predicate") &&
         c.same_element(2, c.operand(1)) &&
         c.same_element(c.result(), c.operand(1), "the result") &&
         broadcast_dims(c, c.operand(1).dims(), c.operand(2).dims(), &values) &&
         broadcast_dims(c, c.operand(0).dims(), values, &all) && c.result_dims(0, all);
}

}  // namespace millrace::devices::stablehlo::verify
