// Places: the devices that a part of a program runs on, each a clone of it; and Each: what one
// value of the program is on all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/ir/op.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"

namespace millrace::devices::stablehlo::spread {

// Clones by number: 0, 1, 2, ... Thread-safety: immutable.
struct Places {
  int replicas = 1;
  int partitions = 1;
  std::vector<int> devices;  // of clone i: replica * partitions + partition
  // Axes of a mesh along which there are clones, in a program of whole arrays.
  std::vector<std::string> manual_axes = {};
  bool is_whole = false;                     // one clone that stands for all devices
  bool is_each = false;                      // each clone stands for its device alone
  const sharding::Meshes* meshes = nullptr;  // of the program; not owned

  int size() const { return static_cast<int>(devices.size()); }
  int device(int clone) const { return devices[static_cast<std::size_t>(clone)]; }
  int replica(int clone) const { return device(clone) / partitions; }
  int partition(int clone) const { return device(clone) % partitions; }
  // nullopt: the device has no clone here.
  std::optional<int> clone_of(int device) const {
    const auto found = std::ranges::find(devices, device);
    if (found == devices.end()) return std::nullopt;
    return static_cast<int>(found - devices.begin());
  }
};

// Some of the clones, in order.
using Members = std::vector<int>;

// One value that all clones share, or one for each. Thread-safety: external.
class Each {
 public:
  Each() = default;
  explicit Each(ir::Value* shared) : shared_(shared) {}
  // By clone; those that are no members are nullptr and do not count.
  Each(std::vector<ir::Value*> values, const Members& members) : each_(std::move(values)) {
    ir::Value* const first = each_[static_cast<std::size_t>(members.front())];
    const auto same = [&](int m) { return each_[static_cast<std::size_t>(m)] == first; };
    if (!std::ranges::all_of(members, same)) return;
    shared_ = first;
    each_.clear();
  }

  ir::Value* operator[](int clone) const {
    return each_.empty() ? shared_ : each_[static_cast<std::size_t>(clone)];
  }
  bool is_shared() const { return each_.empty(); }

 private:
  ir::Value* shared_ = nullptr;
  std::vector<ir::Value*> each_;
};

}  // namespace millrace::devices::stablehlo::spread
