#include "millrace/devices/cpu/compile/lower_op.h"

#include <cstdint>
#include <optional>
#include <string>

#include "millrace/devices/cpu/choose/make_kernel.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/convolution/gemm_convolution.h"
#include "millrace/devices/cpu/kernels/custom_call.h"
#include "millrace/devices/cpu/linalg/csr_product.h"
#include "millrace/devices/cpu/linalg/lapack.h"
#include "millrace/devices/stablehlo/spread/divide.h"

namespace millrace::devices::cpu::compiler {
namespace {

using Lowered = Result<std::vector<ValueId>>;
std::vector<std::int64_t> to_vector(ir::Ints values) { return {values.begin(), values.end()}; }

// nullopt: it is none, or not as divide makes it.
std::optional<Exchange> exchange_of(const ir::Op& op) {
  namespace spread = stablehlo::spread;
  if (op.kind() != ir::OpKind::kCustomCall) return std::nullopt;
  const bool gives = op.callee() == spread::kGive;
  const std::int64_t edge = op.int_or(spread::kEdge, -1), process = op.int_or(spread::kProcess, -1);
  if ((!gives && op.callee() != spread::kTake) || edge < 0 || edge > INT32_MAX || process < 0 ||
      process >= spread::kMostProcesses || op.operand_count() != (gives ? 1 : 0) ||
      op.result_count() != (gives ? 0 : 1)) {
    return std::nullopt;
  }
  return Exchange{gives, static_cast<int>(edge), static_cast<int>(process)};
}

struct Lowering : OpToLower {
  Node base(NodeKind kind, std::vector<std::int64_t> dims = {}) const {
    return Node{.kind = kind,
                .location = op.location(),
                .name = ir::to_string(op.kind()),
                .dims = std::move(dims)};
  }

  std::vector<ValueId> add(Block& to, Node node) {
    if (node.inputs.empty()) node.inputs = inputs;
    return graph.append(to, std::move(node), shapes);
  }

  std::unexpected<Error> unsupported(const std::string& why) const {
    return fail(ErrorCode::kUnimplemented,
                op.where() + ": " + why + " is not supported by the CPU device");
  }

  std::vector<std::int64_t> ints(std::string_view name) const {
    return op.ints(name).value_or(std::vector<std::int64_t>{});
  }

  std::vector<std::int64_t> ints_or(std::string_view name, std::size_t n,
                                    std::int64_t otherwise) const {
    auto found = op.ints(name);
    return found && found->size() == n ? *std::move(found)
                                       : std::vector<std::int64_t>(n, otherwise);
  }

  Lowered run(Block& to) {
    // The kernels would take the stored integers for the values, which select passes on as they
    // are.
    if (definition::is_quantised(op) && op.kind() != ir::OpKind::kSelect) return reference(to);
    promote(to);
    if (op.kind() == ir::OpKind::kAllReduce || op.kind() == ir::OpKind::kCollectiveReduce ||
        op.kind() == ir::OpKind::kReduceScatter) {
      // One process has its own array only, in the body's type.
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
  std::optional<DType> body_type(std::size_t i) const {
    using K = ir::OpKind;
    const std::size_t n = shapes.size();
    if (n == 0) return std::nullopt;
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
  bool arrays_fit_body() const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (body_type(i).value_or(graph.shape(inputs[i]).dtype()) != graph.shape(inputs[i]).dtype())
        return false;
    }
    return true;
  }

  void promote(Block& to) {
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
      wide[i] = graph.append(to, std::move(convert), {Shape(type, narrow.dims())})[0];
    }
    inputs = std::move(wide);
  }

  Lowered reference(Block& to) {
    if (op.kind() == ir::OpKind::kCustomCall && find_custom_call(op.callee()) == nullptr) {
      std::string fault = linalg::lapack_fault(op);
      if (fault.empty()) fault = linalg::csr_fault(op);
      if (!fault.empty()) {
        return fail(ErrorCode::kInvalidArgument,
                    op.where() + " @" + std::string(op.callee()) + ": " + fault);
      }
    }
    Node n = base(NodeKind::kReference);
    if (const auto exchange = exchange_of(op)) {
      n.exchange = exchange;
      n.has_effect = true;
      n.inputs = inputs;
      return graph.append(to, std::move(n), shapes);
    }
    MILLRACE_TRY(n.kernel, definition::make_kernel(module, op));
    n.has_effect = n.kernel->has_effect();
    n.inputs = inputs;
    for (const ir::Value* v : n.kernel->captures()) n.inputs.push_back(outer(v));
    return graph.append(to, std::move(n), shapes);
  }

