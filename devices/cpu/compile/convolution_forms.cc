#include "millrace/devices/cpu/compile/convolution_forms.h"

#include <algorithm>
#include <optional>

#include "millrace/devices/cpu/kernels/dim_vector.h"

namespace millrace::devices::cpu::compiler {
namespace {

bool all_ones(const std::vector<std::int64_t>& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t x) { return x == 1; });
}

// Strides in the order first, second, spatial.
std::vector<std::int64_t> strides_of(const Shape& shape, std::int64_t first, std::int64_t second,
                                     const std::vector<std::int64_t>& spatial) {
  const DimVector strides = dense_strides(shape);
  std::vector<std::int64_t> out{strides[static_cast<std::size_t>(first)],
                                strides[static_cast<std::size_t>(second)]};
  for (std::int64_t d : spatial) out.push_back(strides[static_cast<std::size_t>(d)]);
  return out;
}

std::vector<std::int64_t> extents(const Shape& shape, const std::vector<std::int64_t>& spatial) {
  std::vector<std::int64_t> out;
  out.reserve(spatial.size());
  for (std::int64_t d : spatial) out.push_back(shape.dim(static_cast<int>(d)));
  return out;
}

class Forms {
 public:
  Forms(const ConvolutionDims& d, const Shape& lhs, const Shape& rhs, const Shape& result)
      : d_(d),
        lhs_(lhs),
        rhs_(rhs),
        result_(result),
        in_(extents(lhs, d.input_spatial)),
        kernel_(extents(rhs, d.kernel_spatial)),
        out_(extents(result, d.output_spatial)) {}

  bool plain_window() const { return all_ones(d_.lhs_dilation) && d_.batch_groups == 1; }
  // The window is larger than the result: what the gradient of weights looks like.
  bool kernel_exceeds_output() const { return product(kernel_) > product(out_); }

  std::optional<ConvolutionSpec> forward() const {
    if (!plain_window() || any_reversal() || !edges_fit(d_.pad_low, d_.pad_high))
      return std::nullopt;
    ConvolutionSpec s{.kind = ConvolutionKind::kForward,
                      .n = dim(lhs_, d_.input_batch),
                      .ic = dim(lhs_, d_.input_feature),
                      .oc = dim(rhs_, d_.kernel_output_feature),
                      .groups = d_.feature_groups,
                      .in = in_,
                      .out = out_,
                      .kernel = kernel_,
                      .strides = d_.strides,
                      .dilations = d_.rhs_dilation,
                      .pad_low = d_.pad_low,
                      .pad_high = d_.pad_high};
    s.source_strides = strides_of(lhs_, d_.input_batch, d_.input_feature, d_.input_spatial);
    s.weights_strides =
        strides_of(rhs_, d_.kernel_output_feature, d_.kernel_input_feature, d_.kernel_spatial);
    s.destination_strides =
        strides_of(result_, d_.output_batch, d_.output_feature, d_.output_spatial);
    return finish(s);
  }

  // result[ci, co, k] = sum over n, o of x[n, ci, o * s + k * d - pad] * dy[n, co, o], where the
  // program's batch is ci, its features n, its rhs dilation s and its strides d.
  std::optional<ConvolutionSpec> backward_weights() const {
    if (!plain_window() || any_reversal() || d_.feature_groups != 1) return std::nullopt;
    ConvolutionSpec s{.kind = ConvolutionKind::kBackwardWeights,
                      .n = dim(lhs_, d_.input_feature),
                      .ic = dim(lhs_, d_.input_batch),
                      .oc = dim(rhs_, d_.kernel_output_feature),
                      .in = in_,
                      .out = kernel_,
                      .kernel = out_,
                      .strides = d_.rhs_dilation,
                      .dilations = d_.strides,
                      .pad_low = d_.pad_low};
    s.source_strides = strides_of(lhs_, d_.input_feature, d_.input_batch, d_.input_spatial);
    s.destination_strides =
        strides_of(rhs_, d_.kernel_input_feature, d_.kernel_output_feature, d_.kernel_spatial);
    s.weights_strides = strides_of(result_, d_.output_feature, d_.output_batch, d_.output_spatial);
    return finish(s);
  }

