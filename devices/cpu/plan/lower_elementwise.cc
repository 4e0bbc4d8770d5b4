#include "millrace/devices/cpu/plan/lower_elementwise.h"

#include <algorithm>
#include <string_view>

#include "millrace/devices/shape.h"

namespace millrace::devices::cpu::plan {
namespace {

TileOp comparison_op(const ir::Op& op) {
  const auto direction = op.enum_or("comparison_direction", ir::ComparisonDirection::kEq);
  const auto type = op.enum_or("compare_type", ir::ComparisonType::kNoType);
  const auto first =
      type == ir::ComparisonType::kTotalOrder && is_floating(op.operand(0)->type().dtype())
          ? TileOp::kTotalEq
          : TileOp::kEq;
  return static_cast<TileOp>(static_cast<int>(first) + static_cast<int>(direction));
}

}  // namespace

std::optional<ElementwiseOp> elementwise_op(const ir::Op& op) {
  using K = ir::OpKind;
  switch (op.kind()) {
    case K::kNegate:
      return ElementwiseOp{TileOp::kNegate};
    case K::kAbs:
      return ElementwiseOp{TileOp::kAbs};
    case K::kSign:
      return ElementwiseOp{TileOp::kSign};
    case K::kNot:
      return ElementwiseOp{TileOp::kNot};
    case K::kExponential:
      return ElementwiseOp{TileOp::kExp};
    case K::kExponentialMinusOne:
      return ElementwiseOp{TileOp::kExpm1};
    case K::kLog:
      return ElementwiseOp{TileOp::kLog};
    case K::kLogPlusOne:
      return ElementwiseOp{TileOp::kLog1p};
    case K::kSqrt:
      return ElementwiseOp{TileOp::kSqrt};
    case K::kRsqrt:
      return ElementwiseOp{TileOp::kRsqrt};
    case K::kCbrt:
      return ElementwiseOp{TileOp::kCbrt};
    case K::kTanh:
      return ElementwiseOp{TileOp::kTanh};
    case K::kLogistic:
      return ElementwiseOp{TileOp::kLogistic};
    case K::kSine:
      return ElementwiseOp{TileOp::kSin};
    case K::kCosine:
      return ElementwiseOp{TileOp::kCos};
    case K::kTan:
    case K::kChloTan:
      return ElementwiseOp{TileOp::kTan};
    case K::kFloor:
      return ElementwiseOp{TileOp::kFloor};
    case K::kCeil:
      return ElementwiseOp{TileOp::kCeil};
    case K::kRoundNearestAfz:
      return ElementwiseOp{TileOp::kRoundAfz};
    case K::kRoundNearestEven:
      return ElementwiseOp{TileOp::kRoundEven};
    case K::kPopcnt:
      return ElementwiseOp{TileOp::kPopcnt};
    case K::kCountLeadingZeros:
      return ElementwiseOp{TileOp::kClz};
    case K::kIsFinite:
      return ElementwiseOp{TileOp::kIsFinite};
    case K::kChloErf:
      return ElementwiseOp{TileOp::kErf};
    case K::kChloErfc:
      return ElementwiseOp{TileOp::kErfc};
    case K::kReducePrecision: {
      // No type has as many, and each has one byte.
      const auto bits = [&op](std::string_view name, std::int64_t otherwise, std::int64_t most) {
        return std::clamp<std::int64_t>(op.int_or(name, otherwise), 0, most);
      };
      return ElementwiseOp{TileOp::kReducePrecision,
                           static_cast<std::uint32_t>(bits("exponent_bits", 8, 16) << 8 |
                                                      bits("mantissa_bits", 23, 64))};
    }
    case K::kAdd:
      return ElementwiseOp{TileOp::kAdd};
    case K::kSubtract:
      return ElementwiseOp{TileOp::kSub};
    case K::kMultiply:
      return ElementwiseOp{TileOp::kMul};
    case K::kDivide:
      return ElementwiseOp{TileOp::kDiv};
    case K::kRemainder:
      return ElementwiseOp{TileOp::kRem};
    case K::kMaximum:
      return ElementwiseOp{TileOp::kMax};
    case K::kMinimum:
      return ElementwiseOp{TileOp::kMin};
    case K::kPower:
      return ElementwiseOp{TileOp::kPow};
    case K::kAtan2:
      return ElementwiseOp{TileOp::kAtan2};
    case K::kAnd:
      return ElementwiseOp{TileOp::kAnd};
    case K::kOr:
      return ElementwiseOp{TileOp::kOr};
    case K::kXor:
      return ElementwiseOp{TileOp::kXor};
    case K::kShiftLeft:
      return ElementwiseOp{TileOp::kShiftLeft};
    case K::kShiftRightLogical:
      return ElementwiseOp{TileOp::kShiftRightLogical};
    case K::kShiftRightArithmetic:
      return ElementwiseOp{TileOp::kShiftRightArithmetic};
    case K::kCompare:
      return ElementwiseOp{comparison_op(op)};
    case K::kSelect:
      return ElementwiseOp{TileOp::kSelect};
    case K::kClamp:
      return ElementwiseOp{TileOp::kClamp};
    case K::kConvert:
      return ElementwiseOp{TileOp::kConvert};
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::devices::cpu::plan
