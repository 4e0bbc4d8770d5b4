// ProcessGroup: one rank's membership in a group of devices, and the collectives it may call. Each
// call is a Future, fits into a graph, and has a deadline. Read next: group_actor.h (matching),
// rendezvous_machine.h.
//
//   Result<std::vector<ProcessGroup>> ranks = ProcessGroup::create(system, "train", devices);
//   if (!ranks) return std::unexpected(ranks.error());
//   // Rank 1 calls it too.
//   Future<Buffers> means = ranks->front().all_reduce({gradient}, ReduceOp::kMean);
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/collectives/group_actor.h"
#include "millrace/collectives/rank.h"
#include "millrace/collectives/reduce.h"
#include "millrace/core/async/call_options.h"
#include "millrace/core/base/braced.h"
#include "millrace/core/net/group_progress.h"
#include "millrace/devices/device.h"

namespace millrace::collectives {

// A step's calls must be numbered in the order of the program, not of their readiness: a recorded
// graph reserves its numbers (ProcessGroup::reserve) when a step is submitted and gives them here.
// Without one, the call takes the rank's next number now.
struct CollectiveOptions {
  CallOptions call = {};
  // How processes do it, the same on all ranks; kUnimplemented where it has no form of the call.
  // All give all ranks the same bits; those of direct, the default of what has any, are the bits of
  // one process.
  std::optional<Algorithm> algorithm = {};
  std::optional<std::uint64_t> sequence = {};
  std::uint64_t flow = 0;  // the batch that this rank does it for, in traces (TraceEvent::flow)
};

// How a group of several processes is made.
struct MeetOptions {
  CallOptions call = {};
  TraceRecorder* trace = nullptr;
  Braced<std::shared_ptr<net::GroupProgress>> progress =
      {};  // to be kept up: for `millrace status`
  // Ranks of the job, ascending, this one's included; empty: all of the mesh.
  Braced<std::vector<std::uint32_t>> processes = {};
};

// Value handle of one rank. All ranks of a group must make the same calls in the same order of
// sequence numbers: a difference is kFailedPrecondition on every rank that called, naming both
// calls; a call that cannot be done (check_call) fails for all ranks and names its caller; a rank
// that does not call is named by kDeadlineExceeded; a failed rank is named by the errors of all
// pending and later calls. Details of these errors: Culprits. stop cancels this rank's wait only:
// its contribution stands, the others run on. A call whose deadline has passed fails for all ranks,
// with nothing begun. Futures complete on the group's executor. Between processes calls run one
// after the other, in the order of their numbers: a number that was reserved must be called; and a
// rank that has its results keeps them when the call ends in an error elsewhere. What a rank has
// already, as the root of a broadcast or alone in its group, it gets as the buffer that it gave.
// Between processes a thread that blocks for a call (wait_blocking) moves its job's bytes
// meanwhile. What runs inline where those come may run on it then: actors that other processes may
// find (ActorOptions::inline_when_idle), and continuations of asks of actors there. So it holds no
// mutex that these take. Thread-safety: thread-safe, though the order of calls of one rank is its
// program's.
class ProcessGroup {
 public:
  // One member per device, ranks in the order of devices; subsets of devices may form groups of
  // their own. kInvalidArgument for no devices, an empty one, or one device twice. A device that
  // fails is a failed rank. trace may be nullptr.
  static Result<std::vector<ProcessGroup>> create(actors::ActorSystem& system,
                                                  const std::string& name,
                                                  std::span<const devices::Device> devices,
                                                  TraceRecorder* trace = nullptr);

  // The members of this process, of a group of processes of the mesh, whose ranks are (process,
  // device) in order. Each process calls it, with at least one device and the same name; the n-th
  // group of a name has the number n everywhere. kDeadlineExceeded by call names the processes that
  // have not come; the errors of create(). A process that is lost is a failed rank (its error has
  // rank, host and pid).
  static Future<std::vector<ProcessGroup>> meet(actors::ActorSystem& system, Ref<net::Mesh> mesh,
                                                const GroupName& name,
                                                std::span<const devices::Device> devices,
                                                const MeetOptions& options = {});

  Rank rank() const { return rank_; }
  int size() const;
  const std::string& name() const;
  const devices::Device& device() const;

