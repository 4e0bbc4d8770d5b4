// Operations that work element by element: one row each.
#include <array>
#include <limits>

#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

using ir::OpKind;

// What the result is, given that all operands have one type T.
enum class Outcome {
  kSame,       // T
  kPredicate,  // i1 of T's shape
  kPart,       // complex: its part; others: T
  kShape,      // T's shape, any elements
  kComplex,    // complex of T
};

struct Row {
  OpKind kind;
  int operands;
  unsigned elements;
  Outcome outcome;
};

constexpr unsigned kFloatOrComplex = kFloat | kComplex;
constexpr unsigned kBits = kBool | kInteger;

constexpr Row kRows[] = {
    {OpKind::kAbs, 1, kSigned | kFloat | kComplex, Outcome::kPart},
    {OpKind::kCbrt, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kCeil, 1, kFloat, Outcome::kSame},
    {OpKind::kConvert, 1, kAny, Outcome::kShape},
    {OpKind::kCosine, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kCountLeadingZeros, 1, kInteger, Outcome::kSame},
    {OpKind::kExponential, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kExponentialMinusOne, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kFloor, 1, kFloat, Outcome::kSame},
    {OpKind::kImag, 1, kFloatOrComplex, Outcome::kPart},
    {OpKind::kIsFinite, 1, kFloat, Outcome::kPredicate},
    {OpKind::kLog, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kLogPlusOne, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kLogistic, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kNegate, 1, kNumber, Outcome::kSame},
    {OpKind::kNot, 1, kBits, Outcome::kSame},
    {OpKind::kPopcnt, 1, kInteger, Outcome::kSame},
    {OpKind::kReal, 1, kFloatOrComplex, Outcome::kPart},
    {OpKind::kReducePrecision, 1, kFloat, Outcome::kSame},
    {OpKind::kRoundNearestAfz, 1, kFloat, Outcome::kSame},
    {OpKind::kRoundNearestEven, 1, kFloat, Outcome::kSame},
    {OpKind::kRsqrt, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kSign, 1, kSigned | kFloat | kComplex, Outcome::kSame},
    {OpKind::kSine, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kSqrt, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kTan, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kTanh, 1, kFloatOrComplex, Outcome::kSame},
    {OpKind::kAdd, 2, kAny, Outcome::kSame},
    {OpKind::kAnd, 2, kBits, Outcome::kSame},
    {OpKind::kAtan2, 2, kFloatOrComplex, Outcome::kSame},
    {OpKind::kCompare, 2, kAny, Outcome::kPredicate},
    {OpKind::kComplex, 2, kFloat, Outcome::kComplex},
    {OpKind::kDivide, 2, kNumber, Outcome::kSame},
    {OpKind::kMaximum, 2, kAny, Outcome::kSame},
    {OpKind::kMinimum, 2, kAny, Outcome::kSame},
    {OpKind::kMultiply, 2, kAny, Outcome::kSame},
    {OpKind::kOr, 2, kBits, Outcome::kSame},
    {OpKind::kPower, 2, kNumber, Outcome::kSame},
    {OpKind::kRemainder, 2, kNumber, Outcome::kSame},
    {OpKind::kShiftLeft, 2, kInteger, Outcome::kSame},
    {OpKind::kShiftRightArithmetic, 2, kInteger, Outcome::kSame},
    {OpKind::kShiftRightLogical, 2, kInteger, Outcome::kSame},
    {OpKind::kSubtract, 2, kNumber, Outcome::kSame},
    {OpKind::kXor, 2, kBits, Outcome::kSame},
};

const Row* row_of(OpKind kind) {
  static const auto table = [] {
    std::array<const Row*, ir::kOpKinds> t{};
    for (const Row& row : kRows) t[static_cast<std::size_t>(row.kind)] = &row;
    return t;
  }();
  return table[static_cast<std::size_t>(kind)];
}

DType part_of(DType type) {
  if (type == DType::kC64) return DType::kF32;
  return type == DType::kC128 ? DType::kF64 : type;
}

// What the result is computed as; of quantised operands it may be quantised otherwise.
bool result_element(Check& c, DType expected) {
  const DType found = expressed_dtype(c.result());
  return found == expected ||
         c.fail("the result has elements of " + c.result().element().to_string() + ", expected " +
                std::string(to_string(expected)));
}

