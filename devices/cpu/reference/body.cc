#include "millrace/devices/cpu/reference/body.h"

#include <array>
#include <map>
#include <string>

namespace millrace::devices::cpu::reference {

namespace {
constexpr int kMaxDepth = 32;  // of calls inside a body
}

class BodyBuilder {
 public:
  explicit BodyBuilder(const ir::Module& module) : module_(module) {}

  Result<Body> build(const ir::Op& op, const ir::Block& block) {
    for (const ir::Value& argument : block.arguments()) {
      if (!is_scalar(argument.type())) return unsupported(op);
      values_[&argument] = add_slot({});
    }
    body_.arguments_ = block.argument_count();
    MILLRACE_TRY(body_.results_, add_block(block, 0));
    for (const ir::Value* v : block.terminator()->operands())
      body_.result_types_.push_back(v->type().dtype());
    return std::move(body_);
  }

 private:
  using K = ir::OpKind;

  static bool is_scalar(ir::Type type) {
    return type.is_tensor() && type.elements() == 1 && form_of(type.dtype()) != Form::kNone;
  }
  static std::unexpected<Error> unsupported(const ir::Op& op) {
    return fail(ErrorCode::kUnimplemented,
                op.where() + ": not supported by the CPU device inside a body");
  }

  int add_slot(const Scalar& value) {
    body_.initial_.push_back(value);
    return static_cast<int>(body_.initial_.size()) - 1;
  }

  Result<std::vector<int>> add_block(const ir::Block& block, int depth) {
    for (const ir::Op& op : block) {
      if (op.kind() == ir::OpKind::kReturn || op.kind() == ir::OpKind::kFuncReturn) {
        std::vector<int> results;
        for (const ir::Value* v : op.operands()) {
          MILLRACE_TRY(const int r, find(op, v));
          results.push_back(r);
        }
        return results;
      }
      MILLRACE_TRY_STATUS(add_op(op, depth));
    }
    return fail(ErrorCode::kInvalidArgument, "a body without a return");
  }

  Result<int> find(const ir::Op& op, const ir::Value* v) {
    const auto it = values_.find(v);
    if (it != values_.end()) return it->second;
    // A constant of the surrounding block.
    if (v->def() != nullptr && v->def()->kind() == ir::OpKind::kConstant) {
      MILLRACE_TRY_STATUS(add_op(*v->def(), 0));
      return values_.at(v);
    }
    return fail(
        ErrorCode::kUnimplemented,
        op.where() +
            ": a body that reads a value of its surroundings is not supported by the CPU device");
  }

  Status add_op(const ir::Op& op, int depth) {
    if (op.kind() == K::kCall || op.kind() == K::kComposite) return add_call(op, depth);
    if (op.kind() == K::kIf || op.kind() == K::kCase) return add_branches(op, depth);
    if (op.result_count() != 1 || !is_scalar(op.result()->type())) return unsupported(op);
    if (op.kind() == K::kConstant) {
      const auto* dense = op.attr<ir::DenseAttr>("value");
      if (dense == nullptr) return unsupported(op);
      values_[op.result()] = add_slot(load(dense->type.dtype(), dense->bytes.data()));
      return {};
    }
    if (op.kind() == K::kReshape || op.kind() == K::kBroadcastInDim || op.kind() == K::kTranspose ||
        op.kind() == K::kReverse) {
      MILLRACE_TRY(values_[op.result()], find(op, op.operand(0)));
      return {};
    }
    const auto scalar = find_scalar_op(op);
    if (!scalar || op.operand_count() > 3) return unsupported(op);
    Body::Instruction instruction{.op = *scalar};
    for (int i = 0; i < op.operand_count(); ++i) {
      MILLRACE_TRY(instruction.operands[i], find(op, op.operand(i)));
    }
    instruction.result = values_[op.result()] = add_slot({});
    body_.instructions_.push_back(instruction);
    return {};
  }

  // Scalars have no effects: all branches are computed and one is selected.
  Status add_branches(const ir::Op& op, int depth) {
    if (depth > kMaxDepth) return unsupported(op);
    for (const ir::Value& v : op.results()) {
      if (!is_scalar(v.type())) return unsupported(op);
    }
    MILLRACE_TRY(const int selector, find(op, op.operand(0)));
    // From the last branch, which is taken where no other is.
    std::vector<int> chosen;
    for (int b = static_cast<int>(op.regions().size()) - 1; b >= 0; --b) {
      MILLRACE_TRY(const std::vector<int> results, add_block(op.region(b).block(), depth + 1));
      if (chosen.empty()) {
        chosen = results;
        continue;
      }
      int take = selector;
      if (op.kind() == K::kCase) {
        const ScalarInfo compare{.in = DType::kI32, .out = DType::kI1};
        take = add_instruction({signed_function(K::kCompare), compare},
                               {selector, add_slot(from_signed(b)), selector});
      }
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const DType type = op.result(static_cast<int>(i))->type().dtype();
        chosen[i] = add_instruction({select_function(), {.in = type, .out = type}},
                                    {take, results[i], chosen[i]});
      }
    }
    for (int i = 0; i < op.result_count(); ++i)
      values_[op.result(i)] = chosen[static_cast<std::size_t>(i)];
    return {};
  }

  int add_instruction(const ScalarOp& op, const std::array<int, 3>& operands) {
    Body::Instruction instruction{.op = op};
    for (std::size_t i = 0; i < operands.size(); ++i) instruction.operands[i] = operands[i];
    instruction.result = add_slot({});
    body_.instructions_.push_back(instruction);
    return instruction.result;
  }

  Status add_call(const ir::Op& op, int depth) {
    const ir::Function* callee = module_.find(op.callee());
    if (callee == nullptr || callee->is_declaration() || depth > kMaxDepth) return unsupported(op);
    const ir::Block& block = callee->body().block();
    for (int i = 0; i < op.operand_count(); ++i) {
      MILLRACE_TRY(values_[block.argument(i)], find(op, op.operand(i)));
    }
    MILLRACE_TRY(const std::vector<int> results, add_block(block, depth + 1));
    for (int i = 0; i < op.result_count(); ++i)
      values_[op.result(i)] = results[static_cast<std::size_t>(i)];
    return {};
  }

  const ir::Module& module_;
  Body body_;
  std::map<const ir::Value*, int> values_;
};

Result<Body> Body::make(const ir::Module& module, const ir::Op& op, const ir::Block& block) {
  return BodyBuilder(module).build(op, block);
}

void Body::Frame::run() {
  for (const Instruction& one : body_.instructions_) {
    const Scalar operands[3] = {slots_[static_cast<std::size_t>(one.operands[0])],
                                slots_[static_cast<std::size_t>(one.operands[1])],
                                slots_[static_cast<std::size_t>(one.operands[2])]};
    slots_[static_cast<std::size_t>(one.result)] = one.op.apply(operands);
  }
}

}  // namespace millrace::devices::cpu::reference
