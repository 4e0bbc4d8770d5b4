#include "millrace/collectives/schedule.h"

#include <algorithm>

#include "millrace/core/base/check.h"

namespace millrace::collectives {

Spread::Spread(std::span<const int> counts) {
  MILLRACE_CHECK(!counts.empty(), "ranks are spread over at least one process");
  first_.push_back(0);
  for (const int count : counts) {
    MILLRACE_CHECK(count > 0, "each process of a group has a rank");
    first_.push_back(first_.back() + count);
    most_ = std::max(most_, count);
  }
}

int Spread::process_of(Rank rank) const {
  const auto next = std::ranges::upper_bound(first_, index(rank));
  return static_cast<int>(next - first_.begin()) - 1;
}

}  // namespace millrace::collectives
