// The message has one array of devices, whose dimensions are those of the tiles and then those of
// what is not cut: unreduced, replicated. It is written as 0, 1, 2, ... reshaped and transposed
// (iota_reshape_dims, iota_transpose_perm), or device by device.
#include "millrace/devices/stablehlo/sharding/op_sharding.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace millrace::devices::stablehlo::sharding {
namespace {

using Numbers = std::vector<std::int64_t>;

// The numbers of the message's fields and of its enumeration of types.
enum Field : std::uint8_t {
  kTypeField = 1,
  kTileDims = 3,
  kTileDevices = 4,
  kReplicateLast = 6,
  kLastTileDims = 8,
  kIotaDims = 9,
  kIotaPermutation = 10,
};
enum OpShardingType : std::uint8_t { kMaximal = 1, kTiled = 3, kUnreduced = 6, kReplicated = 0 };

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  out += static_cast<char>(value);
}

void put_number(std::string& out, Field field, std::uint64_t value) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3);
  put_varint(out, value);
}

// A packed list; nothing if it is empty.
void put_list(std::string& out, Field field, const Numbers& values) {
  if (values.empty()) return;
  std::string packed;
  for (const std::int64_t value : values) put_varint(packed, static_cast<std::uint64_t>(value));
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | 2);
  put_varint(out, packed.size());
  out += packed;
}

// Each axis of the mesh cut into the parts that the sharding names and what lies between, in the
// order of the mesh; those of size 1 are left out.
std::vector<AxisRef> parts_of_mesh(const Sharding& sharding) {
  const Mesh& mesh = *sharding.mesh;
  std::vector<std::vector<std::int64_t>> cuts(mesh.axes.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i] = {1, mesh.axes[i].size};
  const auto cut = [&](const AxisRef& axis) {
    auto& of = cuts[static_cast<std::size_t>(axis.axis)];
    of.push_back(axis.pre_size);
    of.push_back(axis.end());
  };
  for (const DimSharding& dim : sharding.dims) std::ranges::for_each(dim.axes, cut);
  std::ranges::for_each(sharding.unreduced, cut);
  std::vector<AxisRef> out;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    std::ranges::sort(cuts[i]);
    for (std::size_t k = 1; k < cuts[i].size(); ++k) {
      const std::int64_t size = cuts[i][k] / cuts[i][k - 1];
      if (size > 1) out.push_back({static_cast<int>(i), cuts[i][k - 1], size});
    }
  }
  return out;
}

// The grid of devices, reshaped to `dims` and transposed by `permutation`.
struct Transposed {
  Numbers dims;
  Numbers permutation;
};

// Neighbours that stay neighbours become one dimension.
Transposed merged(const Transposed& given) {
  const std::size_t n = given.dims.size();
  std::vector<bool> follows(n, false);  // joined to the dimension before it
  for (std::size_t i = 1; i < n; ++i) {
    if (given.permutation[i] == given.permutation[i - 1] + 1)
      follows[static_cast<std::size_t>(given.permutation[i])] = true;
  }
  Transposed out;
  Numbers number(n);
  for (std::size_t i = 0; i < n; ++i) {
    follows[i] ? void(out.dims.back() *= given.dims[i]) : out.dims.push_back(given.dims[i]);
    number[i] = std::ssize(out.dims) - 1;
  }
  for (const std::int64_t p : given.permutation) {
    const auto place = static_cast<std::size_t>(p);
    if (!follows[place]) out.permutation.push_back(number[place]);
  }
  return out;
}

// The places of the grid in the transposed order.
Numbers places_of(const Transposed& grid) {
  const std::size_t n = grid.dims.size();
  Numbers strides(n, 1);
  for (std::size_t i = n; i-- > 1;) strides[i - 1] = strides[i] * grid.dims[i];
  Numbers out = {0};
  for (const std::int64_t p : grid.permutation) {
    const auto d = static_cast<std::size_t>(p);
    Numbers next;
    for (const std::int64_t place : out) {
      for (std::int64_t k = 0; k < grid.dims[d]; ++k) next.push_back(place + k * strides[d]);
    }
    out = std::move(next);
  }
  return out;
}

// What comes of the sharding on a mesh with axes.
std::string tiled(const Sharding& sharding) {
  const std::vector<AxisRef> parts = parts_of_mesh(sharding);
  Transposed grid;
  for (const AxisRef& part : parts) grid.dims.push_back(part.size);
  std::vector<bool> used(parts.size(), false);
  const auto take = [&](const AxisRef& axis) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (used[i] || !axis.overlaps(parts[i])) continue;
      grid.permutation.push_back(static_cast<std::int64_t>(i));
      used[i] = true;
    }
    return axis.size;
  };
  Numbers tiles;
  for (const DimSharding& dim : sharding.dims) {
    tiles.push_back(1);
    for (const AxisRef& axis : dim.axes) tiles.back() *= take(axis);
  }
  std::int64_t unreduced = 1, replicated = 1;
  for (const AxisRef& axis : sharding.unreduced) unreduced *= take(axis);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!used[i]) replicated *= take(parts[i]);
  }
  std::string out;
  const bool cut = std::ranges::any_of(tiles, [](std::int64_t tile) { return tile != 1; });
  if (!cut && unreduced == 1) return out;  // replicated, the default of all fields
  if (!cut && replicated == 1) {
    put_number(out, kTypeField, kUnreduced);
    return out;
  }
  put_number(out, kTypeField, kTiled);
  if (unreduced != 1) tiles.push_back(unreduced);
  if (replicated != 1) tiles.push_back(replicated);
  put_list(out, kTileDims, tiles);
  const Numbers& ids = sharding.mesh->device_ids;
  if (!ids.empty()) {
    Numbers devices = places_of(grid);
    for (std::int64_t& device : devices) device = ids[static_cast<std::size_t>(device)];
    put_list(out, kTileDevices, devices);
  }
  if (unreduced == 1 && replicated != 1) put_number(out, kReplicateLast, 1);
  if (unreduced != 1)
    put_list(out, kLastTileDims,
             replicated != 1 ? Numbers{kUnreduced, kReplicated} : Numbers{kUnreduced});
  if (!ids.empty()) return out;
  const Transposed small = merged(grid);
  put_list(out, kIotaDims, small.dims);
  put_list(out, kIotaPermutation, small.permutation);
  return out;
}

}  // namespace

std::string to_op_sharding(const Sharding& sharding) {
  if (!sharding.mesh->is_maximal()) return tiled(sharding);
  std::string out;
  put_number(out, kTypeField, kMaximal);
  put_list(out, kTileDevices, sharding.mesh->device_ids);
  return out;
}

}  // namespace millrace::devices::stablehlo::sharding
