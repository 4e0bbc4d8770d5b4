#include "millrace/devices/cpu/plan/lower_op.h"

#include <string>

#include "millrace/devices/cpu/custom_call.h"
#include "millrace/devices/cpu/kernels/element.h"
#include "millrace/devices/cpu/plan/lower_elementwise.h"
#include "millrace/devices/cpu/plan/lower_region.h"
#include "millrace/devices/cpu/reference/lapack.h"

namespace millrace::devices::cpu::plan {

Node OpLowering::base(NodeKind kind) const {
  return Node{.kind = kind, .location = op.location(), .name = ir::to_string(op.kind())};
}

std::vector<ValueId> OpLowering::add(Block& to, Node node) {
  if (node.inputs.empty()) node.inputs = inputs;
  const NodeId id = graph.add_node(std::move(node), shapes);
  to.nodes.push_back(id);
  return graph.node(id).outputs;
}

ValueId OpLowering::add_one(Block& to, Node node, const Shape& shape) {
  const NodeId id = graph.add_node(std::move(node), {shape});
  to.nodes.push_back(id);
  return graph.node(id).outputs[0];
}

std::unexpected<Error> OpLowering::unsupported(const std::string& why) const {
  return fail(ErrorCode::kUnimplemented,
              op.where() + ": " + why + " is not supported by the CPU device");
}

std::vector<std::int64_t> OpLowering::ints(std::string_view name) const {
  return op.ints(name).value_or(std::vector<std::int64_t>{});
}

std::vector<std::int64_t> OpLowering::ints_or(std::string_view name, std::size_t n,
                                              std::int64_t otherwise) const {
  auto found = op.ints(name);
  return found && found->size() == n ? *std::move(found) : std::vector<std::int64_t>(n, otherwise);
}

Result<std::vector<ValueId>> OpLowering::run(Block& to) {
  // The kernels would take the stored integers for the values, which select passes on as they are.
  if (reference::is_quantised(op) && op.kind() != ir::OpKind::kSelect) return reference(to);
  promote(to);
  if (op.kind() == ir::OpKind::kAllReduce || op.kind() == ir::OpKind::kCollectiveReduce ||
      op.kind() == ir::OpKind::kReduceScatter) {
    // Of one process: its own array, in the body's type.
    bool done = true;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      done = done && graph.shape(inputs[i]) == shapes[i];
    if (done) return std::vector<ValueId>(inputs.begin(), inputs.begin() + std::ssize(shapes));
  }
  auto fast = run_fast(to);
  if (fast || fast.error().code() != ErrorCode::kUnimplemented) return fast;
  return reference(to);
}

// The type that the body works in on input i: that of a result; nullopt for what it does not see.
std::optional<DType> OpLowering::body_type(std::size_t i) const {
  using K = ir::OpKind;
  const std::size_t n = shapes.size();
  switch (op.kind()) {
    case K::kCollectiveReduce:
      if (i == n) return std::nullopt;  // the roots
      return shapes[i].dtype();
    case K::kScatter:
      if (i == n) return std::nullopt;  // the indices
      return shapes[(i > n ? i - 1 : i) % n].dtype();
    case K::kReduce:
    case K::kReduceWindow:
    case K::kSelectAndScatter:
    case K::kAllReduce:
    case K::kReduceScatter:
      return shapes[i % n].dtype();
    default:
      return std::nullopt;
  }
}

// Kernels with a body read every array in the body's type.
bool OpLowering::arrays_fit_body() const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (body_type(i).value_or(graph.shape(inputs[i]).dtype()) != graph.shape(inputs[i]).dtype())
      return false;
  }
  return true;
}

void OpLowering::promote(Block& to) {
  // Its selection stays in the narrow type, so that only the evaluator runs it.
  if (op.kind() == ir::OpKind::kSelectAndScatter || arrays_fit_body()) return;
  std::vector<ValueId> wide = inputs;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const Shape narrow = graph.shape(wide[i]);
    const DType type = body_type(i).value_or(narrow.dtype());
    if (narrow.dtype() == type) continue;
    // The evaluator converts each element as it comes.
    if (find_tile_loop(TileOp::kConvert, narrow.dtype(), type) == nullptr) return;
    Node convert = base(NodeKind::kElementwise);
    convert.op = TileOp::kConvert;
    convert.inputs = {wide[i]};
    wide[i] = add_one(to, std::move(convert), Shape(type, narrow.dims()));
  }
  inputs = std::move(wide);
}

Result<std::vector<ValueId>> OpLowering::reference(Block& to) {
  if (op.kind() == ir::OpKind::kCustomCall && find_custom_call(op.callee()) == nullptr) {
    const std::string fault = reference::lapack_fault(op);
    if (!fault.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  op.where() + " @" + std::string(op.callee()) + ": " + fault);
    }
  }
  Node n = base(NodeKind::kReference);
  MILLRACE_TRY(n.kernel, reference::make_kernel(module, op));
  n.has_effect = n.kernel->has_effect();
  n.inputs = inputs;
  for (const ir::Value* v : n.kernel->captures()) n.inputs.push_back(outer(v));
  const NodeId id = graph.add_node(std::move(n), shapes);
  to.nodes.push_back(id);
  return graph.node(id).outputs;
}

