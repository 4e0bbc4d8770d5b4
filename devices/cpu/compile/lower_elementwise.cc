#include "millrace/devices/cpu/compile/lower_elementwise.h"

#include <algorithm>
#include <string_view>

#include "millrace/devices/shape.h"

namespace millrace::devices::cpu::compiler {
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
  ElementwiseOp made{TileOp::kCopy};
  switch (op.kind()) {
#define MILLRACE_OP_LOOP(kind, name, operands) \
  case K::kind:                                \
    made.op = TileOp::kind;                    \
    break;
#include "millrace/devices/stablehlo/ir/ops.inc"
    case K::kChloTan:
      made.op = TileOp::kTan;
      break;
    case K::kCompare:
      made.op = comparison_op(op);
      break;
    default:
      return std::nullopt;
  }
  if (made.op == TileOp::kReducePrecision) {
    // No type has as many, and each has one byte.
    const auto bits = [&op](std::string_view name, std::int64_t otherwise, std::int64_t most) {
      return std::clamp<std::int64_t>(op.int_or(name, otherwise), 0, most);
    };
    made.param = static_cast<std::uint32_t>(bits("exponent_bits", 8, 16) << 8 |
                                            bits("mantissa_bits", 23, 64));
  }
  return made;
}

}  // namespace millrace::devices::cpu::compiler
