#include "millrace/collectives/process_group.h"

#include <algorithm>

#include "millrace/collectives/rendezvous.h"
#include "millrace/collectives/split.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"

namespace millrace::collectives {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::Shape;
using Kind = CollectiveCall::Kind;

// Shared by the members and, until it has stopped, by the group's actor: calls that are pending
// keep hearing of failures when no handle of a member is left. The actors are stopped by close()
// or, at the latest, by their system.
struct ProcessGroup::Core {
  // The watch over a rank only sends messages, so it may run where the failure is reported.
  struct Watch final : devices::FailureListener {
    const Core* core = nullptr;
    Rank rank{};
    void on_device_failed(const Error& reason) override { core->fail_rank(rank, reason); }
  };

  std::string name;
  std::vector<Device> devices;
  std::vector<std::atomic<std::uint64_t>> next_sequence;
  actors::ActorRef<GroupActor> group;
  std::vector<actors::ActorRef<RendezvousActor>> meetings;

  std::vector<Watch> watches;  // by rank; the devices know them weakly

  // For groups that are split off.
  actors::ActorSystem& system;
  TraceRecorder* const trace;
  SplitTable splits;

  Core(actors::ActorSystem& actor_system, TraceRecorder* recorder, std::size_t size)
      : next_sequence(size), watches(size), system(actor_system), trace(recorder), splits(size) {}

  Status in_time(const CallOptions& options, const char* what) const {
    return check_in_time(options, *group.cell()->home().environment.clock, what);
  }
  Status in_time_for(const CollectiveOptions& options) const {
    return in_time(options.call, "a collective");
  }
  Result<SplitMembers> make_sub_groups(std::uint64_t sequence,
                                       std::span<const SplitPlace> places) const;
  void fail_rank(Rank rank, const Error& error) const {
    group.send_notice(RankFailed{rank, error});
    for (const auto& meeting : meetings) meeting.send_notice(RankFailed{rank, error});
  }
};

namespace {

PooledVector<Shape> shapes_of(const Buffers& buffers) {
  PooledVector<Shape> shapes;
  shapes.reserve(buffers.size());
  for (const Buffer& buffer : buffers) shapes.push_back(buffer ? buffer.shape() : Shape());
  return shapes;
}

// What the group answers, for a rank that has come in time.
template <class T>
Future<T> wait_in_time(const Future<T>& answer, const Status& in_time, const CallOptions& options) {
  if (in_time) return with_stop(answer, options.stop);
  answer.ignore();
  return in_time.error();
}

}  // namespace

Result<std::vector<ProcessGroup>> ProcessGroup::create(actors::ActorSystem& system,
                                                       const std::string& name,
                                                       std::span<const Device> devices,
                                                       TraceRecorder* trace) {
  if (devices.empty())
    return fail(ErrorCode::kInvalidArgument, "group '" + name + "' has no devices");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i]) {
      return fail(ErrorCode::kInvalidArgument, "group '" + name + "': the device of rank " +
                                                   std::to_string(i) + " is an empty Device");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[i].body() == devices[j].body()) {
        return fail(ErrorCode::kInvalidArgument,
                    "group '" + name + "' has the same device as ranks " + std::to_string(j) +
                        " and " + std::to_string(i) + "; a device is one rank");
      }
    }
  }
  // Not make_shared: weak pointers, which may stay a while, would keep all of its memory.
  std::shared_ptr<Core> core(new Core(system, trace, devices.size()));
  core->name = name;
  core->devices.assign(devices.begin(), devices.end());
  MILLRACE_TRY(core->group, system.spawn<GroupActor>("group " + name, {}, name, core->devices,
                                                     trace, std::shared_ptr<const void>(core)));
  for (std::size_t r = 0; r < devices.size(); ++r) {
    MILLRACE_TRY(auto member,
                 system.spawn<RendezvousActor>("rendezvous " + name + "/" + std::to_string(r), {},
                                               name, Rank{static_cast<int>(r)}));
    core->meetings.push_back(member);
  }
  const auto peers =
      std::make_shared<const std::vector<actors::ActorRef<RendezvousActor>>>(core->meetings);
  std::vector<ProcessGroup> members;
  for (std::size_t r = 0; r < devices.size(); ++r) {
    core->meetings[r].send_notice(RendezvousWire{peers});
    members.push_back(ProcessGroup(core, Rank{static_cast<int>(r)}));
    Core::Watch& watch = core->watches[r];
    watch.core = core.get();
    watch.rank = members.back().rank();
    // The device lives longer than the group: it must not keep it, nor through it itself.
    devices[r].body()->add_listener(std::shared_ptr<devices::FailureListener>(core, &watch));
  }
  return members;
}

