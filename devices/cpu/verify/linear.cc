// Contractions: dot_general and convolution.
#include <algorithm>
#include <limits>

#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

using ir::Ints;

bool contains(Ints list, std::int64_t value) {
  return std::ranges::find(list, value) != list.end();
}

// Extents at these axes of both sides agree, pairwise.
bool agree_at(Check& c, Ints left, Ints right, std::string_view what) {
  if (left.size() != right.size()) {
    return c.fail("found " + std::to_string(left.size()) + " " + std::string(what) +
                  " dimensions on the left and " + std::to_string(right.size()) +
                  " on the right, expected the same number");
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::int64_t a = c.operand(0).dims()[static_cast<std::size_t>(left[i])];
    const std::int64_t b = c.operand(1).dims()[static_cast<std::size_t>(right[i])];
    if (!agree(a, b)) {
      return c.fail(std::string(what) + " dimension " + std::to_string(left[i]) +
                    " on the left is " + std::to_string(a) + ", dimension " +
                    std::to_string(right[i]) + " on the right " + std::to_string(b) +
                    ": expected the same");
    }
  }
  return true;
}

bool joint_axes(Check& c, Ints a, Ints b, int rank, std::string_view what) {
  Dims both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  return c.axes(both, rank, what);
}

// What a convolution's attributes say.
struct Convolution {
  const ir::ConvDimsAttr* dims = nullptr;
  Dims strides, padding, lhs_dilation, rhs_dilation;
  std::int64_t feature_groups = 1, batch_groups = 1;
};

bool side_axes(Check& c, std::int64_t a, std::int64_t b, Ints spatial, int rank,
               std::string_view what) {
  if (spatial.size() + 2 != static_cast<std::size_t>(rank)) {
    return c.fail("found " + std::to_string(spatial.size()) + " spatial dimensions of the " +
                  std::string(what) + ", expected its rank minus two, " + std::to_string(rank - 2));
  }
  return joint_axes(c, std::vector{a, b}, spatial, rank, std::string(what) + " dimension numbers");
}

bool read_convolution(Check& c, Convolution* out) {
  out->dims = c.op.attr<ir::ConvDimsAttr>("dimension_numbers");
  if (out->dims == nullptr) return c.fail("the attribute dimension_numbers is missing");
  const ir::ConvDimsAttr& d = *out->dims;
  const bool quantised =
      c.operand(0).element().quant() != nullptr || c.operand(1).element().quant() != nullptr;
  if (!quantised && !c.same_element(c.operand(1), c.operand(0), "operand 1")) return false;
  const int rank = c.operand(0).rank();
  if (c.operand(1).rank() != rank || c.result().rank() != rank) {
    return c.fail("found operands and result of rank " + std::to_string(rank) + ", " +
                  std::to_string(c.operand(1).rank()) + " and " +
                  std::to_string(c.result().rank()) + ", expected the same rank");
  }
  if (!side_axes(c, d.input_batch, d.input_feature, d.input_spatial, rank, "input") ||
      !side_axes(c, d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial, rank,
                 "kernel") ||
      !side_axes(c, d.output_batch, d.output_feature, d.output_spatial, rank, "output")) {
    return false;
  }
  const std::size_t spatial = d.input_spatial.size();
  Dims reversal;
  if (!c.ints("window_strides", spatial, &out->strides, 1) || !c.padding(spatial, &out->padding) ||
      !c.ints("lhs_dilation", spatial, &out->lhs_dilation, 1) ||
      !c.ints("rhs_dilation", spatial, &out->rhs_dilation, 1) ||
      !c.ints("window_reversal", spatial, &reversal, 0)) {
    return false;
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!c.integer("feature_group_count", 1, kMax, &out->feature_groups) ||
      !c.integer("batch_group_count", 1, kMax, &out->batch_groups)) {
    return false;
  }
  return out->feature_groups == 1 || out->batch_groups == 1 ||
         c.fail("found feature and batch groups, expected at most one of them");
}

// Extents of features and batch divide by the groups and agree.
bool check_groups(Check& c, const Convolution& conv) {
  const auto at = [&c](int operand, std::int64_t axis) {
    return c.operand(operand).dims()[static_cast<std::size_t>(axis)];
  };
  const auto divides = [&c](std::int64_t extent, std::int64_t groups, std::string_view what) {
    return extent == ir::kDynamic || extent % groups == 0 ||
           c.fail("the " + std::string(what) + " extent " + std::to_string(extent) +
                  " does not divide by " + std::to_string(groups) + " groups");
  };
  const std::int64_t input = at(0, conv.dims->input_feature);
  const std::int64_t kernel = at(1, conv.dims->kernel_input_feature);
  const std::int64_t output = at(1, conv.dims->kernel_output_feature);
  if (!divides(input, conv.feature_groups, "input feature") ||
      !divides(output, conv.feature_groups, "kernel output feature") ||
      !divides(output, conv.batch_groups, "kernel output feature") ||
      !divides(at(0, conv.dims->input_batch), conv.batch_groups, "input batch")) {
    return false;
  }
  if (input == ir::kDynamic || kernel == ir::kDynamic || input / conv.feature_groups == kernel)
    return true;
  return c.fail("the kernel has " + std::to_string(kernel) + " input features, expected " +
                std::to_string(input / conv.feature_groups));
}

}  // namespace

