// Contractions: dot_general and convolution.
#include <limits>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

bool side_axes(Check& c, std::int64_t a, std::int64_t b, Ints spatial, std::string_view what) {
  const int rank = c.operand(0).rank();
  if (spatial.size() + 2 != static_cast<std::size_t>(rank)) {
    return c.fail("found ", spatial.size(), " spatial dimensions of the ", what,
                  ", expected its rank minus two, ", rank - 2);
  }
  return c.axes(Dims{a, b}, spatial, rank, ir::message(what, " dimension numbers"));
}

// Extents of features and batch divide by the groups and agree.
bool check_groups(Check& c, const ir::ConvDimsAttr& d, std::int64_t feature_groups,
                  std::int64_t batch_groups) {
  const auto divides = [&c](std::int64_t extent, std::int64_t groups, std::string_view what) {
    return extent == ir::kDynamic || extent % groups == 0 ||
           c.fail("the ", what, " extent ", extent, " does not divide by ", groups, " groups");
  };
  const std::int64_t input = c.operand(0).dim(d.input_feature);
  const std::int64_t kernel = c.operand(1).dim(d.kernel_input_feature);
  const std::int64_t output = c.operand(1).dim(d.kernel_output_feature);
  if (!divides(input, feature_groups, "input feature") ||
      !divides(output, feature_groups, "kernel output feature") ||
      !divides(output, batch_groups, "kernel output feature") ||
      !divides(c.operand(0).dim(d.input_batch), batch_groups, "input batch")) {
    return false;
  }
  return input == ir::kDynamic || kernel == ir::kDynamic || input / feature_groups == kernel ||
         c.fail("the kernel has ", kernel, " input features, expected ", input / feature_groups);
}

}  // namespace

bool windowed_extent(Check& c, std::int64_t extent, const Window& w, std::int64_t* out) {
  if (w.size < 0 || w.stride < 1 || w.base_dilation < 1 || w.window_dilation < 1) {
    return c.fail("found a window of size ", w.size, ", stride ", w.stride, ", dilations ",
                  w.base_dilation, " and ", w.window_dilation,
                  ", expected a size of at least 0 and the others at least 1");
  }
  *out = ir::kDynamic;
  if (extent == ir::kDynamic) return true;
  const auto dilated = [](std::int64_t n, std::int64_t by) {
    return n == 0 ? Wide{0} : Wide{n - 1} * by + 1;
  };
  const Wide padded = dilated(extent, w.base_dilation) + w.low + w.high;
  const Wide window = dilated(w.size, w.window_dilation);
  const Wide steps = padded <= 0 || window > padded ? Wide{0} : (padded - window) / w.stride + 1;
  if (steps > kMax) return c.fail("an extent after padding that does not fit in 64 bits");
  *out = static_cast<std::int64_t>(steps);
  return true;
}

bool check_dot_general(Check& c) {
  if (!c.counts(2, 1)) return false;
  const auto* d = c.op.attr<ir::DotDimsAttr>("dot_dimension_numbers");
  if (d == nullptr) return c.fail("the attribute dot_dimension_numbers is missing");
  const ir::Type left = c.operand(0), right = c.operand(1);
  if (!c.axes(d->lhs_batching, d->lhs_contracting, left.rank(), "the left dimensions") ||
      !c.axes(d->rhs_batching, d->rhs_contracting, right.rank(), "the right dimensions") ||
      !c.agree_at(d->lhs_batching, d->rhs_batching, "batching") ||
      !c.agree_at(d->lhs_contracting, d->rhs_contracting, "contracting")) {
    return false;
  }
  Dims expected;
  for (std::int64_t axis : d->lhs_batching) expected.push_back(left.dim(axis));
  append_others(expected, left, d->lhs_batching, d->lhs_contracting);
  append_others(expected, right, d->rhs_batching, d->rhs_contracting);
  return c.result_dims(0, expected);
}

// The padding of dynamic_conv is an operand: what the spatial extents become is not known yet.
bool check_convolution(Check& c) {
  const bool padded = c.op.kind() == ir::OpKind::kConvolution;
  if (!c.counts(padded ? 2 : 3, 1)) return false;
  const auto* attribute = c.op.attr<ir::ConvDimsAttr>("dimension_numbers");
  if (attribute == nullptr) return c.fail("the attribute dimension_numbers is missing");
  const ir::ConvDimsAttr& d = *attribute;
  const ir::Type input = c.operand(0), kernel = c.operand(1);
  const bool quantised = input.element().quant() != nullptr || kernel.element().quant() != nullptr;
  if (!quantised && !c.same_element(1, input)) return false;
  if (kernel.rank() != input.rank() || c.result().rank() != input.rank()) {
    return c.fail("found operands and result of rank ", input.rank(), ", ", kernel.rank(), " and ",
                  c.result().rank(), ", expected the same rank");
  }
  const std::size_t spatial = d.input_spatial.size();
  Dims strides, padding, lhs_dilation, rhs_dilation, reversal;
  std::int64_t feature_groups = 1, batch_groups = 1;
  if (!side_axes(c, d.input_batch, d.input_feature, d.input_spatial, "input") ||
      !side_axes(c, d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial, "kernel") ||
      !side_axes(c, d.output_batch, d.output_feature, d.output_spatial, "output") ||
      !c.ints("window_strides", spatial, &strides, 1) || !c.padding(spatial, &padding) ||
      !c.ints("lhs_dilation", spatial, &lhs_dilation, 1) ||
      !c.ints("rhs_dilation", spatial, &rhs_dilation, 1) ||
      !c.ints("window_reversal", spatial, &reversal, 0) ||
      !c.integer("feature_group_count", 1, kMax, &feature_groups) ||
      !c.integer("batch_group_count", 1, kMax, &batch_groups)) {
    return false;
  }
  if (feature_groups != 1 && batch_groups != 1)
    return c.fail("found feature and batch groups, expected at most one of them");
  if (!check_groups(c, d, feature_groups, batch_groups)) return false;
  if (!padded && (!c.element_in(2, kInteger) ||
                  !c.same_dims(2, Dims{static_cast<std::int64_t>(spatial), 2}))) {
    return false;
  }
  Dims expected(input.dims().size(), ir::kDynamic);
  const std::int64_t batch = input.dim(d.input_batch);
  expected[static_cast<std::size_t>(d.output_batch)] =
      batch == ir::kDynamic ? batch : batch / batch_groups;
  expected[static_cast<std::size_t>(d.output_feature)] = kernel.dim(d.kernel_output_feature);
  for (std::size_t i = 0; padded && i < spatial; ++i) {
    const Window window{kernel.dim(d.kernel_spatial[i]),
                        strides[i],
                        lhs_dilation[i],
                        rhs_dilation[i],
                        padding[2 * i],
                        padding[2 * i + 1]};
    if (window.size != ir::kDynamic &&
        !windowed_extent(c, input.dim(d.input_spatial[i]), window,
                         &expected[static_cast<std::size_t>(d.output_spatial[i])])) {
      return false;
    }
  }
  return c.result_dims(0, expected);
}

}  // namespace millrace::devices::stablehlo::verify
