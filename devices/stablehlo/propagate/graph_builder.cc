// Makes the graph of a program. Operations are walked in program order, functions where they are
// called.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/propagate/graph_parts.h"
#include "millrace/devices/stablehlo/propagate/op_rules.h"
#include "millrace/devices/stablehlo/sharding/manual.h"

namespace millrace::devices::stablehlo::propagate {

using ir::Op;
using ir::OpKind;
using ir::Value;
using sharding::Sharding;

// Programs whose calls and copies stand for more operations than this are not followed further.
constexpr int kMaxOps = 1 << 20;
constexpr int kMaxCalls = 100;  // inside each other

// Walks a program from its main function on. Thread-safety: confined.
class GraphBuilder : private GraphParts {
 public:
  GraphBuilder(const ir::Module& module, sharding::Meshes meshes)
      : GraphParts(std::move(meshes)), module_(module) {}

  Result<Graph> build(const ir::Function& main) {
    for (const ir::Function& f : module_.functions())
      MILLRACE_TRY_STATUS(find_constraints(f.body()));
    Scope scope;
    std::vector<int> arguments, results;
    const ir::Block& block = main.body().block();
    for (int i = 0; i < block.argument_count(); ++i) {
      const int tensor = make_tensor(block.argument(i)->type());
      MILLRACE_TRY_STATUS(give(tensor, main.arg_attribute(i, "sdy.sharding"), argument_name(i)));
      arguments.push_back(tensor);
      scope.values[block.argument(i)] = make_instance(tensor);
      apply_constraint(scope, block.argument(i));
    }
    MILLRACE_TRY(auto returned, walk(scope, block));
    for (int i = 0; i < static_cast<int>(main.results().size()); ++i) {
      const int tensor = make_tensor(main.results()[static_cast<std::size_t>(i)]);
      MILLRACE_TRY_STATUS(give(tensor, ir::find(main.result_attributes(i), "sdy.sharding"),
                               "result " + std::to_string(i) + " of @main"));
      results.push_back(tensor);
    }
    if (returned.size() != results.size())
      return fail(ErrorCode::kInvalidArgument,
                  "@main returns another number of values than it has");
    finish();
    graph().set_ends(std::move(arguments), std::move(returned), std::move(results));
    return std::move(graph());
  }

 private:
  // The values of one call of a function.
  struct Scope {
    std::unordered_map<const Value*, int> values;  // instances
    std::unordered_set<const Op*> copied;          // constants, made anew for each use
    std::unordered_set<const Op*> constants;
    std::unordered_set<const Op*> made;  // constraints that stand where their operand is defined
    int depth = 0;
  };
  static std::string argument_name(int i) { return "argument " + std::to_string(i) + " of @main"; }

  static std::size_t count(int n) { return static_cast<std::size_t>(n); }

  // Defines a value that an edge gives. Where a constraint says how it lies, its uses see what the
  // constraint gives, so that the edge itself stays free.
  void define_edge(Scope& scope, const Value* value, int t) {
    root(t).edge = true;
    define_constrained(scope, value, t);
  }
  void define_constrained(Scope& scope, const Value* value, int t) {
    int number = make_instance(t);
    const Constraint* wanted = agreed(value);
    if (wanted != nullptr && is_cut(value->type()) && !graph().sharding_of(t)) {
      const int constrained = make_tensor(value->type());
      tensor(constrained).sharding = wanted->sharding;
      add_node(NodeKind::kElementwise, identity_rule(value->type(), 1, 1), {t}, {constrained});
      note_use(number, value->type());
      ++instance(number).uses;
      number = make_instance(constrained);
      if (wanted->op->name() == "sdy.sharding_constraint") scope.made.insert(wanted->op);
    }
    scope.values[value] = number;
  }

  bool is_constant_kind(const Op& op) const {
    if (!op.regions().empty()) return false;
    switch (op.kind()) {
      case OpKind::kBroadcastInDim:
      case OpKind::kReshape:
      case OpKind::kSlice:
        return true;
      default:
        return is_elementwise(op) && op.kind() != OpKind::kOther;
    }
  }

  // Constants and what is made of them alone.
  bool is_constant(const Scope& scope, const Op& op) const {
    if (op.kind() == OpKind::kConstant || op.kind() == OpKind::kIota) return true;
    return is_constant_kind(op) && op.operand_count() > 0 &&
           std::ranges::all_of(op.operands(), [&](const Value* v) {
             return v->def() != nullptr && scope.constants.contains(v->def());
           });
  }