  Lowered run_fast(Block& to) {
    using K = ir::OpKind;
    if (!arrays_fit_body()) return unsupported("a body of another type than its arrays");
    if (const auto what = elementwise_op(op)) return elementwise(to, what->op, what->param);
    switch (op.kind()) {
      case K::kConstant:
        return constant(to);
      case K::kChloSquare: {
        const std::vector<ValueId> once = inputs;
        inputs = {once[0], once[0]};
        auto squares = elementwise(to, TileOp::kMultiply, 0);
        inputs = once;
        return squares;
      }
      case K::kIota:
        if (!is_real_element(shapes[0].dtype())) return unsupported("this element type");
        return add(to, base(NodeKind::kIota, {op.int_or("iota_dimension", 0)}));
      case K::kReshape:
        return add(to, base(NodeKind::kReshape));
      case K::kBitcastConvert:
        return bitcast(to);
      case K::kBroadcastInDim:
        return add(to, base(NodeKind::kBroadcast, ints("broadcast_dimensions")));
      case K::kBroadcast: {
        Node n = base(NodeKind::kBroadcast);
        const auto lead = static_cast<int>(ints("broadcast_sizes").size());
        for (int d = 0; d < graph.shape(inputs[0]).rank(); ++d) n.dims.push_back(lead + d);
        return add(to, std::move(n));
      }
      case K::kTranspose:
        return add(to, base(NodeKind::kTranspose, ints("permutation")));
      case K::kReverse:
        return add(to, base(NodeKind::kReverse, ints("dimensions")));
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
      case K::kConcatenate:
        return add(to, base(NodeKind::kConcatenate, {op.int_or("dimension", 0)}));
      case K::kDynamicSlice:
        return add(to, base(NodeKind::kDynamicSlice));
      case K::kDynamicUpdateSlice:
        return add(to, base(NodeKind::kDynamicUpdateSlice));
      case K::kGather:
        return gather(to);
      case K::kScatter:
        return scatter(to);
      case K::kReduce:
        return with_bodies(to, base(NodeKind::kReduce, ints("dimensions")));
      case K::kReduceWindow:
      case K::kSelectAndScatter: {
        Node n = base(op.kind() == K::kReduceWindow ? NodeKind::kReduceWindow
                                                    : NodeKind::kSelectAndScatter);
        n.window = window();
        return with_bodies(to, std::move(n));
      }
      case K::kSort:
        return sort(to);
      case K::kDot:
      case K::kDotGeneral:
        return dot(to);
      case K::kConvolution:
        return convolution(to);
      default:
        return fail(ErrorCode::kUnimplemented, op.where() + ": not supported by the CPU device");
    }
  }

  Lowered elementwise(Block& to, TileOp what, std::uint32_t param) {
    const DType in = graph.shape(inputs[what == TileOp::kSelect ? 1 : 0]).dtype();
    const DType out = shapes[0].dtype();
    if (find_tile_loop(what, in, out) == nullptr)
      return unsupported("element type " + std::string(to_string(in)));
    // Scalars among arrays (select's predicate, clamp's bounds) become broadcasts.
    for (ValueId& input : inputs) {
      if (graph.shape(input).rank() != 0 || shapes[0].rank() == 0) continue;
      Node n = base(NodeKind::kBroadcast);
      n.inputs = {input};
      input =
          graph.append(to, std::move(n), {Shape(graph.shape(input).dtype(), shapes[0].dims())})[0];
    }
    if (what == TileOp::kConvert && in == out) return inputs;
    Node n = base(NodeKind::kElementwise);
    n.op = what;
    n.param = param;
    return add(to, std::move(n));
  }

  // Little-endian elements, dense arrays: the bytes stay as they are, also between widths.
  Lowered bitcast(Block& to) {
    const DType in = graph.shape(inputs[0]).dtype(), out = shapes[0].dtype();
    if (in == out) return inputs;
    if (bit_width(in) % 8 != 0 || bit_width(out) % 8 != 0) return unsupported("a bitcast of bits");
    return add(to, base(NodeKind::kReshape));
  }

  Lowered constant(Block& to) {
    const auto* dense = op.attr<ir::DenseAttr>("value");
    if (dense == nullptr) return unsupported("a constant that is not dense");
    Node n = base(NodeKind::kConstant);
    n.splat = dense->splat || shapes[0].elements() == 1;
    n.data = dense->share();
    // The bytes may lie inside a larger blob.
    n.data = std::shared_ptr<const std::byte[]>(n.data, dense->bytes.data());
    return add(to, std::move(n));
  }