bool check_outcome(Check& c, Outcome outcome) {
  const ir::Type type = c.operand(0);
  const DType element = expressed_dtype(type);
  const bool quantised = type.element().quant() != nullptr;
  if (!c.result_dims(0, type.dims(), "the result")) return false;
  switch (outcome) {
    case Outcome::kSame:
      return quantised ? result_element(c, element)
                       : c.same_element(c.result(), type, "the result");
    case Outcome::kPredicate:
      return result_element(c, DType::kI1);
    case Outcome::kPart:
      return (quantised || c.not_quantised(c.result(), "the result")) &&
             result_element(c, part_of(element));
    case Outcome::kShape:
      return c.element_in(c.result(), kAny, "the result");
    case Outcome::kComplex:
      if (element != DType::kF32 && element != DType::kF64) {
        return c.fail("operand 0 is " + type.to_string() + ", expected elements of f32 or f64");
      }
      return result_element(c, element == DType::kF32 ? DType::kC64 : DType::kC128);
  }
  return true;
}

// Ops that have no meaning on quantised elements.
bool check_plain(Check& c) {
  using K = OpKind;
  const OpKind kind = c.op.kind();
  if (kind != K::kConvert && kind != K::kComplex && kind != K::kReal && kind != K::kImag)
    return true;
  return c.not_quantised(c.operand(0), "operand 0") && c.not_quantised(c.result(), "the result");
}

bool check_precision(Check& c) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t bits = 0;
  return c.op.kind() != OpKind::kReducePrecision || (c.integer("exponent_bits", 1, kMost, &bits) &&
                                                     c.integer("mantissa_bits", 0, kMost, &bits));
}

bool check_comparison(Check& c) {
  if (c.op.kind() != OpKind::kCompare) return true;
  const auto* direction = c.op.attr<ir::EnumAttr>("comparison_direction");
  if (direction == nullptr || direction->enum_class != ir::EnumClass::kComparisonDirection) {
    return c.fail("the attribute comparison_direction is missing or no direction");
  }
  const auto type = c.op.enum_or("compare_type", ir::ComparisonType::kNoType);
  const unsigned element = element_class(c.operand(0).dtype());
  const bool floating = (element & (kFloat | kComplex)) != 0;
  const bool fits = type == ir::ComparisonType::kNoType || element == 0 ||
                    (type == ir::ComparisonType::kFloat && floating) ||
                    (type == ir::ComparisonType::kTotalOrder && element == kFloat) ||
                    (type == ir::ComparisonType::kSigned && element == kSigned) ||
                    (type == ir::ComparisonType::kUnsigned && (element & (kUnsigned | kBool)) != 0);
  return fits || c.fail("a comparison of type " +
                        std::string(ir::enum_value_name(ir::EnumClass::kComparisonType,
                                                        static_cast<int>(type))) +
                        " does not go with " + c.operand(0).to_string());
}

// min and max are scalars or have the operand's shape.
bool check_clamp(Check& c) {
  const ir::Type type = c.operand(1);
  for (int side : {0, 2}) {
    const std::string what = "operand " + std::to_string(side);
    if (!c.same_element(c.operand(side), type, what)) return false;
    if (c.operand(side).rank() != 0 && !c.same_dims(c.operand(side).dims(), type.dims(), what))
      return false;
  }
  return c.element_in(type, kAny, "operand 1") && c.result_like(0, type, "the result");
}

bool check_select(Check& c) {
  const ir::Type type = c.operand(1);
  if (!c.element_in(c.operand(0), kBool, "operand 0") ||
      !c.same_shape_and_element(c.operand(2), type, "operand 2"))
    return false;
  if (c.operand(0).rank() != 0 && !c.same_dims(c.operand(0).dims(), type.dims(), "operand 0"))
    return false;
  return c.result_like(0, type, "the result");
}

}  // namespace

bool is_elementwise(OpKind kind) {
  return kind == OpKind::kClamp || kind == OpKind::kSelect || row_of(kind) != nullptr;
}

bool check_elementwise(Check& c) {
  if (!c.results(1)) return false;
  const bool ternary = c.op.kind() == OpKind::kClamp || c.op.kind() == OpKind::kSelect;
  const Row* row = row_of(c.op.kind());
  if (!c.operands(ternary ? 3 : row->operands)) return false;
  if (ternary) return c.op.kind() == OpKind::kClamp ? check_clamp(c) : check_select(c);
  if (!c.element_in(c.operand(0), row->elements, "operand 0")) return false;
  for (int i = 1; i < row->operands; ++i) {
    const std::string what = "operand " + std::to_string(i);
    const bool quantised = c.operand(0).element().quant() != nullptr;
    if (!quantised && !c.same_element(c.operand(i), c.operand(0), what)) return false;
    if (expressed_dtype(c.operand(i)) != expressed_dtype(c.operand(0))) {
      return c.fail(what + " is " + c.operand(i).to_string() + ", expected elements that express " +
                    std::string(to_string(expressed_dtype(c.operand(0)))));
    }
    if (!c.same_dims(c.operand(i).dims(), c.operand(0).dims(), what)) return false;
  }
  return check_plain(c) && check_precision(c) && check_comparison(c) &&
         check_outcome(c, row->outcome);
}

}  // namespace millrace::devices::cpu::verify
