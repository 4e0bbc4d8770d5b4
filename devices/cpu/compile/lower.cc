#include "millrace/devices/cpu/compile/lower.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "millrace/devices/cpu/compile/lower_op.h"
#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/stablehlo/ir/scan.h"

namespace millrace::devices::cpu::compiler {
namespace {

constexpr int kMaxDepth = 256;  // of calls: StableHLO has no recursion
// With all calls in place: so many, and so many times those that are written. A few lines can call
// each other to more than any memory holds.
constexpr std::int64_t kOpsBesides = 100'000;
constexpr std::int64_t kTimesLonger = 64;

std::string unsupported(ir::Type type) {
  const std::string words = "the type " + type.to_string();
  if (!type.is_tensor() || type.rank() <= kMaxRank)
    return words + " is not supported by the CPU device";
  return words + " has " + std::to_string(type.rank()) +
         " dimensions; the CPU device has arrays of at most " + std::to_string(kMaxRank);
}

class Lowering {
 public:
  Lowering(const ir::Module& module, Graph& graph) : module_(module), graph_(graph) {}

  Status lower_function(const ir::Function& function) {
    const ir::Block& body = function.body().block();
    const ir::Location at = function.location();
    const std::string where =
        ir::to_string(at) + ": @" + std::string(function.name()) + ": argument ";
    for (const ir::Value& argument : body.arguments()) {
      MILLRACE_TRY_STATUS(
          add_parameter(argument, where + std::to_string(argument.index()), graph_.root));
    }
    return lower_block(body, graph_.root, 0);
  }

 private:
  // What a value of the program is in the graph: an array is one value, a tuple or a future those
  // of its members in a row, a token none.
  using Values = std::vector<ValueId>;

  static bool has_members(ir::Type type) {
    return type.kind() == ir::TypeKind::kTuple || type.kind() == ir::TypeKind::kFuture;
  }
  static Status add_shapes(ir::Type type, const std::string& where, std::vector<Shape>& shapes) {
    if (type.kind() == ir::TypeKind::kToken) return {};
    if (has_members(type)) {
      for (const ir::Type member : type.members())
        MILLRACE_TRY_STATUS(add_shapes(member, where, shapes));
      return {};
    }
    const auto shape = ir::memory_shape(type);
    if (!shape) {
      return fail(ErrorCode::kUnimplemented, where + ": " + unsupported(type));
    }
    shapes.push_back(*shape);
    return {};
  }
  static Result<std::vector<Shape>> result_shapes(const ir::Op& op) {
    std::vector<Shape> shapes;
    for (const ir::Value& v : op.results())
      MILLRACE_TRY_STATUS(add_shapes(v.type(), op.where(), shapes));
    return shapes;
  }

  Status add_parameter(const ir::Value& argument, const std::string& where, Block& block) {
    std::vector<Shape> shapes;
    MILLRACE_TRY_STATUS(add_shapes(argument.type(), where, shapes));
    Values& values = values_[&argument];
    values.clear();
    for (const Shape& shape : shapes) values.push_back(graph_.add_value(shape));
    block.parameters.insert(block.parameters.end(), values.begin(), values.end());
    return {};
  }

