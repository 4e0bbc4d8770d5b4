#include "millrace/devices/stablehlo/propagate/graph.h"

#include <algorithm>

namespace millrace::devices::stablehlo::propagate {
namespace {

using sharding::DimSharding;
using sharding::Sharding;

bool is_manual(const Tensor& view, const AxisRef& axis) {
  return std::ranges::find(view.manual_axes, axis.axis) != view.manual_axes.end();
}

}  // namespace

std::optional<Sharding> Graph::sharding_of(int tensor) const {
  const Tensor& t = tensors_[static_cast<std::size_t>(tensor)];
  std::optional<Sharding> out = tensors_[static_cast<std::size_t>(root(tensor))].sharding;
  if (t.view_of < 0 || !out) return out;
  const auto drop = [&](AxisList& axes) {
    std::erase_if(axes, [&](const AxisRef& axis) { return is_manual(t, axis); });
  };
  for (DimSharding& dim : out->dims) drop(dim.axes);
  drop(out->replicated);
  drop(out->unreduced);
  return out;
}

void Graph::set_sharding(int tensor, const Sharding& sharding) {
  const Tensor& t = tensors_[static_cast<std::size_t>(tensor)];
  Tensor& of = tensors_[static_cast<std::size_t>(root(tensor))];
  if (t.view_of < 0 || !of.sharding) {
    of.sharding = sharding;
    return;
  }
  // Manual axes come first in a dimension.
  for (std::size_t d = 0; d < of.sharding->dims.size(); ++d) {
    DimSharding& dim = of.sharding->dims[d];
    std::erase_if(dim.axes, [&](const AxisRef& axis) { return !is_manual(t, axis); });
    const AxisList& added = sharding.dims[d].axes;
    dim.axes.insert(dim.axes.end(), added.begin(), added.end());
    dim.open = sharding.dims[d].open;
  }
}

}  // namespace millrace::devices::stablehlo::propagate