bool windowed_extent(Check& c, std::int64_t extent, const Window& w, std::int64_t* out) {
  if (w.size < 0 || w.stride < 1 || w.base_dilation < 1 || w.window_dilation < 1) {
    return c.fail("found a window of size " + std::to_string(w.size) + ", stride " +
                  std::to_string(w.stride) + ", dilations " + std::to_string(w.base_dilation) +
                  " and " + std::to_string(w.window_dilation) +
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
  if (steps > std::numeric_limits<std::int64_t>::max())
    return c.fail("an extent after padding that does not fit in 64 bits");
  *out = static_cast<std::int64_t>(steps);
  return true;
}

bool check_dot_general(Check& c) {
  if (!c.operands(2) || !c.results(1)) return false;
  const auto* d = c.op.attr<ir::DotDimsAttr>("dot_dimension_numbers");
  if (d == nullptr) return c.fail("the attribute dot_dimension_numbers is missing");
  const ir::Type left = c.operand(0);
  const ir::Type right = c.operand(1);
  if (!joint_axes(c, d->lhs_batching, d->lhs_contracting, left.rank(), "the left dimensions") ||
      !joint_axes(c, d->rhs_batching, d->rhs_contracting, right.rank(), "the right dimensions") ||
      !agree_at(c, d->lhs_batching, d->rhs_batching, "batching") ||
      !agree_at(c, d->lhs_contracting, d->rhs_contracting, "contracting")) {
    return false;
  }
  Dims expected;
  for (std::int64_t axis : d->lhs_batching)
    expected.push_back(left.dims()[static_cast<std::size_t>(axis)]);
  for (int i = 0; i < left.rank(); ++i) {
    if (!contains(d->lhs_batching, i) && !contains(d->lhs_contracting, i))
      expected.push_back(left.dims()[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < right.rank(); ++i) {
    if (!contains(d->rhs_batching, i) && !contains(d->rhs_contracting, i))
      expected.push_back(right.dims()[static_cast<std::size_t>(i)]);
  }
  return c.result_dims(0, expected);
}

// The padding is an operand: what the spatial extents become is not known yet.
bool check_dynamic_conv(Check& c) {
  Convolution conv;
  if (!c.operands(3) || !c.results(1) || !read_convolution(c, &conv) || !check_groups(c, conv) ||
      !c.element_in(c.operand(2), kInteger, "operand 2")) {
    return false;
  }
  const ir::ConvDimsAttr& d = *conv.dims;
  const std::int64_t padding[] = {static_cast<std::int64_t>(d.input_spatial.size()), 2};
  if (!c.same_dims(c.operand(2).dims(), padding, "operand 2")) return false;
  Dims expected(c.operand(0).dims().size(), ir::kDynamic);
  const std::int64_t batch = c.operand(0).dims()[static_cast<std::size_t>(d.input_batch)];
  expected[static_cast<std::size_t>(d.output_batch)] =
      batch == ir::kDynamic ? batch : batch / conv.batch_groups;
  expected[static_cast<std::size_t>(d.output_feature)] =
      c.operand(1).dims()[static_cast<std::size_t>(d.kernel_output_feature)];
  return c.result_dims(0, expected);
}

bool check_convolution(Check& c) {
  Convolution conv;
  if (!c.operands(2) || !c.results(1) || !read_convolution(c, &conv) || !check_groups(c, conv))
    return false;
  const ir::ConvDimsAttr& d = *conv.dims;
  const auto input = c.operand(0).dims();
  const auto kernel = c.operand(1).dims();
  Dims expected(input.size(), ir::kDynamic);
  const std::int64_t batch = input[static_cast<std::size_t>(d.input_batch)];
  expected[static_cast<std::size_t>(d.output_batch)] =
      batch == ir::kDynamic ? batch : batch / conv.batch_groups;
  expected[static_cast<std::size_t>(d.output_feature)] =
      kernel[static_cast<std::size_t>(d.kernel_output_feature)];
  for (std::size_t i = 0; i < d.input_spatial.size(); ++i) {
    const std::int64_t size = kernel[static_cast<std::size_t>(d.kernel_spatial[i])];
    if (size == ir::kDynamic) continue;
    const Window window{size,
                        conv.strides[i],
                        conv.lhs_dilation[i],
                        conv.rhs_dilation[i],
                        conv.padding[2 * i],
                        conv.padding[2 * i + 1]};
    if (!windowed_extent(c, input[static_cast<std::size_t>(d.input_spatial[i])], window,
                         &expected[static_cast<std::size_t>(d.output_spatial[i])])) {
      return false;
    }
  }
  return c.result_dims(0, expected);
}

}  // namespace millrace::devices::cpu::verify