  // The instance that a use of a value sees.
  Result<int> use(Scope& scope, const Value* value) {
    if (value->def() != nullptr && scope.copied.contains(value->def()) &&
        value->type().rank() != 0 && ops_ < kMaxOps) {
      std::unordered_map<const Value*, int> copies;
      MILLRACE_TRY(const int made, copy(scope, value, copies));
      ++instance(made).uses;
      return made;
    }
    auto known = scope.values.find(value);
    if (known == scope.values.end() && value->def() != nullptr) {
      // A scalar constant, or one that is not copied any more.
      MILLRACE_TRY_STATUS(add_op(scope, *value->def(), scope.values));
      known = scope.values.find(value);
    }
    if (known == scope.values.end())
      return fail(ErrorCode::kInternal, "a value that is used before it is defined");
    ++instance(known->second).uses;
    return known->second;
  }

  Result<int> copy(Scope& scope, const Value* value,
                   std::unordered_map<const Value*, int>& copies) {
    const auto known = copies.find(value);
    if (known != copies.end()) return known->second;
    if (value->def() == nullptr || !scope.copied.contains(value->def()) ||
        value->type().rank() == 0) {
      return use(scope, value);
    }
    MILLRACE_TRY_STATUS(add_op(scope, *value->def(), copies));
    return copies.at(value);
  }

  // The operation as a node, its results among `to`; what it takes is copied there too if it is
  // copied itself.
  Status add_op(Scope& scope, const Op& op, std::unordered_map<const Value*, int>& to) {
    ++ops_;
    std::vector<int> operands, used;
    for (const Value* v : op.operands()) {
      MILLRACE_TRY(const int number, &to == &scope.values ? use(scope, v) : copy(scope, v, to));
      used.push_back(number);
      operands.push_back(instance(number).tensor);
    }
    std::vector<int> results;
    for (const Value& v : op.results()) {
      results.push_back(make_tensor(v.type()));
      to[&v] = make_instance(results.back());
    }
    if (is_constraint(op)) {
      if (op.operand_count() != 1 || op.result_count() != 1)
        return ir::invalid(op, "it takes one value and gives one");
      const Status given = give(results[0], op.attr("sharding"), op.where());
      if (!given) return given;
    } else {
      MILLRACE_TRY_STATUS(give_results(op, results));
    }
    MILLRACE_TRY(std::optional<Rule> rule, rule_for(op));
    if (!rule) return {};
    Node& node = add_node(kind_of(op), *std::move(rule), std::move(operands), std::move(results));
    if (node.kind == NodeKind::kBarrier)
      node.barrier = static_cast<Direction>(op.int_or("allowed_direction", 0) & kBoth);
    for (std::size_t i = 0; i < used.size(); ++i)
      note_use(used[i], op.operand(static_cast<int>(i))->type());
    return {};
  }

  static bool is_identity(const Op& op) {
    return is_constraint(op) || op.name() == "sdy.propagation_barrier" ||
           op.name() == "builtin.unrealized_conversion_cast";
  }
  static bool is_constraint(const Op& op) {
    return op.name() == "sdy.sharding_constraint" || op.name() == "sdy.reshard";
  }

  static Result<std::optional<Rule>> rule_for(const Op& op) {
    if (!is_identity(op)) return rule_of(op);
    const bool single = op.operand_count() == 1 && op.result_count() == 1;
    if (!single || !is_cut(op.result()->type())) return std::nullopt;
    return identity_rule(op.result()->type(), 1, 1);
  }

  static NodeKind kind_of(const Op& op) {
    if (op.name() == "sdy.propagation_barrier") return NodeKind::kBarrier;
    switch (op.kind()) {
      case OpKind::kReshape:
      case OpKind::kTranspose:
        return NodeKind::kReshape;
      case OpKind::kDynamicSlice:
      case OpKind::kDynamicUpdateSlice:
        return NodeKind::kSlice;
      case OpKind::kBroadcastInDim:
        return NodeKind::kBroadcast;
      default:
        return is_elementwise(op) || op.callee() == "MoveToDevice" || op.callee() == "MoveToHost"
                   ? NodeKind::kElementwise
                   : NodeKind::kOther;
    }
  }

  // Gives the tensors that the block's terminator returns.
  Result<std::vector<int>> walk(Scope& scope, const ir::Block& block) {
    for (const Op& op : block) {
      if (&op == block.terminator()) break;
      MILLRACE_TRY_STATUS(visit(scope, op));
    }
    std::vector<int> out;
    if (block.terminator() == nullptr) return out;
    for (const Value* v : block.terminator()->operands()) {
      MILLRACE_TRY(const int number, use(scope, v));
      out.push_back(instance(number).tensor);
    }
    return out;
  }