  Lowered sort(Block& to) {
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

  Lowered gather(Block& to) {
    const auto* d = op.attr<ir::GatherDimsAttr>("dimension_numbers");
    if (d == nullptr) return unsupported("a gather without dimension numbers");
    Node n = base(NodeKind::kGather);
    n.indexed = {.offset = to_vector(d->offset_dims),
                 .collapsed = to_vector(d->collapsed_slice_dims),
                 .operand_batching = to_vector(d->operand_batching_dims),
                 .indices_batching = to_vector(d->start_indices_batching_dims),
                 .index_map = to_vector(d->start_index_map),
                 .index_vector_dim = d->index_vector_dim};
    n.slice_sizes = ints("slice_sizes");
    if (contains(n.slice_sizes, 0)) return unsupported("an empty slice");
    return add(to, std::move(n));
  }

  Lowered scatter(Block& to) {
    const auto* d = op.attr<ir::ScatterDimsAttr>("scatter_dimension_numbers");
    if (d == nullptr) return unsupported("a scatter without dimension numbers");
    Node n = base(NodeKind::kScatter);
    n.indexed = {.offset = to_vector(d->update_window_dims),
                 .collapsed = to_vector(d->inserted_window_dims),
                 .operand_batching = to_vector(d->input_batching_dims),
                 .indices_batching = to_vector(d->scatter_indices_batching_dims),
                 .index_map = to_vector(d->scatter_dims_to_operand_dims),
                 .index_vector_dim = d->index_vector_dim};
    return with_bodies(to, std::move(n));
  }

  // With the op's regions; of so many arrays that kernels take.
  Lowered with_bodies(Block& to, Node n) {
    if (shapes.size() > kMaxOperands) return unsupported("a body of so many arrays");
    MILLRACE_TRY(n.region, lower_region(module, op, 0));
    if (op.regions().size() > 1) {
      MILLRACE_TRY(n.region2, lower_region(module, op, 1));
    }
    return add(to, std::move(n));
  }

  Window window() const {
    Window w;
    w.size = ints("window_dimensions");
    const std::size_t rank = w.size.size();
    w.strides = ints_or("window_strides", rank, 1);
    w.base_dilations = ints_or("base_dilations", rank, 1);
    w.window_dilations = ints_or("window_dilations", rank, 1);
    const std::vector<std::int64_t> padding = ints_or("padding", 2 * rank, 0);
    for (std::size_t d = 0; d < rank; ++d) {
      w.pad_low.push_back(padding[2 * d]);
      w.pad_high.push_back(padding[2 * d + 1]);
    }
    return w;
  }

  Lowered dot(Block& to) {
    Node n = base(NodeKind::kDot);
    if (const auto* d = op.attr<ir::DotDimsAttr>("dot_dimension_numbers")) {
      n.dot = {.lhs_batch = to_vector(d->lhs_batching),
               .rhs_batch = to_vector(d->rhs_batching),
               .lhs_contract = to_vector(d->lhs_contracting),
               .rhs_contract = to_vector(d->rhs_contracting)};
    } else {
      n.dot = {.lhs_contract = {graph.shape(inputs[0]).rank() - 1}, .rhs_contract = {0}};
    }
    const Shape &lhs = graph.shape(inputs[0]), &rhs = graph.shape(inputs[1]);
    if (!can_contract(lhs.dtype(), rhs.dtype(), shapes[0].dtype()) &&
        !dot_fits_gemm(n.dot, lhs, rhs, shapes[0])) {
      return unsupported("this element type");
    }
    return add(to, std::move(n));
  }

  Lowered convolution(Block& to) {
    const auto* d = op.attr<ir::ConvDimsAttr>("dimension_numbers");
    if (d == nullptr) return unsupported("a convolution without dimension numbers");
    Node n = base(NodeKind::kConvolution);
    ConvolutionDims& c = n.convolution;
    c.input_batch = d->input_batch;
    c.input_feature = d->input_feature;
    c.kernel_input_feature = d->kernel_input_feature;
    c.kernel_output_feature = d->kernel_output_feature;
    c.output_batch = d->output_batch;
    c.output_feature = d->output_feature;
    c.input_spatial = to_vector(d->input_spatial);
    c.kernel_spatial = to_vector(d->kernel_spatial);
    c.output_spatial = to_vector(d->output_spatial);
    const std::size_t rank = c.input_spatial.size();
    c.strides = ints_or("window_strides", rank, 1);
    c.lhs_dilation = ints_or("lhs_dilation", rank, 1);
    c.rhs_dilation = ints_or("rhs_dilation", rank, 1);
    const std::vector<std::int64_t> padding = ints_or("padding", 2 * rank, 0);
    for (std::size_t i = 0; i < rank; ++i) {
      c.pad_low.push_back(padding[2 * i]);
      c.pad_high.push_back(padding[2 * i + 1]);
    }
    for (std::int64_t r : ints_or("window_reversal", rank, 0)) c.reversal.push_back(r != 0);
    c.feature_groups = op.int_or("feature_group_count", 1);
    c.batch_groups = op.int_or("batch_group_count", 1);
    const Shape &lhs = graph.shape(inputs[0]), &rhs = graph.shape(inputs[1]);
    if (!can_contract(lhs.dtype(), rhs.dtype(), shapes[0].dtype()) &&
        !GemmConvolution::fits(c, lhs, rhs, shapes[0])) {
      return unsupported("this element type");
    }
    return add(to, std::move(n));
  }
};

}  // namespace

Result<std::vector<ValueId>> lower_op(OpToLower op, Block& to) {
  return Lowering{std::move(op)}.run(to);
}

}  // namespace millrace::devices::cpu::compiler
