#include <algorithm>

#include "millrace/devices/cpu/kernels/contraction/accumulate.h"
#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {

namespace {

// Element by element: batch groups split the batch, feature groups the features; both split the
// output features (StableHLO, "convolution").
template <class T>
void convolve(const Call& c, const ir::ConvDimsAttr* d) {
  const ConstArray &lhs = c.operands[0], &rhs = c.operands[1];
  const MutableArray& to = c.results[0];
  const DType type = to.shape.dtype();
  const auto a = c.scratch.take<T>(lhs.shape.elements()),
             b = c.scratch.take<T>(rhs.shape.elements());
  if (c.scratch.measures()) return;
  const std::size_t spatial = d->input_spatial.size();
  const Integers strides = ints_or(c, "window_strides", spatial, 1),
                 lhs_dilation = ints_or(c, "lhs_dilation", spatial, 1),
                 rhs_dilation = ints_or(c, "rhs_dilation", spatial, 1),
                 reversal = ints_or(c, "window_reversal", spatial, 0);
  const Integers padding = c.op.kind() == ir::OpKind::kDynamicConv
                               ? index_vector(c.operands[2])
                               : ints_or(c, "padding", 2 * spatial, 0);
  const std::int64_t feature_groups = c.op.int_or("feature_group_count", 1),
                     batch_groups = c.op.int_or("batch_group_count", 1);
  const auto extent = [](const Shape& s, std::int64_t i) { return s.dim(static_cast<int>(i)); };
  const std::int64_t outputs = extent(rhs.shape, d->kernel_output_feature),
                     inputs = extent(rhs.shape, d->kernel_input_feature),
                     batch_size = extent(lhs.shape, d->input_batch) / batch_groups;
  const std::int64_t per_feature_group = outputs / feature_groups,
                     per_batch_group = outputs / batch_groups;
  load_terms(lhs, type, a);
  load_terms(rhs, type, b);
  const DimVector lhs_strides = dense_strides(lhs.shape), rhs_strides = dense_strides(rhs.shape);
  const auto step = [](const DimVector& s, std::int64_t i) {
    return s[static_cast<std::size_t>(i)];
  };
  DimVector window;
  for (std::int64_t s : d->kernel_spatial) window.push_back(extent(rhs.shape, s));

  each_index(to.shape.dims(), [&](const DimVector& out, std::int64_t linear) {
    const std::int64_t feature = step(out, d->output_feature);
    const std::int64_t first_input = feature_groups > 1 ? feature / per_feature_group * inputs : 0;
    const std::int64_t batch = step(out, d->output_batch) +
                               (batch_groups > 1 ? feature / per_batch_group * batch_size : 0);
    T sum[1] = {};
    each_index(window, [&](const DimVector& in, std::int64_t) {
      std::int64_t l = batch * step(lhs_strides, d->input_batch);
      std::int64_t r = feature * step(rhs_strides, d->kernel_output_feature);
      for (std::size_t s = 0; s < spatial; ++s) {
        const std::int64_t place =
            step(out, d->output_spatial[s]) * strides[s] + in[s] * rhs_dilation[s] - padding[2 * s];
        if (place < 0 || place % lhs_dilation[s] != 0) return;
        const std::int64_t i = place / lhs_dilation[s];
        if (i >= extent(lhs.shape, d->input_spatial[s])) return;
        l += i * step(lhs_strides, d->input_spatial[s]);
        r += (reversal[s] != 0 ? window[s] - 1 - in[s] : in[s]) *
             step(rhs_strides, d->kernel_spatial[s]);
      }
      l += first_input * step(lhs_strides, d->input_feature);
      for (std::int64_t i = 0; i < inputs; ++i) {
        add_product(sum[0], a[static_cast<std::size_t>(l)], b[static_cast<std::size_t>(r)]);
        l += step(lhs_strides, d->input_feature);
        r += step(rhs_strides, d->kernel_input_feature);
      }
    });
    store_sums<T>(sum, to, linear);
  });
}

}  // namespace

Status run_convolution(const Call& c) {
  const auto* d = c.op.attr<ir::ConvDimsAttr>("dimension_numbers");
  if (d == nullptr)
    return fail(ErrorCode::kInvalidArgument, c.op.where() + ": no dimension numbers");
  with_sum_type(c.results[0].shape.dtype(),
                [&](auto tag) { convolve<typename decltype(tag)::type>(c, d); });
  return {};
}

}  // namespace millrace::devices::cpu::definition
