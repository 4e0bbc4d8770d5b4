// GroupProgress: how far a rank is in a group's collectives, for those who look on from outside
// (`millrace status`). Read next: job_status.h, how it travels.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/mutex.h"

namespace millrace::net {

inline constexpr std::size_t kMostGroups = 64;          // of a rank, that are reported
inline constexpr std::size_t kMostGroupNameBytes = 64;  // longer ones are cut

// Its numbers only grow. Thread-safety: thread-safe.
struct GroupProgress {
  explicit GroupProgress(std::string group) : name(std::move(group)) {}
  const std::string name;
  std::atomic<std::uint64_t> begun{0};  // collectives
  std::atomic<std::uint64_t> done{0};
};

// The numbers at some moment.
struct GroupCount {
  std::string name = {};
  std::uint64_t begun = 0;
  std::uint64_t done = 0;
  bool operator==(const GroupCount&) const = default;
};

// All groups of a process. Thread-safety: thread-safe.
class GroupList {
 public:
  // The group is in the list for as long as the caller has it.
  std::shared_ptr<GroupProgress> add(std::string name);
  // The oldest kMostGroups.
  std::vector<GroupCount> counts();

 private:
  Mutex mutex_;
  std::vector<std::weak_ptr<GroupProgress>> groups_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::net