  Values operands_of(const ir::Op& op) const {
    Values all;
    for (const ir::Value* v : op.operands()) {
      const Values& values = values_.at(v);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  // Gives the op's results their values, which come in a row.
  Status set_results(const ir::Op& op, const Values& all) {
    std::size_t next = 0;
    for (const ir::Value& v : op.results()) {
      MILLRACE_TRY_STATUS(set_value(v, all, next, op.where() + ": a result"));
      next += values_.at(&v).size();
    }
    if (next == all.size()) return {};
    return fail(ErrorCode::kInvalidArgument, op.where() + ": it has results for " +
                                                 std::to_string(next) + " arrays, but gets " +
                                                 std::to_string(all.size()));
  }
  // Those from `first` on. Where nothing computes (casts, calls, tuples), only this compares their
  // shapes with what kernels will take them for.
  Status set_value(const ir::Value& v, const Values& all, std::size_t first,
                   const std::string& what) {
    std::vector<Shape> shapes;
    MILLRACE_TRY_STATUS(add_shapes(v.type(), what, shapes));
    if (first > all.size() || shapes.size() > all.size() - first) {
      return fail(ErrorCode::kInvalidArgument,
                  what + " is " + v.type().to_string() + ", but gets fewer arrays");
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const Shape& found = graph_.shape(all[first + i]);
      if (found == shapes[i]) continue;
      return fail(ErrorCode::kInvalidArgument,
                  what + " is " + v.type().to_string() + ", but gets " + found.to_string());
    }
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    values_[&v].assign(begin, begin + static_cast<std::ptrdiff_t>(shapes.size()));
    return {};
  }
  // The ops of `block` become nodes of `to`; the operands of its return become results.
  Status lower_block(const ir::Block& block, Block& to, int depth) {
    for (ir::Op& op : block) {
      if (op.kind() == ir::OpKind::kReturn || op.kind() == ir::OpKind::kFuncReturn ||
          op.name() == "sdy.return") {
        to.results = operands_of(op);
        return {};
      }
      MILLRACE_TRY_STATUS(lower_op(op, to, depth));
    }
    return fail(ErrorCode::kInvalidArgument, "a block without a return");
  }

  Status lower_op(const ir::Op& op, Block& to, int depth) {
    using K = ir::OpKind;
    if (++ops_ > most_ops_) {
      return fail(ErrorCode::kResourceExhausted,
                  op.where() +
                      ": with the functions that it calls in their places the program has "
                      "more than " +
                      std::to_string(most_ops_) + " operations");
    }
    switch (op.kind()) {
      case K::kCall:
      case K::kComposite:
        return lower_call(op, to, depth);
      // What is only passed on: the order of tokens is that of the program.
      case K::kOptimizationBarrier:
      case K::kTuple:
      case K::kAsyncDone:
        return set_results(op, operands_of(op));
      case K::kAsyncStart:
        return lower_async(op, to, depth);
      case K::kOther:
        return lower_other(op, to, depth);
      case K::kAfterAll:
      case K::kCreateToken:
        return set_results(op, {});
      case K::kGetTupleElement:
        return lower_tuple_element(op);
      case K::kWhile:
      case K::kIf:
      case K::kCase:
        return lower_control(op, to, depth);
      case K::kChloScan:
        return lower_scan(op, to, depth);
      default:
        break;
    }
    MILLRACE_TRY_STATUS(check_one_process(op));
    OpToLower one{.module = module_, .graph = graph_, .op = op};
    one.inputs = operands_of(op);
    MILLRACE_TRY(one.shapes, result_shapes(op));
    one.outer = [this](const ir::Value* v) { return values_.at(v).front(); };
    MILLRACE_TRY(const Values results, compiler::lower_op(std::move(one), to));
    return set_results(op, results);
  }

  // What async_start begins is done at once.
  Status lower_async(const ir::Op& op, Block& to, int depth) {
    if (op.regions().size() != 1 || op.region().empty()) {
      return fail(ErrorCode::kUnimplemented,
                  op.where() + ": not supported by the CPU device without a body");
    }
    return lower_inline(op, op.region().block(), to, depth);
  }

  // Ops of the dialect of shardings say where things lie, which on one device is here.
  Status lower_other(const ir::Op& op, Block& to, int depth) {
    if ((op.name() == "sdy.sharding_constraint" || op.name() == "sdy.reshard" ||
         op.name() == "sdy.data_flow_edge" || op.name() == "builtin.unrealized_conversion_cast") &&
        op.operand_count() == op.result_count()) {
      return set_results(op, operands_of(op));
    }
    if (op.name() == "sdy.manual_computation" && op.regions().size() == 1 && !op.region().empty() &&
        op.region().block().argument_count() == op.operand_count()) {
      return lower_inline(op, op.region().block(), to, depth);
    }
    return fail(ErrorCode::kUnimplemented, op.where() + ": not supported by the CPU device");
  }

  // The block's ops in place of op, whose operands are its arguments.
  Status lower_inline(const ir::Op& op, const ir::Block& body, Block& to, int depth) {
    if (body.argument_count() != op.operand_count()) {
      return fail(ErrorCode::kInvalidArgument,
                  op.where() + ": its body takes another number of values than its operands");
    }
    for (int i = 0; i < op.operand_count(); ++i) {
      const Values operand = values_.at(op.operand(i));
      MILLRACE_TRY_STATUS(
          set_value(*body.argument(i), operand, 0, op.where() + ": argument " + std::to_string(i)));
    }
    Block inlined;
    MILLRACE_TRY_STATUS(lower_block(body, inlined, depth + 1));
    to.nodes.insert(to.nodes.end(), inlined.nodes.begin(), inlined.nodes.end());
    return set_results(op, inlined.results);
  }

  Status lower_tuple_element(const ir::Op& op) {
    const auto index = static_cast<std::size_t>(op.int_or("index", 0));
    std::vector<Shape> before;
    for (const ir::Type member : op.operand(0)->type().members().first(index))
      MILLRACE_TRY_STATUS(add_shapes(member, op.where(), before));
    return set_value(*op.result(), values_.at(op.operand(0)), before.size(),
                     op.where() + ": a result");
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
      return fail(
          ErrorCode::kInvalidArgument,
          op.where() + ": more than " + std::to_string(kMaxDepth) + " calls inside each other");
    return lower_inline(op, callee->body().block(), to, depth);
  }

  static std::string_view decomposition(const ir::Op& op) {
    const auto* symbol = op.attr<ir::SymbolAttr>("decomposition");
    return symbol != nullptr && !symbol->path.empty() ? symbol->path.front() : op.callee();
  }

  // while: inputs are the carried values. if, case: input 0 is the selector; StableHLO's if has its
  // true branch first, so it becomes a case of the negated predicate.
  Status lower_control(const ir::Op& op, Block& to, int depth) {
    Node node = node_of(op, op.kind() == ir::OpKind::kWhile ? NodeKind::kWhile : NodeKind::kCase,
                        operands_of(op));
    if (op.kind() == ir::OpKind::kIf) {
      node.inputs[0] =
          elementwise(to, op, TileOp::kConvert,
                      {elementwise(to, op, TileOp::kNot, {node.inputs[0]}, Shape(DType::kI1, {}))},
                      Shape(DType::kI32, {}));
    }
    for (ir::Region& region : op.regions()) {
      Block block;
      for (const ir::Value& argument : region.block().arguments())
        MILLRACE_TRY_STATUS(add_parameter(argument, op.where(), block));
      MILLRACE_TRY_STATUS(lower_block(region.block(), block, depth));
      node.blocks.push_back(std::move(block));
    }
    MILLRACE_TRY(const std::vector<Shape> shapes, result_shapes(op));
    return set_results(op, graph_.append(to, std::move(node), shapes));
  }

  // chlo.scan: a while that counts, with the outputs and the carried values. In each round the
  // body gets the slices of the inputs at that place and gives those of the outputs.
  Status lower_scan(const ir::Op& op, Block& to, int depth) {
    const auto parts = ir::scan_parts_of(op);
    if (!parts) return fail(ErrorCode::kInvalidArgument, op.where() + ": not a scan that fits");
    const auto dimension = static_cast<std::size_t>(parts->dimension);
    const auto add = [&](Block& block, NodeKind kind, std::vector<ValueId> inputs,
                         const Shape& shape) {
      return graph_.append(block, node_of(op, kind, std::move(inputs)), {shape})[0];
    };
    const auto constant = [&](Block& block, std::int32_t value, const Shape& shape) {
      const ValueId v = add(block, NodeKind::kConstant, {}, shape);
      Node& node = graph_.node(graph_.values[static_cast<std::size_t>(v)].producer);
      const std::shared_ptr<std::byte[]> bytes(new std::byte[16]());
      std::memcpy(bytes.get(), &value, sizeof value);
      node.data = bytes;
      node.splat = true;
      return v;
    };
    const Shape scalar(DType::kI32, {});
    MILLRACE_TRY(const std::vector<Shape> results, result_shapes(op));
    const auto outputs = static_cast<std::size_t>(parts->outputs);
    const Values inputs = operands_of(op);
    const auto first_carry = inputs.begin() + parts->inputs;

    Node loop = node_of(op, NodeKind::kWhile, {constant(to, 0, scalar)});
    for (std::size_t i = 0; i < outputs; ++i) loop.inputs.push_back(constant(to, 0, results[i]));
    loop.inputs.insert(loop.inputs.end(), first_carry, inputs.end());
    std::vector<Shape> shapes;
    for (const ValueId v : loop.inputs) shapes.push_back(graph_.shape(v));

    Block condition, body;
    for (const Shape& shape : shapes) {
      condition.parameters.push_back(graph_.add_value(shape));
      body.parameters.push_back(graph_.add_value(shape));
    }
    const auto extent = static_cast<std::int32_t>(parts->extent);
    condition.results = {elementwise(condition, op, TileOp::kLt,
                                     {condition.parameters[0], constant(condition, extent, scalar)},
                                     Shape(DType::kI1, {}))};

    ValueId at = body.parameters[0];
    if (parts->reverse)
      at = elementwise(body, op, TileOp::kSubtract, {constant(body, extent - 1, scalar), at},
                       scalar);
    const auto starts = [&](int rank) {
      std::vector<ValueId> list(static_cast<std::size_t>(rank), constant(body, 0, scalar));
      list[dimension] = at;
      return list;
    };
    const ir::Block& block = op.region().block();
    for (int i = 0; i < parts->inputs; ++i) {
      const Shape whole = graph_.shape(inputs[static_cast<std::size_t>(i)]);
      DimVector thin(whole.dims());
      thin[dimension] = 1;
      std::vector<ValueId> operands = starts(whole.rank());
      operands.insert(operands.begin(), inputs[static_cast<std::size_t>(i)]);
      const ValueId slice =
          add(body, NodeKind::kDynamicSlice, std::move(operands), Shape(whole.dtype(), thin));
      const auto shape = ir::memory_shape(block.argument(i)->type());
      if (!shape) {
        return fail(ErrorCode::kUnimplemented,
                    op.where() + ": " + unsupported(block.argument(i)->type()));
      }
      values_[block.argument(i)] = {add(body, NodeKind::kReshape, {slice}, *shape)};
    }
    for (int i = parts->inputs; i < block.argument_count(); ++i)
      values_[block.argument(i)] = {
          body.parameters[1 + outputs + static_cast<std::size_t>(i - parts->inputs)]};
    Block inner;
    MILLRACE_TRY_STATUS(lower_block(block, inner, depth + 1));
    body.nodes.insert(body.nodes.end(), inner.nodes.begin(), inner.nodes.end());
    body.results.push_back(elementwise(body, op, TileOp::kAdd,
                                       {body.parameters[0], constant(body, 1, scalar)}, scalar));
    for (std::size_t i = 0; i < outputs; ++i) {
      DimVector thin(results[i].dims());
      thin[dimension] = 1;
      const ValueId slice =
          add(body, NodeKind::kReshape, {inner.results[i]}, Shape(results[i].dtype(), thin));
      std::vector<ValueId> operands = starts(results[i].rank());
      operands.insert(operands.begin(), {body.parameters[1 + i], slice});
      body.results.push_back(
          add(body, NodeKind::kDynamicUpdateSlice, std::move(operands), results[i]));
    }
    body.results.insert(body.results.end(),
                        inner.results.begin() + static_cast<std::ptrdiff_t>(outputs),
                        inner.results.end());
    loop.blocks = {std::move(condition), std::move(body)};
    const std::vector<ValueId>& made = graph_.append(to, std::move(loop), shapes);
    return set_results(op, Values(made.begin() + 1, made.end()));
  }
  static Node node_of(const ir::Op& op, NodeKind kind, std::vector<ValueId> inputs) {
    return {.kind = kind,
            .location = op.location(),
            .name = ir::to_string(op.kind()),
            .inputs = std::move(inputs)};
  }

  ValueId elementwise(Block& to, const ir::Op& op, TileOp what, std::vector<ValueId> inputs,
                      const Shape& shape) {
    Node node = node_of(op, NodeKind::kElementwise, std::move(inputs));
    node.op = what;
    return graph_.append(to, std::move(node), {shape})[0];
  }

  const ir::Module& module_;
  Graph& graph_;
  std::map<const ir::Value*, Values> values_;
  const std::int64_t most_ops_ = kOpsBesides + kTimesLonger * module_.op_ids();
  std::int64_t ops_ = 0;
};

}  // namespace

Result<Graph> lower(const ir::Module& module, const ir::Function& function) {
  MILLRACE_TRY_STATUS(check_one_process(module));
  if (function.is_declaration()) {
    return fail(ErrorCode::kInvalidArgument,
                "the function @" + std::string(function.name()) + " has no body");
  }
  Graph graph;
  MILLRACE_TRY_STATUS(Lowering(module, graph).lower_function(function));
  return graph;
}

}  // namespace millrace::devices::cpu::compiler
