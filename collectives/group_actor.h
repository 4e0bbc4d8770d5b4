// GroupActor: matches the calls of a group's ranks and runs what they agree on. In one process it
// is the one place where the ranks' arrays meet; rank order, not arrival, decides the order of
// every sum. Used through process_group.h; what is matched and when it fails is matcher.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/actors/actor.h"
#include "millrace/actors/actor_ref.h"
#include "millrace/collectives/matcher.h"
#include "millrace/collectives/rendezvous.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/device.h"

namespace millrace::collectives {

// A rank's call, on its way to the group. Who only receives needs no buffers.
struct CollectiveRequest {
  Rank rank{};
  std::uint64_t sequence = 0;
  CollectiveCall call;
  devices::Buffers buffers;
  TimePoint deadline = kNoDeadline;
  std::optional<Error> late = {};  // its deadline had passed when it was made
  std::uint64_t flow = 0;
};

// Invariants:
//  - GA-1 every request gets one answer; all ranks of a sequence get values, or one error.
//  - GA-2 an operation starts once every rank has called and the inputs it reads are written.
//  - GA-3 once a rank has failed, nothing of this group waits for it: open and later calls fail
//    with its name.
// One per group, spawned and closed by it. Thread-safety: confined.
class GroupActor final : public actors::Actor {
 public:
  // trace may be nullptr; operations are recorded from the moment that all inputs are there to the
  // results, each kind on a lane of its own. Keeps kept as long as it lives.
  GroupActor(std::string name, std::vector<devices::Device> devices, TraceRecorder* trace,
             std::shared_ptr<const void> kept = {});

  void on(CollectiveRequest&& request, actors::Reply<devices::Buffers> reply);
  void on(const RankFailed& failed);
  Future<void> on_stop(const actors::Exit& exit) override;

 private:
  struct Part {
    devices::Buffers buffers;
    actors::Reply<devices::Buffers> reply;
    bool called = false;
    bool written = false;
    std::uint64_t flow = 0;
    std::optional<TimerQueue::Id> timer;
  };
  struct Operation {
    CollectiveCall call;
    PooledVector<Part> parts;  // by rank
    bool matched = false;
    TimePoint started{};
  };
  struct Track {
    TraceLane lane;
    TraceName name;
  };
  using Operations = std::map<std::uint64_t, Operation, std::less<>,
                              PoolAllocator<std::pair<const std::uint64_t, Operation>>>;

  void await_inputs(std::uint64_t sequence, Rank rank);
  void arm(std::uint64_t sequence, Rank rank, TimePoint deadline);
  void expire(std::uint64_t sequence, Duration allowed);
  void start_if_ready(Operations::iterator operation);
  void fail_operation(Operations::iterator operation, const Error& error);
  std::string describe(std::uint64_t sequence, const CollectiveCall& call) const;
  void cancel_timers(Operation& operation);
  void trace(const Operation& operation);

  const std::shared_ptr<const void> kept_;
  std::string name_;
  std::vector<devices::Device> devices_;
  TraceRecorder* const trace_;
  std::optional<Track> tracks_[CollectiveCall::kKinds] = {};  // by kind; made at its first trace
  Matcher matcher_;
  Operations operations_;
  std::optional<Error> failed_;
};

}  // namespace millrace::collectives