  Status visit(Scope& scope, const Op& op) {
    ++ops_;
    if (is_constant(scope, op)) {
      scope.constants.insert(&op);
      scope.copied.insert(&op);
      return {};
    }
    if (op.kind() == OpKind::kBroadcastInDim && op.operand(0)->type().rank() == 0) {
      scope.copied.insert(&op);
      return {};
    }
    switch (op.kind()) {
      case OpKind::kWhile:
        return visit_while(scope, op);
      case OpKind::kCase:
      case OpKind::kIf:
        return visit_branches(scope, op);
      case OpKind::kOptimizationBarrier:
        return visit_barrier(scope, op);
      case OpKind::kCall:
        return visit_call(scope, op);
      default:
        break;
    }
    if (op.name() == "sdy.manual_computation") return visit_manual(scope, op);
    if (op.name() == "sdy.sharding_group") return visit_group(scope, op);
    if (op.name() == "sdy.sharding_constraint" && scope.made.contains(&op)) {
      MILLRACE_TRY(const int number, use(scope, op.operand(0)));
      scope.values[op.result()] = make_instance(instance(number).tensor);
      return {};
    }
    MILLRACE_TRY_STATUS(add_op(scope, op, scope.values));
    for (const Value& v : op.results()) apply_constraint(scope, &v);
    return {};
  }

  // A value whose constraints agree lies so itself, if nothing else says how.
  void apply_constraint(const Scope& scope, const Value* value) {
    const Constraint* wanted = agreed(value);
    if (wanted == nullptr) return;
    Tensor& of = root(instance(scope.values.at(value)).tensor);
    if (!of.sharding) of.sharding = wanted->sharding;
  }

  Result<std::vector<int>> use_all(Scope& scope, std::span<Value* const> values) {
    std::vector<int> tensors;
    for (const Value* v : values) {
      MILLRACE_TRY(const int number, use(scope, v));
      tensors.push_back(instance(number).tensor);
    }
    return tensors;
  }

  Result<std::vector<int>> make_results(const Op& op) {
    std::vector<int> out;
    for (const Value& v : op.results()) out.push_back(make_tensor(v.type()));
    MILLRACE_TRY_STATUS(give_results(op, out));
    return out;
  }

  // What is carried lies alike before, inside and behind.
  Status visit_while(Scope& scope, const Op& op) {
    MILLRACE_TRY(const auto operands, use_all(scope, op.operands()));
    MILLRACE_TRY(const auto results, make_results(op));
    std::vector<int> returned;
    for (const ir::Region& region : op.regions()) {
      const ir::Block& block = region.block();
      for (int i = 0; i < block.argument_count(); ++i)
        define_edge(scope, block.argument(i), results[count(i)]);
      MILLRACE_TRY(returned, walk(scope, block));
    }
    for (int i = 0; i < op.result_count(); ++i) {
      add_edge({operands[count(i)], returned[count(i)]}, results[count(i)]);
      define_edge(scope, op.result(i), results[count(i)]);
    }
    return {};
  }

  Status visit_branches(Scope& scope, const Op& op) {
    MILLRACE_TRY_STATUS(use_all(scope, op.operands()));
    MILLRACE_TRY(const auto results, make_results(op));
    std::vector<std::vector<int>> sources(results.size());
    for (const ir::Region& region : op.regions()) {
      MILLRACE_TRY(const auto returned, walk(scope, region.block()));
      for (std::size_t i = 0; i < sources.size(); ++i) sources[i].push_back(returned[i]);
    }
    for (int i = 0; i < op.result_count(); ++i) {
      add_edge(sources[count(i)], results[count(i)]);
      define_edge(scope, op.result(i), results[count(i)]);
    }
    return {};
  }

  Status visit_barrier(Scope& scope, const Op& op) {
    MILLRACE_TRY(const auto operands, use_all(scope, op.operands()));
    MILLRACE_TRY(const auto results, make_results(op));
    for (int i = 0; i < op.result_count(); ++i) {
      add_edge({operands[count(i)]}, results[count(i)]);
      define_edge(scope, op.result(i), results[count(i)]);
    }
    return {};
  }

