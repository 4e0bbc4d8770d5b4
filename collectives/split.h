// Sub-groups: which ranks of a group form one, and where the members of one process find each other
// while they are made. Used by ProcessGroup::split().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "millrace/collectives/rank.h"
#include "millrace/collectives/schedule.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/core/base/mutex.h"

namespace millrace::collectives {

class ProcessGroup;

struct SplitPlace {
  int color = 0;
  int key = 0;
};

struct SubGroup {
  int color = 0;
  std::vector<Rank> ranks;  // of the whole group, in the order of (key, rank)
};
// In the order of the colors. places: by rank. Pure.
std::vector<SubGroup> sub_groups(std::span<const SplitPlace> places);

// Ranks of a sub-group that follow each other and that one process of the whole group has.
struct SubMember {
  int process = 0;          // index in the spread of the whole group
  std::vector<Rank> ranks;  // of the whole group
};
std::vector<SubMember> sub_members(const SubGroup& group, const Spread& spread);

// By rank, of those of the whole group that are this process's.
using SplitMembers = std::shared_ptr<const std::vector<ProcessGroup>>;

// The splits of a group that are under way. An entry lives from the first call of its number until
// no rank that has called it waits. Thread-safety: thread-safe.
class SplitTable {
 public:
  using Make = FunctionRef<Result<SplitMembers>()>;

  // Before the call that all ranks meet in.
  void enter(std::uint64_t sequence);
  // After its answer, once for each enter(). Where all have met, the first one makes the members
  // for all.
  Future<SplitMembers> leave(std::uint64_t sequence, const Status& met, Make make);

 private:
  struct Entry {
    std::size_t waiting = 0;
    Promise<SplitMembers> made;
    Future<SplitMembers> members = made.future();
  };

  Mutex mutex_;
  std::map<std::uint64_t, Entry> entries_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::collectives
