#include "millrace/devices/stablehlo/spread/pieces.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;
using sharding::Sharding;
using Dims = std::vector<std::int64_t>;

bool is_zero(std::int64_t n) { return n == 0; }

Dims summand_of(const Sharding& sharding, std::int64_t device, const Axes* axes) {
  Dims summand;
  const sharding::Mesh& mesh = *sharding.mesh;
  const auto place = mesh.place_of(device);
  if (!place || sharding.unreduced.empty()) return summand;
  const Dims at = mesh.coordinates(*place);
  for (const sharding::AxisRef& axis : sharding.unreduced) {
    const auto& [name, size] = mesh.axes[static_cast<std::size_t>(axis.axis)];
    if (axes != nullptr && std::ranges::find(*axes, name) == axes->end()) continue;
    summand.push_back(at[static_cast<std::size_t>(axis.axis)] / (size / axis.end()) % axis.size);
  }
  return summand;
}

ir::Value* combine(Maker& make, sharding::Reduction reduction, ir::Value* a, ir::Value* b) {
  switch (reduction) {
    case sharding::Reduction::kMax:
      return make.value(K::kMaximum, {a, b}, a->type());
    case sharding::Reduction::kMin:
      return make.value(K::kMinimum, {a, b}, a->type());
    default:
      return make.value(K::kAdd, {a, b}, a->type());
  }
}

// Parts that differ in this dimension and later ones, in order, become one array.
ir::Value* joined(Maker& make, std::span<const Part> parts, std::size_t dimension) {
  if (parts.size() == 1) return parts.front().value;
  std::vector<ir::Value*> slices;
  for (std::size_t begin = 0; begin < parts.size();) {
    const std::int64_t offset = parts[begin].piece.shard.offsets[dimension];
    std::size_t end = begin;
    while (end < parts.size() && parts[end].piece.shard.offsets[dimension] == offset) ++end;
    slices.push_back(joined(make, parts.subspan(begin, end - begin), dimension + 1));
    begin = end;
  }
  return make.concatenate(slices, static_cast<std::int64_t>(dimension));
}

}  // namespace

bool Piece::is_empty() const { return std::ranges::any_of(shard.sizes, is_zero); }
bool Piece::is_first_summand() const { return std::ranges::all_of(summand, is_zero); }
bool Piece::operator<(const Piece& other) const {
  return std::tie(shard.offsets, shard.sizes, summand) <
         std::tie(other.shard.offsets, other.shard.sizes, other.summand);
}

Piece piece_of(const Sharding& sharding, std::span<const std::int64_t> shape, std::int64_t device) {
  return {sharding::shard_of(sharding, shape, device), summand_of(sharding, device, nullptr)};
}
Piece piece_of(const Sharding& sharding, std::span<const std::int64_t> shape, std::int64_t device,
               Axes axes) {
  return {sharding::shard_of(sharding, shape, device, axes), summand_of(sharding, device, &axes)};
}

ir::Value* cut(Maker& make, ir::Value* whole, const Piece& piece, const Sharding& sharding,
               std::span<const std::int64_t> local_shape) {
  if (!whole->type().is_tensor()) return whole;
  const bool adds = sharding.reduction == sharding::Reduction::kSum;
  const ir::Type local = make.module().types().tensor(local_shape, whole->type().element());
  if (adds && !piece.is_first_summand()) return make.zeros(local);
  Dims limits(local_shape.size()), high(local_shape.size()), none(local_shape.size(), 0);
  std::ranges::transform(piece.shard.offsets, piece.shard.sizes, limits.begin(), std::plus<>());
  std::ranges::transform(local_shape, piece.shard.sizes, high.begin(), std::minus<>());
  ir::Value* part = make.slice(whole, piece.shard.offsets, limits);
  if (std::ranges::all_of(high, is_zero)) return part;
  ir::Value* zero = make.zeros(make.module().types().tensor({}, whole->type().element()));
  return make.value(K::kPad, {part, zero}, local,
                    {{"edge_padding_low", make.module().integers(none)},
                     {"edge_padding_high", make.module().integers(high)},
                     {"interior_padding", make.module().integers(none)}});
}

ir::Value* assemble(Maker& make, std::vector<Part> parts, const Sharding& sharding,
                    ir::Type whole) {
  if (!whole.is_tensor()) return parts.front().value;
  std::erase_if(parts, [](const Part& part) { return part.piece.is_empty(); });
  if (parts.empty()) return make.zeros(whole);
  std::ranges::sort(parts, std::less<>(), &Part::piece);
  std::vector<Part> places;
  for (const Part& part : parts) {
    const Dims none(part.piece.shard.sizes.size(), 0);
    ir::Value* inside = make.slice(part.value, none, part.piece.shard.sizes);
    if (!places.empty() && places.back().piece.shard == part.piece.shard) {
      places.back().value = combine(make, sharding.reduction, places.back().value, inside);
    } else {
      places.push_back({part.piece, inside});
    }
  }
  return joined(make, places, 0);
}

}  // namespace millrace::devices::stablehlo::spread