  // Its values are those of the caller, but for what the function's signature says of them.
  Status visit_call(Scope& scope, const Op& op) {
    MILLRACE_TRY(const auto operands, use_all(scope, op.operands()));
    const ir::Function* callee = module_.find(op.callee());
    const bool follow = callee != nullptr && !callee->is_declaration() && scope.depth < kMaxCalls &&
                        ops_ < kMaxOps && callee->inputs().size() == operands.size();
    if (!follow) return define_results(scope, op, {});
    Scope inner;
    inner.depth = scope.depth + 1;
    const ir::Block& block = callee->body().block();
    for (int i = 0; i < block.argument_count(); ++i) {
      MILLRACE_TRY(const int t, as_signed(op, operands[count(i)], block.argument(i)->type(),
                                          callee->arg_attribute(i, "sdy.sharding")));
      inner.values[block.argument(i)] = make_instance(t);
    }
    MILLRACE_TRY(auto returned, walk(inner, block));
    for (int i = 0; i < op.result_count(); ++i) {
      MILLRACE_TRY(returned[count(i)],
                   as_signed(op, returned[count(i)], op.result(i)->type(),
                             ir::find(callee->result_attributes(i), "sdy.sharding")));
    }
    return define_results(scope, op, returned);
  }

  // The tensor itself, or one beside it with the sharding of the attribute.
  Result<int> as_signed(const Op& op, int t, ir::Type type, ir::Attribute attribute) {
    if (!attribute || !is_cut(type)) return t;
    const int own = make_tensor(type);
    MILLRACE_TRY_STATUS(give(own, attribute, op.where()));
    tensor(own).edge = true;
    add_edge({t}, own);
    return own;
  }

  Status define_results(Scope& scope, const Op& op, const std::vector<int>& tensors) {
    for (int i = 0; i < op.result_count(); ++i) {
      const int t = tensors.empty() ? make_tensor(op.result(i)->type()) : tensors[count(i)];
      define_constrained(scope, op.result(i), t);
    }
    return {};
  }

  // Outside, operands and results lie as the shardings say; inside, as these say without the
  // manual axes.
  Status visit_manual(Scope& scope, const Op& op) {
    MILLRACE_TRY(const auto operands, use_all(scope, op.operands()));
    MILLRACE_TRY(const sharding::Manual manual, sharding::read_manual(op, meshes()));
    if (op.regions().size() != 1 || op.region().empty())
      return ir::invalid(op, "a manual computation without its body");
    const ir::Block& block = op.region().block();
    if (block.argument_count() != op.operand_count())
      return ir::invalid(op, "its body has other arguments than it has operands");
    Scope inner;
    inner.depth = scope.depth;
    for (int i = 0; i < op.operand_count(); ++i) {
      MILLRACE_TRY(const int seen, make_view(op, op.operand(i)->type(), manual.in[count(i)],
                                             manual.axes, block.argument(i)->type()));
      add_edge({operands[count(i)]}, graph().root(seen));
      define_edge(inner, block.argument(i), seen);
    }
    MILLRACE_TRY(const auto returned, walk(inner, block));
    if (returned.size() != count(op.result_count()))
      return ir::invalid(op, "its body returns another number of values than it has results");
    for (int i = 0; i < op.result_count(); ++i) {
      const ir::Type local = block.terminator()->operand(i)->type();
      MILLRACE_TRY(const int seen,
                   make_view(op, op.result(i)->type(), manual.out[count(i)], manual.axes, local));
      add_edge({returned[count(i)]}, seen);
      define_edge(scope, op.result(i), graph().root(seen));
    }
    return {};
  }

  // A tensor with this sharding, as the body sees it; errors where the types do not fit.
  Result<int> make_view(const Op& op, ir::Type type, const Sharding& sharding,
                        const std::vector<std::string>& axes, ir::Type local) {
    const int whole = make_tensor(type);
    const Status given = give(whole, sharding);
    if (!given) return ir::invalid(op, given.error().message());
    const int view = make_tensor(local);
    tensor(view).view_of = whole;
    for (const std::string& name : axes) {
      const auto axis = sharding.mesh->find(name);
      if (axis) tensor(view).manual_axes.push_back(*axis);
    }
    return view;
  }

  Status visit_group(Scope& scope, const Op& op) {
    if (op.operand_count() != 1) return ir::invalid(op, "a group takes one value");
    const auto known = scope.values.find(op.operand(0));
    if (known == scope.values.end()) return {};
    root(instance(known->second).tensor).group = static_cast<int>(op.int_or("group_id", 0));
    return {};
  }

  const ir::Module& module_;
  int ops_ = 0;  // that were looked at
};

Result<Graph> Graph::of(const ir::Module& module, const ir::Function& main) {
  MILLRACE_TRY(auto meshes, sharding::Meshes::of(module));
  return GraphBuilder(module, std::move(meshes)).build(main);
}

}  // namespace millrace::devices::stablehlo::propagate
