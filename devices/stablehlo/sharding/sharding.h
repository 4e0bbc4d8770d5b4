// Mesh and Sharding: how the devices of a program are named, and how one array lies on them. These
// are values of Shardy's attributes, which a module keeps as their text (ir::OpaqueAttr), whether
// text or bytecode brought them. Read next: read_sharding.h (from attributes), shards.h (local
// shapes, the part of a device), op_sharding.h (for PJRT).
//
//   SH-1  The axes of a sharding are disjoint parts of the axes of its mesh.
//   SH-2  Two shardings of one mesh are equal if and only if they say the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::devices::stablehlo::sharding {

// A mesh of more devices is refused.
inline constexpr std::int64_t kMaxDevices = std::int64_t{1} << 20;

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};

// Devices in a grid, the last axis fastest. Without axes: one device alone (is_maximal), or a
// placeholder without devices. Thread-safety: immutable.
struct Mesh {
  std::string name;  // "" if it stands in the sharding itself
  std::vector<MeshAxis> axes;
  std::vector<std::int64_t> device_ids;  // by place in the grid; empty: 0, 1, 2, ...

  bool is_maximal() const { return axes.empty() && device_ids.size() == 1; }
  std::int64_t devices() const;  // the number of places
  std::optional<int> find(std::string_view axis) const;
  std::int64_t device_at(std::int64_t place) const {
    return device_ids.empty() ? place : device_ids[static_cast<std::size_t>(place)];
  }
  // nullopt: the device is not in it.
  std::optional<std::int64_t> place_of(std::int64_t device) const;
  // One coordinate for each axis.
  std::vector<std::int64_t> coordinates(std::int64_t place) const;
  bool operator==(const Mesh&) const = default;
};

// An axis of a mesh, or a part of one. The axis is seen as a grid of [pre_size, size, rest]; the
// part is the middle of it. A whole axis has pre_size 1 and the size of the axis.
struct AxisRef {
  int axis = 0;  // among those of the mesh
  std::int64_t pre_size = 1;
  std::int64_t size = 1;

  std::int64_t end() const { return pre_size * size; }  // the pre_size of what comes behind
  bool overlaps(const AxisRef& other) const {
    return axis == other.axis && pre_size < other.end() && other.pre_size < end();
  }
  bool operator==(const AxisRef&) const = default;
};

// How one dimension is cut: into the product of the axes' sizes, the first axis outermost.
struct DimSharding {
  std::vector<AxisRef> axes;
  bool open = false;            // propagation may add axes behind those here
  std::optional<int> priority;  // propagation takes lower ones first; absent is 0

  std::int64_t parts() const;
  bool operator==(const DimSharding&) const = default;
};

enum class Reduction : std::uint8_t { kSum, kMax, kMin };

// How an array lies on a mesh. Axes that are named nowhere replicate it. Thread-safety: immutable.
struct Sharding {
  std::shared_ptr<const Mesh> mesh;       // never nullptr in what a reader gives
  std::vector<DimSharding> dims;          // as many as the array has; none on a maximal mesh
  std::vector<AxisRef> replicated;        // propagation must not use these; in the mesh's order
  std::vector<AxisRef> unreduced;         // each device of these axes has a part of the sum
  Reduction reduction = Reduction::kSum;  // of unreduced axes

  bool is_replicated() const;  // no dimension is cut and nothing is unreduced
  // No dimension is cut.
  static Sharding replicated_on(std::shared_ptr<const Mesh> mesh, int rank, bool open = false);
  bool operator==(const Sharding& other) const;
};

// "a" or "a":(2)4, {"a", ?}p1, <["a"=2, "b"=4]> and <@mesh, [{"a"}, {?}], replicated={"b"}>, as
// Shardy prints them.
std::string to_string(const AxisRef& axis, const Mesh& mesh);
std::string to_string(const DimSharding& dim, const Mesh& mesh);
std::string to_string(const Mesh& mesh);
std::string to_string(const Sharding& sharding);

}  // namespace millrace::devices::stablehlo::sharding
