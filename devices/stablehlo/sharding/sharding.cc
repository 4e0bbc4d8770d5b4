#include "millrace/devices/stablehlo/sharding/sharding.h"

#include <algorithm>
#include <numeric>

#include "millrace/devices/stablehlo/ir/print.h"

namespace millrace::devices::stablehlo::sharding {
namespace {

bool is_whole(const AxisRef& axis, const Mesh& mesh) {
  return axis.pre_size == 1 && axis.size == mesh.axes[static_cast<std::size_t>(axis.axis)].size;
}

std::string axis_list(const std::vector<AxisRef>& axes, const Mesh& mesh) {
  std::string out;
  ir::append_list(out, axes, [&](const AxisRef& axis) { out += to_string(axis, mesh); });
  return out;
}

}  // namespace

std::int64_t Mesh::devices() const {
  if (axes.empty()) return std::ssize(device_ids);
  return std::accumulate(axes.begin(), axes.end(), std::int64_t{1},
                         [](std::int64_t product, const MeshAxis& a) { return product * a.size; });
}

std::optional<int> Mesh::find(std::string_view axis) const {
  const auto found = std::ranges::find(axes, axis, &MeshAxis::name);
  if (found == axes.end()) return std::nullopt;
  return static_cast<int>(found - axes.begin());
}

std::optional<std::int64_t> Mesh::place_of(std::int64_t device) const {
  if (device_ids.empty())
    return device >= 0 && device < devices() ? std::optional(device) : std::nullopt;
  const auto found = std::ranges::find(device_ids, device);
  if (found == device_ids.end()) return std::nullopt;
  return found - device_ids.begin();
}

std::vector<std::int64_t> Mesh::coordinates(std::int64_t place) const {
  std::vector<std::int64_t> out(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    out[i] = place % axes[i].size;
    place /= axes[i].size;
  }
  return out;
}

std::int64_t DimSharding::parts() const {
  return std::accumulate(axes.begin(), axes.end(), std::int64_t{1},
                         [](std::int64_t product, const AxisRef& a) { return product * a.size; });
}

bool Sharding::is_replicated() const {
  return unreduced.empty() &&
         std::ranges::all_of(dims, [](const DimSharding& dim) { return dim.parts() == 1; });
}

Sharding Sharding::replicated_on(std::shared_ptr<const Mesh> mesh, int rank, bool open) {
  Sharding out;
  out.mesh = std::move(mesh);
  out.dims.resize(static_cast<std::size_t>(rank), DimSharding{{}, open, {}});
  return out;
}

bool Sharding::operator==(const Sharding& other) const {
  return (mesh == other.mesh || *mesh == *other.mesh) && dims == other.dims &&
         replicated == other.replicated && unreduced == other.unreduced &&
         (unreduced.empty() || reduction == other.reduction);
}

std::string to_string(const AxisRef& axis, const Mesh& mesh) {
  std::string out;
  ir::append_quoted(out, mesh.axes[static_cast<std::size_t>(axis.axis)].name);
  if (!is_whole(axis, mesh))
    out += ":(" + std::to_string(axis.pre_size) + ")" + std::to_string(axis.size);
  return out;
}

std::string to_string(const DimSharding& dim, const Mesh& mesh) {
  std::string out = "{" + axis_list(dim.axes, mesh);
  if (dim.open) out += dim.axes.empty() ? "?" : ", ?";
  out += '}';
  if (dim.priority) out += "p" + std::to_string(*dim.priority);
  return out;
}

std::string to_string(const Mesh& mesh) {
  std::string out = "<[";
  ir::append_list(out, mesh.axes, [&](const MeshAxis& axis) {
    ir::append_quoted(out, axis.name);
    out += "=" + std::to_string(axis.size);
  });
  out += ']';
  if (!mesh.device_ids.empty()) ir::append_ints(out += ", device_ids=", mesh.device_ids);
  return out += '>';
}

std::string to_string(const Sharding& sharding) {
  const Mesh& mesh = *sharding.mesh;
  std::string out = "<";
  mesh.name.empty() ? void(out += "mesh" + to_string(mesh)) : ir::append_symbol(out, mesh.name);
  out += ", [";
  ir::append_list(out, sharding.dims, [&](const DimSharding& dim) { out += to_string(dim, mesh); });
  out += ']';
  if (!sharding.replicated.empty())
    out += ", replicated={" + axis_list(sharding.replicated, mesh) + "}";
  if (!sharding.unreduced.empty()) {
    constexpr const char* kWords[] = {"", "max", "min"};
    out += std::string(", unreduced=") + kWords[static_cast<int>(sharding.reduction)] + "{" +
           axis_list(sharding.unreduced, mesh) + "}";
  }
  return out += '>';
}

}  // namespace millrace::devices::stablehlo::sharding
