#include "millrace/devices/cpu/compile/unit_kernel.h"

#include <algorithm>
#include <optional>

#include "millrace/devices/cpu/kernels/base/dim_vector.h"

namespace millrace::devices::cpu::compiler {
namespace {

bool all_ones(const std::vector<std::int64_t>& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t x) { return x == 1; });
}

// An array as oneDNN takes it: its dimensions in the order first, second, spatial.
struct Side {
  const Shape& shape;
  std::int64_t first, second;
  const std::vector<std::int64_t>& spatial;

  std::int64_t size(std::int64_t d) const { return shape.dim(static_cast<int>(d)); }
  std::vector<std::int64_t> extents() const {
    std::vector<std::int64_t> out;
    for (std::int64_t d : spatial) out.push_back(size(d));
    return out;
  }
  std::vector<std::int64_t> strides() const {
    const DimVector all = dense_strides(shape);
    std::vector<std::int64_t> out;
    for (std::int64_t d : {first, second}) out.push_back(all[static_cast<std::size_t>(d)]);
    for (std::int64_t d : spatial) out.push_back(all[static_cast<std::size_t>(d)]);
    return out;
  }
};

class Forms {
 public:
  Forms(const ConvolutionDims& d, const Shape& lhs, const Shape& rhs, const Shape& result)
      : d_(d),
        lhs_{lhs, d.input_batch, d.input_feature, d.input_spatial},
        rhs_{rhs, d.kernel_output_feature, d.kernel_input_feature, d.kernel_spatial},
        result_{result, d.output_batch, d.output_feature, d.output_spatial} {}

  bool plain_window() const { return all_ones(d_.lhs_dilation) && d_.batch_groups == 1; }
  // The window is larger than the result: what the gradient of weights looks like.
  bool kernel_exceeds_output() const {
    return product(rhs_.extents()) > product(result_.extents());
  }

  std::optional<ConvolutionSpec> forward() const {
    if (!plain_window() || any_reversal() || !edges_fit(d_.pad_low, d_.pad_high))
      return std::nullopt;
    return spec(ConvolutionKind::kForward, lhs_, rhs_, result_, d_.strides, d_.rhs_dilation,
                d_.pad_low);
  }

  // result[ci, co, k] = sum over n, o of x[n, ci, o * s + k * d - pad] * dy[n, co, o], where the
  // program's batch is ci, its features n, its rhs dilation s and its strides d.
  std::optional<ConvolutionSpec> backward_weights() const {
    if (!plain_window() || any_reversal() || d_.feature_groups != 1) return std::nullopt;
    return spec(ConvolutionKind::kBackwardWeights, swapped(lhs_), swapped(result_), swapped(rhs_),
                d_.rhs_dilation, d_.strides, d_.pad_low);
  }

  // lhs is dy, spread out by the forward strides; rhs the reversed weights. pad of the forward
  // convolution: dilation * (kernel - 1) - pad_low.
  std::optional<ConvolutionSpec> backward_data() const {
    if (!all_ones(d_.strides) || d_.batch_groups != 1 || d_.feature_groups != 1)
      return std::nullopt;
    std::vector<std::int64_t> pad_low = rhs_.extents();
    for (std::size_t i = 0; i < pad_low.size(); ++i)
      pad_low[i] = d_.rhs_dilation[i] * (pad_low[i] - 1) - d_.pad_low[i];
    return spec(ConvolutionKind::kBackwardData, result_, swapped(rhs_), lhs_, d_.lhs_dilation,
                d_.rhs_dilation, pad_low);
  }

  bool any_reversal() const {
    return std::find(d_.reversal.begin(), d_.reversal.end(), true) != d_.reversal.end();
  }
  bool all_reversed() const {
    return std::find(d_.reversal.begin(), d_.reversal.end(), false) == d_.reversal.end();
  }

 private:
  static Side swapped(const Side& side) {
    return {side.shape, side.second, side.first, side.spatial};
  }
  static bool edges_fit(const std::vector<std::int64_t>& low,
                        const std::vector<std::int64_t>& high) {
    const auto negative = [](std::int64_t x) { return x < 0; };
    return std::none_of(low.begin(), low.end(), negative) &&
           std::none_of(high.begin(), high.end(), negative);
  }

  // The sizes, and the high padding, follow from the arrays; nullopt where oneDNN cannot have it.
  std::optional<ConvolutionSpec> spec(ConvolutionKind kind, const Side& source, const Side& weights,
                                      const Side& destination,
                                      const std::vector<std::int64_t>& strides,
                                      const std::vector<std::int64_t>& dilations,
                                      const std::vector<std::int64_t>& pad_low) const {
    ConvolutionSpec s{.kind = kind,
                      .n = source.size(source.first),
                      .ic = source.size(source.second),
                      .oc = destination.size(destination.second),
                      .groups = d_.feature_groups,
                      .in = source.extents(),
                      .out = destination.extents(),
                      .kernel = weights.extents(),
                      .strides = strides,
                      .dilations = dilations,
                      .pad_low = pad_low};
    s.source_strides = source.strides();
    s.weights_strides = weights.strides();
    s.destination_strides = destination.strides();
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
  const Side lhs_, rhs_, result_;
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
