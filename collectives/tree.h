// The k-ary tree over positions 0 .. size - 1 along which rendezvous messages travel: position p
// has the children k*p+1 .. k*p+k. Pure arithmetic. Radix 8 has the lowest latency at every size
// measured (k = 2 is deep, k = 32 queues at the parent), and no position talks to ten.
#pragma once

#include <algorithm>
#include <optional>

namespace millrace::collectives {

inline constexpr int kTreeRadix = 8;

inline std::optional<int> tree_parent(int position) {
  if (position == 0) return std::nullopt;
  return (position - 1) / kTreeRadix;
}

// Children are first .. first + count - 1.
struct TreeChildren {
  int first = 0;
  int count = 0;
};
inline TreeChildren tree_children(int position, int size) {
  // In 64 bits, so that the last positions of a large tree do not overflow.
  const long long first = static_cast<long long>(position) * kTreeRadix + 1;
  if (first >= size) return {};
  return {static_cast<int>(first), static_cast<int>(std::min<long long>(kTreeRadix, size - first))};
}

}  // namespace millrace::collectives
