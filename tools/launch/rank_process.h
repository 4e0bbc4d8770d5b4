// The processes of a launch, one at a time: a rank's process is started, signalled and reaped, and
// a keeper ends them all where launch itself is killed. Linux alone. Read next: processes.h.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"
#include "millrace/tools/child/in_child.h"
#include "millrace/tools/launch/job_server.h"
#include "millrace/tools/launch/launch_machine.h"

namespace millrace::launch {

inline constexpr int kMostRanks = 1024;

// Ends the process groups that were added as soon as this process has ended, however it has: a
// process of its own, which waits for that and for nothing else. It sees no groups that ranks'
// processes have made for themselves (setsid). Thread-safety: external.
class GroupKeeper {
 public:
  // It removes the job's folder, too, where launch has not. Call it while this process has one
  // thread. kResourceExhausted: no process, memory or descriptor.
  static Result<GroupKeeper> start(const JobFolder& folder);
  GroupKeeper(GroupKeeper&&) = default;
  // Ends the keeper, and waits for its end. It kills what it still has.
  ~GroupKeeper();

  void set(int rank, int group);  // 0: none

 private:
  using Groups = SharedValue<std::array<std::atomic<int>, kMostRanks>>;
  GroupKeeper(std::unique_ptr<Groups> groups, Descriptor alive, int pid)
      : groups_(std::move(groups)), alive_(std::move(alive)), pid_(pid) {}

  std::unique_ptr<Groups> groups_;
  Descriptor alive_;  // the writing end of a pipe: its end is ours
  int pid_ = 0;
};

struct RankProcess {
  int pid = 0;
  Descriptor end;  // a pidfd: readable when the process has ended
  Descriptor out;  // what it writes
  Descriptor err;
};

struct RankProgram {
  std::vector<std::string> words;      // the program, found by PATH, and its arguments
  std::vector<std::string> variables;  // "NAME=VALUE"
  std::vector<int> cores;              // empty: as this process
};

// What a rank inherits is what launch was started with; launch changes its own.
struct Inherited {
  unsigned long soft_descriptors = 0;      // NOLINT(google-runtime-int): what the system calls take
  unsigned long hard_descriptors = 0;      // NOLINT(google-runtime-int)
  unsigned long long blocked_signals = 0;  // NOLINT(google-runtime-int): bit n - 1 of signal n
};
// Raises this process's limit of open descriptors as far as it may. kResourceExhausted where so
// many ranks cannot have theirs.
Result<Inherited> prepare_for_ranks(int ranks);

// A process in a group of its own, with /dev/null as its stdin. It is killed when the calling
// thread ends. A program that cannot be run says so on its stderr and ends with 127 (it is not
// there) or 126.
Result<RankProcess> start_rank(const RankProgram& program, const Inherited& inherited);

// The group of a process that is not reaped yet.
void signal_group(int pid, int signal);
// How it has ended, if it has; it is not reaped yet.
std::optional<ProcessEnd> end_of(const RankProcess& process);
// The same, but waits until the deadline for a process that the system is ending: what that had
// open is closed, and others see it, before its end is there.
std::optional<ProcessEnd> end_of_ending(const RankProcess& process, TimePoint deadline);
// Its end has come. From here on its number, and that of its group, may be another's.
ProcessEnd reap(const RankProcess& process);

// The cores that the calling thread may run on; empty where the system does not say.
std::vector<int> own_cores();

}  // namespace millrace::launch
