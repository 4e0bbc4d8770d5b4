#include "millrace/devices/stablehlo/spread/known_parts.h"

#include <algorithm>
#include <utility>

namespace millrace::devices::stablehlo::spread {
namespace {

using sharding::Sharding;

// Whether arrays lie the same by both, whatever else they say.
bool lie_the_same(const Sharding& a, const Sharding& b) {
  const auto same_axes = [](const sharding::DimSharding& x, const sharding::DimSharding& y) {
    return x.axes == y.axes;
  };
  return a.mesh->axes == b.mesh->axes && a.mesh->device_ids == b.mesh->device_ids &&
         std::ranges::equal(a.dims, b.dims, same_axes) && a.unreduced == b.unreduced;
}

}  // namespace

void KnownParts::add(const ir::Value* whole, const Sharding& sharding,
                     std::vector<ir::Value*> by_device) {
  known_.insert_or_assign(whole, Known{sharding, std::move(by_device)});
}

ir::Value* KnownParts::find(const ir::Value* whole, const Sharding& sharding, int device) const {
  const auto known = known_.find(whole);
  if (known == known_.end() || !lie_the_same(known->second.sharding, sharding)) return nullptr;
  return known->second.by_device[static_cast<std::size_t>(device)];
}

}  // namespace millrace::devices::stablehlo::spread
