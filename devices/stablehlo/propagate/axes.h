// Lists of axes that cut one factor or dimension, the first outermost: which begin alike, and what
// of one does not touch another. Read next: factors.h.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "millrace/devices/stablehlo/sharding/sharding.h"

namespace millrace::devices::stablehlo::propagate {

using sharding::AxisRef;
using AxisList = std::vector<AxisRef>;

// Whether the axis may be cut so that both are parts of it, with what lies between.
inline bool can_coexist(const AxisRef& a, const AxisRef& b) {
  if (a.axis != b.axis) return true;
  std::array<std::int64_t, 4> cuts = {a.pre_size, b.pre_size, a.end(), b.end()};
  std::ranges::sort(cuts);
  return cuts[1] % cuts[0] == 0 && cuts[2] % cuts[1] == 0 && cuts[3] % cuts[2] == 0;
}

inline bool contains(const AxisRef& whole, const AxisRef& part) {
  return whole.axis == part.axis && whole.pre_size <= part.pre_size && part.end() <= whole.end() &&
         can_coexist(whole, part);
}

// Whether a is b, or its outermost part.
inline bool begins(const AxisRef& a, const AxisRef& b) {
  return a.axis == b.axis && a.pre_size == b.pre_size && b.size % a.size == 0;
}

// The outermost part of `axis` that overlaps none of `others`; nullopt if there is none.
inline std::optional<AxisRef> free_prefix(AxisRef axis, const AxisList& others) {
  for (const AxisRef& other : others) {
    if (!can_coexist(axis, other)) return std::nullopt;
    if (!axis.overlaps(other)) continue;
    if (axis.pre_size >= other.pre_size) return std::nullopt;
    axis.size = other.pre_size / axis.pre_size;
  }
  return axis;
}

enum class Prefix : std::uint8_t { kNone, kStrict, kEqual };

inline Prefix prefix_of(const AxisList& a, const AxisList& b) {
  if (a.size() > b.size()) return Prefix::kNone;
  if (a.empty()) return b.empty() ? Prefix::kEqual : Prefix::kStrict;
  if (!std::equal(a.begin(), a.end() - 1, b.begin())) return Prefix::kNone;
  const AxisRef& last = b[a.size() - 1];
  if (!begins(a.back(), last)) return Prefix::kNone;
  return a.size() == b.size() && a.back() == last ? Prefix::kEqual : Prefix::kStrict;
}

// Parts of an axis that follow each other become one.
inline void add_or_merge(AxisList& list, const AxisRef& axis) {
  if (!list.empty() && list.back().axis == axis.axis && list.back().end() == axis.pre_size) {
    list.back().size *= axis.size;
  } else {
    list.push_back(axis);
  }
}

inline std::int64_t parts_of(const AxisList& list) {
  std::int64_t product = 1;
  for (const AxisRef& axis : list) product *= axis.size;
  return product;
}

}  // namespace millrace::devices::stablehlo::propagate