  // lhs is dy, spread out by the forward strides; rhs the reversed weights. pad of the forward
  // convolution: dilation * (kernel - 1) - pad_low.
  std::optional<ConvolutionSpec> backward_data() const {
    if (!all_ones(d_.strides) || d_.batch_groups != 1 || d_.feature_groups != 1)
      return std::nullopt;
    ConvolutionSpec s{.kind = ConvolutionKind::kBackwardData,
                      .n = dim(lhs_, d_.input_batch),
                      .ic = dim(rhs_, d_.kernel_output_feature),
                      .oc = dim(lhs_, d_.input_feature),
                      .in = out_,
                      .out = in_,
                      .kernel = kernel_,
                      .strides = d_.lhs_dilation,
                      .dilations = d_.rhs_dilation};
    for (std::size_t i = 0; i < kernel_.size(); ++i) {
      s.pad_low.push_back(d_.rhs_dilation[i] * (kernel_[i] - 1) - d_.pad_low[i]);
    }
    s.source_strides = strides_of(result_, d_.output_batch, d_.output_feature, d_.output_spatial);
    s.weights_strides =
        strides_of(rhs_, d_.kernel_input_feature, d_.kernel_output_feature, d_.kernel_spatial);
    s.destination_strides = strides_of(lhs_, d_.input_batch, d_.input_feature, d_.input_spatial);
    return finish(s);
  }

  bool any_reversal() const {
    return std::find(d_.reversal.begin(), d_.reversal.end(), true) != d_.reversal.end();
  }
  bool all_reversed() const {
    return std::find(d_.reversal.begin(), d_.reversal.end(), false) == d_.reversal.end();
  }

 private:
  static std::int64_t dim(const Shape& shape, std::int64_t d) {
    return shape.dim(static_cast<int>(d));
  }
  static bool edges_fit(const std::vector<std::int64_t>& low,
                        const std::vector<std::int64_t>& high) {
    const auto negative = [](std::int64_t x) { return x < 0; };
    return std::none_of(low.begin(), low.end(), negative) &&
           std::none_of(high.begin(), high.end(), negative);
  }

  // The high padding that makes in, out and kernel agree; nullopt where oneDNN cannot have it.
  static std::optional<ConvolutionSpec> finish(ConvolutionSpec s) {
    s.pad_high.clear();
    for (std::size_t i = 0; i < s.kernel.size(); ++i) {
      const std::int64_t span = s.dilations[i] * (s.kernel[i] - 1) + 1;
      s.pad_high.push_back((s.out[i] - 1) * s.strides[i] + span - s.in[i] - s.pad_low[i]);
      // What the last window does not reach needs no padding.
      if (s.pad_high[i] < 0 && s.pad_high[i] > -s.strides[i]) s.pad_high[i] = 0;
      if (s.in[i] == 0 || s.out[i] == 0 || s.kernel[i] == 0) return std::nullopt;
    }
    const bool some = s.n > 0 && s.ic > 0 && s.oc > 0 && !s.kernel.empty() && s.kernel.size() <= 3;
    if (!some || !edges_fit(s.pad_low, s.pad_high)) return std::nullopt;
    return s;
  }

  const ConvolutionDims& d_;
  const Shape &lhs_, &rhs_, &result_;
  std::vector<std::int64_t> in_, kernel_, out_;
};

}  // namespace

std::vector<ConvolutionForm> convolution_forms(const ConvolutionDims& dims, const Shape& lhs,
                                               const Shape& rhs, const Shape& result,
                                               bool reversed) {
  const Forms forms(dims, lhs, rhs, result);
  std::vector<ConvolutionForm> list;
  const auto add = [&](std::optional<ConvolutionSpec> spec, WeightsUse use) {
    if (spec) list.push_back({*std::move(spec), use});
  };
  if (forms.kernel_exceeds_output()) add(forms.backward_weights(), WeightsUse::kAsTheyAre);
  if (reversed && !forms.any_reversal()) {
    add(forms.backward_data(), WeightsUse::kBeforeReverse);
  } else if (!forms.plain_window()) {
    if (!forms.any_reversal())
      add(forms.backward_data(), WeightsUse::kReverseFirst);
    else if (forms.all_reversed())
      add(forms.backward_data(), WeightsUse::kAsTheyAre);
  } else if (forms.any_reversal() && forms.all_reversed()) {
    add(forms.backward_data(), WeightsUse::kAsTheyAre);
  }
  if (list.empty() || list.front().spec.kind == ConvolutionKind::kBackwardData) {
    add(forms.forward(), WeightsUse::kAsTheyAre);
  }
  return list;
}

}  // namespace millrace::devices::cpu::compiler
