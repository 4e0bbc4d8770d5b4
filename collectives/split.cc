#include "millrace/collectives/split.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::collectives {

std::vector<SubGroup> sub_groups(std::span<const SplitPlace> places) {
  std::vector<Rank> order;
  for (std::size_t r = 0; r < places.size(); ++r) order.push_back(Rank{static_cast<int>(r)});
  std::ranges::sort(order, {}, [&](Rank rank) {
    const SplitPlace& place = places[at(rank)];
    return std::tuple(place.color, place.key, index(rank));
  });
  std::vector<SubGroup> groups;
  for (const Rank rank : order) {
    const int color = places[at(rank)].color;
    if (groups.empty() || groups.back().color != color) groups.push_back({color, {}});
    groups.back().ranks.push_back(rank);
  }
  return groups;
}

std::vector<SubMember> sub_members(const SubGroup& group, const Spread& spread) {
  std::vector<SubMember> members;
  for (const Rank rank : group.ranks) {
    const int process = spread.process_of(rank);
    if (members.empty() || members.back().process != process) members.push_back({process, {}});
    members.back().ranks.push_back(rank);
  }
  return members;
}

void SplitTable::enter(std::uint64_t sequence) {
  MutexLock lock(mutex_);
  ++entries_[sequence].waiting;
}

Future<SplitMembers> SplitTable::leave(std::uint64_t sequence, const Status& met, Make make) {
  std::optional<Promise<SplitMembers>> mine;  // this call makes the members
  Future<SplitMembers> members;
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(sequence);
    MILLRACE_CHECK(found != entries_.end(), "a split is left as often as it is entered");
    Entry& entry = found->second;
    members = entry.members;
    if (met && entry.made.valid()) mine = std::move(entry.made);
    if (--entry.waiting == 0) {
      members.ignore();
      entries_.erase(found);
    }
  }
  if (!met) return met.error();
  if (mine) mine->set(make());
  return members;
}

}  // namespace millrace::collectives