ProcessGroup::Core& ProcessGroup::core() const {
  MILLRACE_CHECK(core_, "a ProcessGroup that was moved from was used");
  return *core_;
}

int ProcessGroup::size() const { return static_cast<int>(core().devices.size()); }
const std::string& ProcessGroup::name() const { return core().name; }
const Device& ProcessGroup::device() const { return core().devices[at(rank_)]; }

std::uint64_t ProcessGroup::reserve(std::uint64_t count) const {
  return core().next_sequence[at(rank_)].fetch_add(count);
}

Future<Buffers> ProcessGroup::ask(CollectiveCall call, Buffers buffers,
                                  const CollectiveOptions& options, const Status& in_time) const {
  CollectiveRequest request;
  request.rank = rank_;
  request.sequence = options.sequence ? *options.sequence : reserve(1);
  request.call = std::move(call);
  request.buffers = std::move(buffers);
  request.deadline = options.call.deadline;
  request.flow = options.flow;
  // The deadline goes with the request: the group knows whom to name. Stop ends this rank's wait
  // only. Nothing is kept from the group, be it too late: the others wait for this rank's number.
  if (!in_time && !options.call.stop.stop_requested()) request.late = in_time.error();
  return core().group.ask(std::move(request));
}

Future<Buffers> ProcessGroup::call(CollectiveCall call, Buffers buffers,
                                   const CollectiveOptions& options) const {
  const Status in_time = core().in_time_for(options);
  return wait_in_time(ask(std::move(call), std::move(buffers), options, in_time), in_time,
                      options.call);
}

Future<Buffers> ProcessGroup::all_reduce(const Buffers& buffers, ReduceOp op,
                                         const CollectiveOptions& options) const {
  return call({Kind::kAllReduce, op, Rank{0}, shapes_of(buffers)}, buffers, options);
}

Future<Buffers> ProcessGroup::all_gather(const Buffers& buffers,
                                         const CollectiveOptions& options) const {
  return call({Kind::kAllGather, ReduceOp::kSum, Rank{0}, shapes_of(buffers)}, buffers, options);
}

Future<Buffers> ProcessGroup::broadcast(const Buffers& buffers, Rank root,
                                        const CollectiveOptions& options) const {
  return call({Kind::kBroadcast, ReduceOp::kSum, root, shapes_of(buffers)}, buffers, options);
}

Future<Buffers> ProcessGroup::broadcast(const ListOf<Shape>& shapes, Rank root,
                                        const CollectiveOptions& options) const {
  return call({Kind::kBroadcast, ReduceOp::kSum, root, {shapes.begin(), shapes.end()}}, {},
              options);
}

Future<Buffers> ProcessGroup::reduce_scatter(const Buffers& buffers, ReduceOp op,
                                             const CollectiveOptions& options) const {
  return call({Kind::kReduceScatter, op, Rank{0}, shapes_of(buffers)}, buffers, options);
}

Future<Buffers> ProcessGroup::all_to_all(const Buffers& buffers,
                                         const CollectiveOptions& options) const {
  return call({Kind::kAllToAll, ReduceOp::kSum, Rank{0}, shapes_of(buffers)}, buffers, options);
}

Future<Buffers> ProcessGroup::collective_permute(const Buffers& buffers,
                                                 const ListOf<RankPair>& pairs,
                                                 const CollectiveOptions& options) const {
  return call({Kind::kCollectivePermute,
               ReduceOp::kSum,
               Rank{0},
               shapes_of(buffers),
               {pairs.begin(), pairs.end()}},
              buffers, options);
}

Future<Buffers> ProcessGroup::gather(const Buffers& buffers, Rank root,
                                     const CollectiveOptions& options) const {
  return call({Kind::kGather, ReduceOp::kSum, root, shapes_of(buffers)}, buffers, options);
}

Future<Buffers> ProcessGroup::scatter(const Buffers& buffers, Rank root,
                                      const CollectiveOptions& options) const {
  return call({Kind::kScatter, ReduceOp::kSum, root, shapes_of(buffers)}, buffers, options);
}

