#include "millrace/devices/cpu/compile/lower_op.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu::compiler {
namespace {

bool can_reduce(TileOp op) {
  using enum TileOp;
  return op == kAdd || op == kMultiply || op == kMaximum || op == kMinimum || op == kAnd ||
         op == kOr;
}

TileOp comparison_op(const ir::Op& op) {
  const auto direction = op.enum_or("comparison_direction", ir::ComparisonDirection::kEq);
  const auto type = op.enum_or("compare_type", ir::ComparisonType::kNoType);
  const auto first =
      type == ir::ComparisonType::kTotalOrder && is_floating(op.operand(0)->type().dtype())
          ? TileOp::kTotalEq
          : TileOp::kEq;
  return static_cast<TileOp>(static_cast<int>(first) + static_cast<int>(direction));
}

// Far beyond what a body that fits can have: a few lines can call each other to more than any
// memory holds.
constexpr int kMostOps = 1 << 16;

class RegionLowering {
 public:
  explicit RegionLowering(const ir::Module& module) : module_(module) {}

  Result<std::shared_ptr<const Region>> lower(const ir::Op& op, const ir::Block& block) {
    for (const ir::Value& argument : block.arguments()) {
      values_[&argument] = region_->program.add_input(argument.type().dtype());
    }
    MILLRACE_TRY(const std::vector<int> results, lower_block(block, 0));
    for (int v : results) region_->program.add_output(v);
    if (!region_->program.finish() || !region_->fits()) {
      return fail(ErrorCode::kUnimplemented,
                  op.where() + ": its body is too large for the CPU device");
    }
    recognise(results);
    return std::shared_ptr<const Region>(std::move(region_));
  }

 private:
  // Adds the block's ops; gives the values that it returns.
  Result<std::vector<int>> lower_block(const ir::Block& block, int depth) {
    for (ir::Op& op : block) {
      using K = ir::OpKind;
      if (op.kind() == K::kReturn || op.kind() == K::kFuncReturn) {
        std::vector<int> results;
        for (ir::Value* v : op.operands()) {
          MILLRACE_TRY(const int r, find(op, v));
          results.push_back(r);
        }
        return results;
      }
      MILLRACE_TRY_STATUS(lower_op(op, depth));
    }
    return fail(ErrorCode::kInvalidArgument, "a body without a return");
  }

  Result<int> find(const ir::Op& op, const ir::Value* v) {
    const auto it = values_.find(v);
    if (it != values_.end()) return it->second;
    // A constant of the surrounding block.
    if (v->def() != nullptr && v->def()->kind() == ir::OpKind::kConstant) {
      MILLRACE_TRY_STATUS(lower_op(*v->def(), 0));
      return values_.at(v);
    }
    // kernels/body.h captures it.
    return fail(ErrorCode::kUnimplemented, op.where() + ": reads a value of its surroundings");
  }

  Status lower_op(const ir::Op& op, int depth) {
    using K = ir::OpKind;
    if (++ops_ > kMostOps) return unsupported(op);
    if (op.result_count() > 0 && op.kind() != K::kCall &&
        (!op.result(0)->type().is_tensor() || op.result(0)->type().elements() != 1)) {
      return unsupported(op);
    }
    if (op.kind() == K::kConstant) {
      const auto* dense = op.attr<ir::DenseAttr>("value");
      if (dense == nullptr || !is_real_element(dense->type.dtype())) return unsupported(op);
      values_[op.result()] =
          region_->program.add_constant(dense->type.dtype(), dense->bytes.data());
      return {};
    }
    if (op.kind() == K::kReshape || op.kind() == K::kBroadcastInDim) {
      MILLRACE_TRY(values_[op.result()], find(op, op.operand(0)));
      return {};
    }
    if (op.kind() == K::kCall || op.kind() == K::kComposite) return lower_call(op, depth);
    const auto what = elementwise_op(op);
    if (!what) return unsupported(op);
    std::vector<int> inputs;
    for (ir::Value* v : op.operands()) {
      MILLRACE_TRY(const int i, find(op, v));
      inputs.push_back(i);
    }
    const int result =
        region_->program.add(what->op, inputs, op.result()->type().dtype(), what->param);
    if (result < 0) return unsupported(op);
    values_[op.result()] = result;
    last_ = *what;
    last_inputs_ = inputs;
    return {};
  }

