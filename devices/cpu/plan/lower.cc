#include "millrace/devices/cpu/plan/lower.h"

#include <map>
#include <string>

#include "millrace/devices/cpu/kernels/element.h"
#include "millrace/devices/cpu/plan/lower_op.h"

namespace millrace::devices::cpu::plan {
namespace {

constexpr int kMaxDepth = 64;  // of calls: StableHLO has no recursion

class Lowering {
 public:
  Lowering(const ir::Module& module, Graph& graph) : module_(module), graph_(graph) {}

  Status lower_function(const ir::Function& function) {
    const ir::Block& body = function.body().block();
    const ir::Location at = function.location();
    const std::string where = std::to_string(at.line) + ":" + std::to_string(at.column) + ": @" +
                              std::string(function.name()) + ": argument ";
    for (const ir::Value& argument : body.arguments()) {
      MILLRACE_TRY(const Shape shape, shape_of(argument, where + std::to_string(argument.index())));
      values_[&argument] = graph_.add_value(shape);
      graph_.root.parameters.push_back(values_[&argument]);
    }
    return lower_block(body, graph_.root, 0);
  }

 private:
  static Result<Shape> shape_of(const ir::Value& value, const std::string& where) {
    const auto shape = value.type().is_tensor() ? value.type().shape() : std::nullopt;
    if (!shape || !is_real_element(shape->dtype())) {
      return fail(ErrorCode::kUnimplemented, where + ": the type " + value.type().to_string() +
                                                 " is not supported by the CPU device");
    }
    return *shape;
  }

  // The ops of `block` become nodes of `to`; the operands of its return become results.
  Status lower_block(const ir::Block& block, Block& to, int depth) {
    for (ir::Op& op : block) {
      if (op.kind() == ir::OpKind::kReturn || op.kind() == ir::OpKind::kFuncReturn) {
        for (ir::Value* v : op.operands()) to.results.push_back(values_.at(v));
        return {};
      }
      MILLRACE_TRY_STATUS(lower_op(op, to, depth));
    }
    return fail(ErrorCode::kInvalidArgument, "a block without a return");
  }

  Status lower_op(const ir::Op& op, Block& to, int depth) {
    using K = ir::OpKind;
    switch (op.kind()) {
      case K::kCall:
      case K::kComposite:
        return lower_call(op, to, depth);
      case K::kOptimizationBarrier:
        for (int i = 0; i < op.result_count(); ++i)
          values_[op.result(i)] = values_.at(op.operand(i));
        return {};
      case K::kWhile:
      case K::kIf:
      case K::kCase:
        return lower_control(op, to, depth);
      default:
        break;
    }
    OpLowering one{.module = module_, .graph = graph_, .op = op};
    for (ir::Value* v : op.operands()) one.inputs.push_back(values_.at(v));
    for (const ir::Value& v : op.results()) {
      MILLRACE_TRY(const Shape shape, shape_of(v, op.where()));
      one.shapes.push_back(shape);
    }
    MILLRACE_TRY(const std::vector<ValueId> results, one.run(to));
    for (int i = 0; i < op.result_count(); ++i)
      values_[op.result(i)] = results[static_cast<std::size_t>(i)];
    return {};
  }

  Status lower_call(const ir::Op& op, Block& to, int depth) {
    const std::string_view name =
        op.kind() == ir::OpKind::kComposite ? decomposition(op) : op.callee();
    const ir::Function* callee = module_.find(name);
    if (callee == nullptr || callee->is_declaration()) {
      return fail(ErrorCode::kInvalidArgument,
                  op.where() + ": no function @" + std::string(name) + " in the module");
    }
    if (depth >= kMaxDepth)
      return fail(ErrorCode::kInvalidArgument, op.where() + ": calls nested too deeply");
    const ir::Block& body = callee->body().block();
    for (int i = 0; i < op.operand_count(); ++i)
      values_[body.argument(i)] = values_.at(op.operand(i));
    Block inlined;
    MILLRACE_TRY_STATUS(lower_block(body, inlined, depth + 1));
    to.nodes.insert(to.nodes.end(), inlined.nodes.begin(), inlined.nodes.end());
    for (int i = 0; i < op.result_count(); ++i)
      values_[op.result(i)] = inlined.results[static_cast<std::size_t>(i)];
    return {};
  }

  static std::string_view decomposition(const ir::Op& op) {
    const auto* symbol = op.attr<ir::SymbolAttr>("decomposition");
    return symbol != nullptr && !symbol->path.empty() ? symbol->path.front() : op.callee();
  }

  // while: inputs are the carried values. if, case: input 0 is the selector; StableHLO's if has its
  // true branch first, so it becomes a case of the negated predicate.
  Status lower_control(const ir::Op& op, Block& to, int depth) {
    Node node{.kind = op.kind() == ir::OpKind::kWhile ? NodeKind::kWhile : NodeKind::kCase,
              .location = op.location(),
              .name = ir::to_string(op.kind())};
    for (ir::Value* v : op.operands()) node.inputs.push_back(values_.at(v));
    if (op.kind() == ir::OpKind::kIf) {
      node.inputs[0] =
          elementwise(to, op, TileOp::kConvert,
                      {elementwise(to, op, TileOp::kNot, {node.inputs[0]}, Shape(DType::kI1, {}))},
                      Shape(DType::kI32, {}));
    }
    for (ir::Region& region : op.regions()) {
      Block block;
      for (const ir::Value& argument : region.block().arguments()) {
        MILLRACE_TRY(const Shape shape, shape_of(argument, op.where()));
        values_[&argument] = graph_.add_value(shape);
        block.parameters.push_back(values_[&argument]);
      }
      MILLRACE_TRY_STATUS(lower_block(region.block(), block, depth));
      node.blocks.push_back(std::move(block));
    }
    std::vector<Shape> shapes;
    for (const ir::Value& v : op.results()) {
      MILLRACE_TRY(const Shape shape, shape_of(v, op.where()));
      shapes.push_back(shape);
    }
    const NodeId id = graph_.add_node(std::move(node), shapes);
    to.nodes.push_back(id);
    for (int i = 0; i < op.result_count(); ++i)
      values_[op.result(i)] = graph_.node(id).outputs[static_cast<std::size_t>(i)];
    return {};
  }

  ValueId elementwise(Block& to, const ir::Op& op, TileOp what, std::vector<ValueId> inputs,
                      const Shape& shape) {
    Node node{.kind = NodeKind::kElementwise,
              .location = op.location(),
              .name = ir::to_string(op.kind()),
              .inputs = std::move(inputs),
              .op = what};
    const NodeId id = graph_.add_node(std::move(node), {shape});
    to.nodes.push_back(id);
    return graph_.node(id).outputs[0];
  }

  const ir::Module& module_;
  Graph& graph_;
  std::map<const ir::Value*, ValueId> values_;
};

}  // namespace

Result<Graph> lower(const ir::Module& module, const ir::Function& function) {
  if (function.is_declaration()) {
    return fail(ErrorCode::kInvalidArgument,
                "the function @" + std::string(function.name()) + " has no body");
  }
  Graph graph;
  MILLRACE_TRY_STATUS(Lowering(module, graph).lower_function(function));
  return graph;
}

}  // namespace millrace::devices::cpu::plan
