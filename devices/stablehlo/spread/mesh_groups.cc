#include "millrace/devices/stablehlo/spread/mesh_groups.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "millrace/devices/stablehlo/text/cursor.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using sharding::AxisRef;
using sharding::Mesh;
using text::Cursor;
using text::TokenKind;

bool expect_attribute(Cursor& in, std::string_view name) {
  if (in.token().kind != TokenKind::kAttrId || in.token().text != name) return in.unexpected(name);
  in.advance();
  return in.expect('<');
}

// #stablehlo.mesh_axis<name = "x", size = 2>
bool read_axis(Cursor& in, Mesh& mesh) {
  sharding::MeshAxis axis;
  if (!expect_attribute(in, "#stablehlo.mesh_axis") || !in.expect_field("name") ||
      !in.string(&axis.name) || !in.expect(',') || !in.expect_field("size") ||
      !in.integer(&axis.size) || !in.expect('>')) {
    return false;
  }
  if (axis.size < 1 || axis.size > sharding::kMaxDevices || mesh.find(axis.name))
    return in.fail("the axis \"", axis.name, "\" of size ", axis.size);
  mesh.axes.push_back(std::move(axis));
  return mesh.devices() <= sharding::kMaxDevices || in.fail("a mesh of ", mesh.devices());
}

// #stablehlo.mesh<axes = [...], device_ids = dense<[0, 1]> : tensor<2xi64>>
bool read_mesh(Cursor& in, Mesh& mesh) {
  if (!expect_attribute(in, "#stablehlo.mesh") || !in.expect_field("axes") ||
      !in.list('[', ']', [&] { return read_axis(in, mesh); })) {
    return false;
  }
  if (in.accept(',')) {
    if (!in.expect_field("device_ids") || !in.expect_word("dense") || !in.expect('<') ||
        !in.int_list(&mesh.device_ids) || !in.expect('>') || !in.expect(':') ||
        !in.expect_word("tensor") || !in.skip_balanced('<')) {
      return false;
    }
    std::vector<std::int64_t> sorted = mesh.device_ids;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != static_cast<std::int64_t>(i)) return in.fail("device ids that are not all");
    }
    if (std::ssize(sorted) != mesh.devices())
      return in.fail(sorted.size(), " device ids of a mesh of ", mesh.devices(), " devices");
  }
  return in.expect('>');
}

// #stablehlo.axis_ref<name = "x", sub_axis_info = #stablehlo.sub_axis_info<pre_size = 1, size = 2>>
bool read_reference(Cursor& in, const Mesh& mesh, std::vector<AxisRef>& out) {
  std::string name;
  if (!expect_attribute(in, "#stablehlo.axis_ref") || !in.expect_field("name") ||
      !in.string(&name)) {
    return false;
  }
  const auto axis = mesh.find(name);
  if (!axis) return in.fail("there is no axis \"", name, "\" in the mesh ", to_string(mesh));
  AxisRef ref{*axis, 1, mesh.axes[static_cast<std::size_t>(*axis)].size};
  if (in.accept(',')) {
    const std::int64_t whole = ref.size;
    if (!in.expect_field("sub_axis_info") || !expect_attribute(in, "#stablehlo.sub_axis_info") ||
        !in.expect_field("pre_size") || !in.integer(&ref.pre_size) || !in.expect(',') ||
        !in.expect_field("size") || !in.integer(&ref.size) || !in.expect('>')) {
      return false;
    }
    if (ref.pre_size < 1 || ref.size < 1 || ref.pre_size > whole || ref.size > whole ||
        whole % ref.end() != 0) {
      return in.fail("a part ", ref.pre_size, ", ", ref.size, " of the axis \"", name, "\" of ",
                     whole);
    }
  }
  for (const AxisRef& other : out) {
    if (other.overlaps(ref)) return in.fail("the axis \"", name, "\" is used twice");
  }
  out.push_back(ref);
  return in.expect('>');
}

// The place's number among those of the group, and what the other axes say of it.
std::pair<std::int64_t, std::vector<std::int64_t>> sorted_by(const Mesh& mesh,
                                                             const std::vector<AxisRef>& axes,
                                                             std::int64_t place) {
  std::vector<std::int64_t> rest = mesh.coordinates(place);
  std::int64_t number = 0;
  for (const AxisRef& axis : axes) {
    const auto a = static_cast<std::size_t>(axis.axis);
    const std::int64_t inner = mesh.axes[a].size / axis.end();
    number = number * axis.size + mesh.coordinates(place)[a] / inner % axis.size;
    // Its digit of the coordinate becomes 0.
    rest[a] -= mesh.coordinates(place)[a] / inner % axis.size * inner;
  }
  return {number, std::move(rest)};
}

}  // namespace

Result<std::vector<std::vector<std::int64_t>>> groups_of_axes(std::string_view text,
                                                              const sharding::Meshes& meshes) {
  Cursor in(text);
  Mesh inlined;
  std::shared_ptr<const Mesh> mesh;
  std::vector<AxisRef> axes;
  const auto read = [&] {
    if (!expect_attribute(in, "#stablehlo.replica_group_mesh_axes") || !in.expect_field("mesh"))
      return false;
    if (in.token().kind == TokenKind::kSymbol) {
      std::string name;
      if (!in.symbol(&name)) return false;
      mesh = meshes.find(name);
      if (mesh == nullptr) return in.fail("there is no mesh @", name);
    } else if (!read_mesh(in, inlined)) {
      return false;
    }
    return in.expect(',') && in.expect_field("axes") && in.list('[', ']', [&] {
      return read_reference(in, mesh == nullptr ? inlined : *mesh, axes);
    });
  };
  if (!read()) return std::unexpected(*in.error());
  const Mesh& of = mesh == nullptr ? inlined : *mesh;
  const std::int64_t places = std::max<std::int64_t>(of.devices(), 1);
  std::map<std::vector<std::int64_t>, std::map<std::int64_t, std::int64_t>> groups;
  for (std::int64_t place = 0; place < places; ++place) {
    auto [number, rest] = sorted_by(of, axes, place);
    groups[std::move(rest)][number] = of.device_at(place);
  }
  std::vector<std::vector<std::int64_t>> listed;
  for (const auto& [rest, members] : groups) {
    auto& list = listed.emplace_back();
    for (const auto& [number, device] : members) list.push_back(device);
  }
  return listed;
}

}  // namespace millrace::devices::stablehlo::spread