  Status lower_call(const ir::Op& op, int depth) {
    const ir::Function* callee = module_.find(op.callee());
    if (callee == nullptr || callee->is_declaration() || depth > 32) return unsupported(op);
    const ir::Block& body = callee->body().block();
    for (int i = 0; i < op.operand_count(); ++i) {
      MILLRACE_TRY(values_[body.argument(i)], find(op, op.operand(i)));
    }
    MILLRACE_TRY(const std::vector<int> results, lower_block(body, depth + 1));
    for (int i = 0; i < op.result_count(); ++i)
      values_[op.result(i)] = results[static_cast<std::size_t>(i)];
    return {};
  }

  void recognise(const std::vector<int>& results) {
    recognise_keys(results);
    if (region_->program.instructions() != 1 || results.size() != 1) return;
    const auto inputs = region_->program.inputs();
    if (region_->program.producer(results[0]) != 0 || last_inputs_.size() != 2 || inputs.size() < 2)
      return;
    const bool in_order = last_inputs_[0] == inputs[0] && last_inputs_[1] == inputs[1];
    const bool swapped = last_inputs_[0] == inputs[1] && last_inputs_[1] == inputs[0];
    if (inputs.size() == 2 && (in_order || swapped) && can_reduce(last_.op))
      region_->kind = last_.op;
    if (in_order && is_comparison(last_.op)) region_->comparison = last_.op;
  }

  void recognise_keys(const std::vector<int>& results) {
    using enum TileOp;
    const TileProgram& program = region_->program;
    if (results.size() != 1 || program.instructions() == 0 || last_inputs_.size() != 2 ||
        program.producer(results[0]) != program.instructions() - 1)
      return;
    const bool less = last_.op == kLt || last_.op == kTotalLt;
    if (!less && last_.op != kGt && last_.op != kTotalGt) return;
    const auto inputs = program.inputs();
    for (std::size_t i = 0; i + 1 < inputs.size(); i += 2) {
      const auto key = program.slice(last_inputs_[0], inputs[i]);
      if (!key || key != program.slice(last_inputs_[1], inputs[i + 1])) continue;
      if (!RegionFrame::fits(*key)) return;
      region_->keys = SortKeys{.key = *key,
                               .operand = static_cast<int>(i / 2),
                               .descending = !less,
                               .total_order = last_.op == kTotalLt || last_.op == kTotalGt};
      return;
    }
  }

  static std::unexpected<Error> unsupported(const ir::Op& op) {
    return fail(ErrorCode::kUnimplemented,
                op.where() + ": not supported by the CPU device inside a body");
  }

  const ir::Module& module_;
  int ops_ = 0;
  std::shared_ptr<Region> region_ = std::make_shared<Region>();
  std::map<const ir::Value*, int> values_;
  ElementwiseOp last_{TileOp::kCopy};
  std::vector<int> last_inputs_;
};

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

Result<std::shared_ptr<const Region>> lower_region(const ir::Module& module, const ir::Op& op,
                                                   int region_index) {
  const ir::Block& block = op.region(region_index).block();
  for (const ir::Value& argument : block.arguments()) {
    if (!argument.type().is_tensor() || !is_real_element(argument.type().dtype())) {
      return fail(ErrorCode::kUnimplemented, op.where() + ": a body on " +
                                                 argument.type().to_string() +
                                                 " is not supported by the CPU device");
    }
  }
  return RegionLowering(module).lower(op, block);
}

}  // namespace millrace::devices::cpu::compiler