Future<Buffers> ProcessGroup::scatter(const ListOf<Shape>& shapes, Rank root,
                                      const CollectiveOptions& options) const {
  return call({Kind::kScatter, ReduceOp::kSum, root, {shapes.begin(), shapes.end()}}, {}, options);
}

Future<void> ProcessGroup::barrier(const CollectiveOptions& options) const {
  return call({Kind::kBarrier, ReduceOp::kSum, Rank{0}, {}}, {}, options)
      .then(inline_executor(), [](const Result<Buffers>& done) -> Status {
        if (!done) return std::unexpected(done.error());
        return {};
      });
}

Result<SplitMembers> ProcessGroup::Core::make_sub_groups(std::uint64_t sequence,
                                                         std::span<const SplitPlace> places) const {
  std::vector<std::optional<ProcessGroup>> found(places.size());
  for (const SubGroup& part : sub_groups(places)) {
    std::vector<Device> part_devices;
    for (const Rank rank : part.ranks) part_devices.push_back(devices[at(rank)]);
    const std::string part_name =
        name + "/" + std::to_string(sequence) + "/" + std::to_string(part.color);
    auto made = ProcessGroup::create(system, part_name, part_devices, trace);
    if (!made) {
      for (const auto& member : found) {
        if (member && member->rank() == Rank{0}) member->close().ignore();
      }
      return std::unexpected(made.error());
    }
    for (std::size_t i = 0; i < part.ranks.size(); ++i) found[at(part.ranks[i])] = (*made)[i];
  }
  auto members = std::make_shared<std::vector<ProcessGroup>>();
  for (auto& member : found) members->push_back(*std::move(member));
  return members;
}

Future<ProcessGroup> ProcessGroup::split(int color, int key,
                                         const CollectiveOptions& options) const {
  CollectiveOptions numbered = options;
  if (!numbered.sequence) numbered.sequence = reserve(1);
  const std::uint64_t sequence = *numbered.sequence;
  const Status in_time = core().in_time_for(numbered);
  core().splits.enter(sequence, rank_, {color, key});
  const auto make = [core = core_, sequence](const Result<Buffers>& met) {
    const Status status = met ? Status() : Status(std::unexpected(met.error()));
    return core->splits.leave(sequence, status, [&](std::span<const SplitPlace> places) {
      return core->make_sub_groups(sequence, places);
    });
  };
  const auto mine = [rank = rank_](const Result<SplitMembers>& members) -> Result<ProcessGroup> {
    if (!members) return std::unexpected(members.error());
    return (**members)[at(rank)];
  };
  const Future<ProcessGroup> member =
      ask({Kind::kSplit, ReduceOp::kSum, Rank{0}, {}}, {}, numbered, in_time)
          .then(inline_executor(), make)
          .then(inline_executor(), mine);
  return wait_in_time(member, in_time, numbered.call);
}

Future<Payloads> ProcessGroup::rendezvous(std::string tag, std::string payload,
                                          const ListOf<Rank>& subset,
                                          const CallOptions& options) const {
  std::vector<Rank> members(subset.begin(), subset.end());
  if (members.empty()) {
    for (int r = 0; r < size(); ++r) members.push_back(Rank{r});
  }
  const auto ranks = std::make_shared<const RankSet>(std::move(members));
  const bool inside = index(ranks->ranks().front()) >= 0 && index(ranks->ranks().back()) < size();
  if (!inside || !ranks->contains(rank_)) {
    return fail(ErrorCode::kInvalidArgument,
                "rendezvous '" + tag + "' of group '" + core().name + "' by " + to_string(rank_) +
                    " over " + to_string(ranks->ranks()) +
                    ": the subset must lie in the group and contain the caller");
  }
  RendezvousJoin join{std::move(tag), ranks, std::move(payload), options.deadline};
  const auto& actor = core().meetings[at(rank_)];
  const Status in_time = core().in_time(options, "a rendezvous");
  return wait_in_time(actor.ask(std::move(join)), in_time, options);
}

void ProcessGroup::fail_rank(Rank rank, const Error& error) const { core().fail_rank(rank, error); }

Future<void> ProcessGroup::close() const {
  std::vector<Future<actors::Down>> downs = {core().group.stop()};
  for (const auto& meeting : core().meetings) downs.push_back(meeting.stop());
  return when_all(downs);
}

}  // namespace millrace::collectives