Result<std::vector<ValueId>> OpLowering::run_fast(Block& to) {
  using K = ir::OpKind;
  if (!arrays_fit_body()) return unsupported("a body of another type than its arrays");
  if (const auto what = elementwise_op(op)) return elementwise(to, what->op, what->param);
  switch (op.kind()) {
    case K::kConstant:
      return constant(to);
    case K::kChloSquare: {
      const std::vector<ValueId> once = inputs;
      inputs = {once[0], once[0]};
      auto squares = elementwise(to, TileOp::kMul, 0);
      inputs = once;
      return squares;
    }
    case K::kIota: {
      if (!is_real_element(shapes[0].dtype())) return unsupported("this element type");
      Node n = base(NodeKind::kIota);
      n.dims = {op.int_or("iota_dimension", 0)};
      return add(to, std::move(n));
    }
    case K::kReshape:
      return add(to, base(NodeKind::kReshape));
    case K::kBitcastConvert:
      return bitcast(to);
    case K::kBroadcastInDim: {
      Node n = base(NodeKind::kBroadcast);
      n.dims = ints("broadcast_dimensions");
      return add(to, std::move(n));
    }
    case K::kBroadcast: {
      Node n = base(NodeKind::kBroadcast);
      const auto lead = static_cast<int>(ints("broadcast_sizes").size());
      for (int d = 0; d < graph.shape(inputs[0]).rank(); ++d) n.dims.push_back(lead + d);
      return add(to, std::move(n));
    }
    case K::kTranspose: {
      Node n = base(NodeKind::kTranspose);
      n.dims = ints("permutation");
      return add(to, std::move(n));
    }
    case K::kReverse: {
      Node n = base(NodeKind::kReverse);
      n.dims = ints("dimensions");
      return add(to, std::move(n));
    }
    case K::kSlice: {
      Node n = base(NodeKind::kSlice);
      n.low = ints("start_indices");
      n.high = ints("limit_indices");
      n.step = ints_or("strides", n.low.size(), 1);
      return add(to, std::move(n));
    }
    case K::kPad: {
      Node n = base(NodeKind::kPad);
      n.low = ints("edge_padding_low");
      n.high = ints("edge_padding_high");
      n.step = ints("interior_padding");
      return add(to, std::move(n));
    }
    case K::kConcatenate: {
      Node n = base(NodeKind::kConcatenate);
      n.dims = {op.int_or("dimension", 0)};
      return add(to, std::move(n));
    }
    case K::kDynamicSlice:
      return add(to, base(NodeKind::kDynamicSlice));
    case K::kDynamicUpdateSlice:
      return add(to, base(NodeKind::kDynamicUpdateSlice));
    case K::kGather:
      return gather(to);
    case K::kScatter:
      return scatter(to);
    case K::kReduce:
      return reduce(to);
    case K::kReduceWindow:
      return reduce_window(to);
    case K::kSelectAndScatter:
      return select_and_scatter(to);
    case K::kSort:
      return sort(to);
    case K::kDot:
    case K::kDotGeneral:
      return dot(to);
    case K::kConvolution:
      return convolution(to);
    default:
      break;
  }
  return fail(ErrorCode::kUnimplemented, op.where() + ": not supported by the CPU device");
}

Result<std::vector<ValueId>> OpLowering::elementwise(Block& to, TileOp what, std::uint32_t param) {
  const DType in = graph.shape(inputs[what == TileOp::kSelect ? 1 : 0]).dtype();
  const DType out = shapes[0].dtype();
  if (find_tile_loop(what, in, out) == nullptr)
    return unsupported("element type " + std::string(to_string(in)));
  // Scalars among arrays (select's predicate, clamp's bounds) become broadcasts.
  for (ValueId& input : inputs) {
    if (graph.shape(input).rank() != 0 || shapes[0].rank() == 0) continue;
    Node n = base(NodeKind::kBroadcast);
    n.inputs = {input};
    input = add_one(to, std::move(n), Shape(graph.shape(input).dtype(), shapes[0].dims()));
  }
  if (what == TileOp::kConvert && in == out) return inputs;
  Node n = base(NodeKind::kElementwise);
  n.op = what;
  n.param = param;
  return add(to, std::move(n));
}

// Little-endian elements, dense arrays: the bytes stay as they are, also between widths.
Result<std::vector<ValueId>> OpLowering::bitcast(Block& to) {
  const DType in = graph.shape(inputs[0]).dtype(), out = shapes[0].dtype();
  if (in == out) return inputs;
  if (bit_width(in) % 8 != 0 || bit_width(out) % 8 != 0) return unsupported("a bitcast of bits");
  return add(to, base(NodeKind::kReshape));
}

Result<std::vector<ValueId>> OpLowering::constant(Block& to) {
  const auto* dense = op.attr<ir::DenseAttr>("value");
  if (dense == nullptr) return unsupported("a constant that is not dense");
  Node n = base(NodeKind::kConstant);
  n.splat = dense->splat || shapes[0].elements() == 1;
  n.data = dense->share();
  // The bytes may lie inside a larger blob.
  n.data = std::shared_ptr<const std::byte[]>(n.data, dense->bytes.data());
  return add(to, std::move(n));
}

Result<std::vector<ValueId>> OpLowering::sort(Block& to) {
  Node n = base(NodeKind::kSort);
  const int rank = shapes[0].rank();
  const std::int64_t dimension = op.int_or("dimension", -1);
  if (rank == 0) return inputs;
  n.dims = {dimension < 0 ? dimension + rank : dimension};
  if (shapes[0].dim(static_cast<int>(n.dims[0])) > INT32_MAX)
    return unsupported("sorting more than 2^31 elements");
  MILLRACE_TRY(n.region, lower_region(module, op, 0));
  return add(to, std::move(n));
}

}  // namespace millrace::devices::cpu::plan