  // Element-wise over the ranks, for every array of the list as one bucket; starts when the inputs
  // of all ranks are written. All ranks get identical bits, combined in the order of the ranks.
  Future<devices::Buffers> all_reduce(const devices::Buffers& buffers, ReduceOp op,
                                      const CollectiveOptions& options = {}) const;
  // Concatenates along the first dimension in the order of the ranks; scalars become a vector.
  Future<devices::Buffers> all_gather(const devices::Buffers& buffers,
                                      const CollectiveOptions& options = {}) const;
  // The root's bytes on every rank. The others pass arrays of the same shapes, which are not read.
  Future<devices::Buffers> broadcast(const devices::Buffers& buffers, Rank root,
                                     const CollectiveOptions& options = {}) const;
  // The same for a receiver that has no arrays yet.
  Future<devices::Buffers> broadcast(const ListOf<devices::Shape>& shapes, Rank root,
                                     const CollectiveOptions& options = {}) const;
  // As all_reduce, but each rank gets its part of the first dimension, which is a multiple of the
  // group's size (kInvalidArgument).
  Future<devices::Buffers> reduce_scatter(const devices::Buffers& buffers, ReduceOp op,
                                          const CollectiveOptions& options = {}) const;
  // Part t of rank s becomes part s of rank t: parts of the first dimension, as in reduce_scatter.
  Future<devices::Buffers> all_to_all(const devices::Buffers& buffers,
                                      const CollectiveOptions& options = {}) const;
  // The arrays of each source on its target; zeros where a rank is no target. No rank is twice a
  // source or twice a target (kInvalidArgument). All ranks give arrays and the same list of pairs.
  Future<devices::Buffers> collective_permute(const devices::Buffers& buffers,
                                              const ListOf<RankPair>& pairs,
                                              const CollectiveOptions& options = {}) const;
  // What all_gather gives, on the root; the others get no arrays.
  Future<devices::Buffers> gather(const devices::Buffers& buffers, Rank root,
                                  const CollectiveOptions& options = {}) const;
  // Each rank's part of the root's arrays, as in reduce_scatter. The others pass arrays of the same
  // shapes as the root's, which are not read, or the shapes.
  Future<devices::Buffers> scatter(const devices::Buffers& buffers, Rank root,
                                   const CollectiveOptions& options = {}) const;
  Future<devices::Buffers> scatter(const ListOf<devices::Shape>& shapes, Rank root,
                                   const CollectiveOptions& options = {}) const;
  Future<void> barrier(const CollectiveOptions& options = {}) const;
  // One number of all: reduced on its way up a tree of radix 8, so that no process of many sends or
  // gets more than nine messages.
  Future<std::int64_t> agree(AgreeOp op, std::int64_t value,
                             const CollectiveOptions& options = {}) const;

  // This rank's handle of a new group: of the ranks that give this color, in the order of their
  // keys, equal ones in the order of the ranks. All ranks of this group call it; a rank that needs
  // no group gives a color of its own. The new group is closed by itself. It hears of devices that
  // fail, not of fail_rank() of this one.
  Future<ProcessGroup> split(int color, int key, const CollectiveOptions& options = {}) const;

  // Meets the ranks of subset (all, when empty) that call the same tag, in no order with the
  // collectives above, and gives the payload of each rank by position in the sorted subset. A tag
  // names a kind of meeting: the n-th call of a tag on a subset meets the n-th of the others.
  Future<Payloads> rendezvous(std::string tag, std::string payload, const ListOf<Rank>& subset = {},
                              const CallOptions& options = {}) const;

  // Takes count sequence numbers of this rank at once; the first of them.
  std::uint64_t reserve(std::uint64_t count) const;
  // Declares a rank of the group (CHECKed) failed: what is pending and all later calls fail with
  // its name.
  void fail_rank(Rank rank, const Error& error) const;
  // Closes the group for all ranks of this process: what is pending fails with kCancelled, in other
  // processes too where it needs these ranks. Then this completes.
  Future<void> close() const;

 private:
  struct Core;
  Core& core() const;  // CHECKs that this handle was not moved from
  ProcessGroup(std::shared_ptr<Core> core, Rank rank) : core_(std::move(core)), rank_(rank) {}
  static Status check_devices(const std::string& name, std::span<const devices::Device> devices);
  // wire: none for a group of one process. Closed here if there is an error.
  static Result<std::vector<ProcessGroup>> make(actors::ActorSystem& system,
                                                const std::string& name,
                                                std::span<const devices::Device> devices,
                                                TraceRecorder* trace, const Ref<GroupWire>& wire,
                                                std::shared_ptr<net::GroupProgress> progress = {});
  static Status spawn_actors(const std::shared_ptr<Core>& core);
  RankCall numbered(CollectiveCall call, const CollectiveOptions& options,
                    const Status& in_time) const;
  Future<devices::Buffers> call(CollectiveCall call, devices::Buffers buffers,
                                const CollectiveOptions& options) const;
  Future<Numbers> call(CollectiveCall call, std::vector<std::int64_t> numbers,
                       const CollectiveOptions& options, const Status& in_time) const;

  std::shared_ptr<Core> core_;
  Rank rank_;
};

// Whether other processes are the reason of an error that a call of a group has given: one is lost
// or has ended (net::PeerLoss, net::PeerEnded), or ranks have failed, or have not come, and none of
// them is of this process. In a job that goes on, a program then makes the group again in the next
// world (Runtime::next_world(), README.md). mine: the members that this process has or had. Pure.
bool failed_elsewhere(const Error& error, std::span<const ProcessGroup> mine);

}  // namespace millrace::collectives
