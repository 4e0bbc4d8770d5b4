// GroupActor: matches the calls of the ranks of this process and runs what they agree on, with
// those of other processes over a GroupWire. It is the one place where the arrays of its ranks
// meet; rank order, not arrival, decides the order of every sum. Used through process_group.h; what
// is matched and when it fails is matcher.h.
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
#include "millrace/collectives/device_collectives.h"
#include "millrace/collectives/group_wire.h"
#include "millrace/collectives/matcher.h"
#include "millrace/collectives/numbers.h"
#include "millrace/collectives/rendezvous.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/device.h"

namespace millrace::collectives {

// A rank's call, on its way to the group.
struct RankCall {
  Rank rank{};
  std::uint64_t sequence = 0;
  CollectiveCall call;
  TimePoint deadline = kNoDeadline;
  std::optional<Error> late = {};  // its deadline had passed when it was made
  std::uint64_t flow = 0;
};
// Who only receives needs no buffers.
struct CollectiveRequest {
  RankCall call;
  devices::Buffers buffers;
};
// A call about numbers (numbers.h).
struct NumbersRequest {
  RankCall call;
  std::vector<std::int64_t> numbers;
};
// From other processes: a call has ended there; who of this one holds it up?
struct CallEnded {
  std::uint64_t sequence = 0;
  Error error;
};
struct CallAsked {
  std::uint64_t sequence = 0;
  int asker = 0;
};

// Invariants:
//  - GA-1 every request gets one answer; all ranks of a sequence get values, or one error. (Of
//    several processes one may have its results when the call ends in another: GW-2.)
//  - GA-2 an operation starts once every rank has called and the inputs it reads are written.
//  - GA-3 once a rank has failed, nothing of this group waits for it: open and later calls fail
//    with its name.
// One per group, spawned and closed by it. Thread-safety: confined.
class GroupActor final : public actors::Actor {
 public:
  // trace may be nullptr; operations are recorded from the moment that all inputs are there to the
  // results, each kind on a lane of its own. Keeps kept as long as it lives. wire: to the members
  // of other processes; none: the devices are the whole group. It is closed with the actor.
  GroupActor(std::string name, std::vector<devices::Device> devices, TraceRecorder* trace,
             std::shared_ptr<const void> kept = {}, Ref<GroupWire> wire = {});

  void on(CollectiveRequest&& request, actors::Reply<devices::Buffers> reply);
  void on(NumbersRequest&& request, actors::Reply<Numbers> reply);
  void on(const CallEnded& ended);
  void on(const CallAsked& asked);
  void on(const RankFailed& failed);
  Future<void> on_start() override;
  Future<void> on_stop(const actors::Exit& exit) override;

 private:
  struct Part {
    devices::Buffers buffers;
    std::vector<std::int64_t> numbers;
    actors::Reply<devices::Buffers> reply;
    actors::Reply<Numbers> numbers_reply;  // in its place, for a call about numbers
    bool called = false;
    bool written = false;
    std::uint64_t flow = 0;
    std::optional<TimerQueue::Id> timer;
  };
  struct Operation {
    CollectiveCall call;
    PooledVector<Part> parts;  // by rank, from the first of this process on
    bool matched = false;
    TimePoint started{};
  };
  struct Track {
    TraceLane lane;
    TraceName name;
  };
  using Operations = std::map<std::uint64_t, Operation, std::less<>,
                              PoolAllocator<std::pair<const std::uint64_t, Operation>>>;

  std::size_t place(Rank rank) const { return static_cast<std::size_t>(index(rank) - first_); }
  Rank rank_at(std::size_t place) const { return Rank{first_ + static_cast<int>(place)}; }
  // Takes a part into its operation, and starts it when it was the last; or answers it.
  void take(RankCall&& call, Part&& part);
  void answer(Part& part, const Error& error);
  GroupPlace held_up(const Operation& operation) const;
  void run_numbers(Operations::iterator operation);
  // set: answers a part of an operation that has gone well.
  void end_operation(std::uint64_t sequence, const Status& status,
                     FunctionRef<void(Part&, std::size_t)> set);
  void await_inputs(std::uint64_t sequence, Rank rank);
  void arm(std::uint64_t sequence, Rank rank, TimePoint deadline);
  void expire(std::uint64_t sequence, Duration allowed);
  void start_if_ready(Operations::iterator operation);
  void fail_operation(Operations::iterator operation, const Error& error);
  std::string describe(std::uint64_t sequence, const CollectiveCall& call) const;
  void cancel_timers(Operation& operation);
  void trace(const Operation& operation);

  const std::shared_ptr<const void> kept_;
  const Ref<GroupWire> wire_;
  const int first_;  // rank of the first device
  const int size_;   // of the group
  std::string name_;
  std::vector<devices::Device> devices_;
  std::unique_ptr<DeviceCollectives> by_devices_;  // nullptr: the host does what they ask
  TraceRecorder* const trace_;
  std::optional<Track> tracks_[CollectiveCall::kKinds] = {};  // by kind; made at its first trace
  Matcher matcher_;
  Operations operations_;
  std::optional<Error> failed_;
};

}  // namespace millrace::collectives
