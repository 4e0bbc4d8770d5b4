// The operations of OpLowering that have dimension numbers, windows or bodies.
#include <string>

#include "millrace/devices/cpu/kernels/gemm_convolution.h"
#include "millrace/devices/cpu/plan/lower_op.h"
#include "millrace/devices/cpu/plan/lower_region.h"

namespace millrace::devices::cpu::plan {
namespace {

std::vector<std::int64_t> to_vector(ir::Ints values) { return {values.begin(), values.end()}; }

constexpr std::size_t kMaxVariadic = 8;

}  // namespace

Result<std::vector<ValueId>> OpLowering::gather(Block& to) {
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

Result<std::vector<ValueId>> OpLowering::scatter(Block& to) {
  const auto* d = op.attr<ir::ScatterDimsAttr>("scatter_dimension_numbers");
  if (d == nullptr) return unsupported("a scatter without dimension numbers");
  if (shapes.size() > kMaxVariadic) return unsupported("a scatter of so many arrays");
  Node n = base(NodeKind::kScatter);
  n.indexed = {.offset = to_vector(d->update_window_dims),
               .collapsed = to_vector(d->inserted_window_dims),
               .operand_batching = to_vector(d->input_batching_dims),
               .indices_batching = to_vector(d->scatter_indices_batching_dims),
               .index_map = to_vector(d->scatter_dims_to_operand_dims),
               .index_vector_dim = d->index_vector_dim};
  MILLRACE_TRY(n.region, lower_region(module, op, 0));
  return add(to, std::move(n));
}

Result<std::vector<ValueId>> OpLowering::reduce(Block& to) {
  if (shapes.size() > kMaxVariadic) return unsupported("a reduction of so many arrays");
  Node n = base(NodeKind::kReduce);
  n.dims = ints("dimensions");
  MILLRACE_TRY(n.region, lower_region(module, op, 0));
  return add(to, std::move(n));
}

Result<Window> OpLowering::window() const {
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

Result<std::vector<ValueId>> OpLowering::reduce_window(Block& to) {
  if (shapes.size() > kMaxVariadic) return unsupported("a reduction of so many arrays");
  Node n = base(NodeKind::kReduceWindow);
  MILLRACE_TRY(n.window, window());
  MILLRACE_TRY(n.region, lower_region(module, op, 0));
  return add(to, std::move(n));
}

Result<std::vector<ValueId>> OpLowering::select_and_scatter(Block& to) {
  Node n = base(NodeKind::kSelectAndScatter);
  MILLRACE_TRY(n.window, window());
  MILLRACE_TRY(n.region, lower_region(module, op, 0));
  MILLRACE_TRY(n.region2, lower_region(module, op, 1));
  return add(to, std::move(n));
}

Result<std::vector<ValueId>> OpLowering::dot(Block& to) {
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

Result<std::vector<ValueId>> OpLowering::convolution(Block& to) {
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

}  // namespace millrace::devices::cpu::plan
