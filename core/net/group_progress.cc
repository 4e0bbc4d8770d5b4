#include "millrace/core/net/group_progress.h"

namespace millrace::net {

std::shared_ptr<GroupProgress> GroupList::add(std::string name) {
  if (name.size() > kMostGroupNameBytes) name.resize(kMostGroupNameBytes);
  auto group = std::make_shared<GroupProgress>(std::move(name));
  MutexLock lock(mutex_);
  std::erase_if(groups_, [](const auto& one) { return one.expired(); });
  groups_.push_back(group);
  return group;
}

std::vector<GroupCount> GroupList::counts() {
  std::vector<GroupCount> counts;
  MutexLock lock(mutex_);
  std::erase_if(groups_, [](const auto& one) { return one.expired(); });
  for (const auto& weak : groups_) {
    const auto group = weak.lock();
    if (!group || counts.size() == kMostGroups) continue;
    // In this order, so that no more seems done than begun.
    const std::uint64_t done = group->done.load();
    counts.push_back({.name = group->name, .begun = group->begun.load(), .done = done});
  }
  return counts;
}

}  // namespace millrace::net
