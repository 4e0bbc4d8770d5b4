#include "millrace/collectives/process_group.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "millrace/collectives/rendezvous.h"
#include "millrace/collectives/split.h"
#include "millrace/collectives/wire.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/net/peer_loss.h"
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
  std::vector<Device> devices;  // of the ranks of this process
  const Ref<GroupWire> wire;    // none: those are all
  const int first;              // rank of the first
  std::vector<std::atomic<std::uint64_t>> next_sequence;
  actors::ActorRef<GroupActor> group;
  std::vector<actors::ActorRef<RendezvousActor>> meetings;

  std::vector<Watch> watches;  // by device; the devices know them weakly

  // For groups that are split off.
  actors::ActorSystem& system;
  TraceRecorder* const trace;
  SplitTable splits;

  Core(actors::ActorSystem& actor_system, TraceRecorder* recorder, std::size_t here,
       Ref<GroupWire> group_wire)
      : wire(std::move(group_wire)),
        first(wire ? wire->first_rank() : 0),
        next_sequence(here),
        watches(here),
        system(actor_system),
        trace(recorder) {}

  int size() const { return wire ? wire->spread().ranks() : static_cast<int>(devices.size()); }
  std::size_t place(Rank rank) const { return static_cast<std::size_t>(index(rank) - first); }
  GroupHooks make_hooks() const;

  // Between processes a call ends on the mesh's home, where nothing of users runs for it
  // (AnswerScope).
  template <class T>
  Future<T> on_mesh(const Future<T>& answer) const {
    return wire ? completed_on(wire->mesh()->home(), answer) : answer;
  }
  Status in_time(const CallOptions& options, const char* what) const {
    return check_in_time(options, *group.cell()->home().environment.clock, what);
  }
  Status in_time_for(const CollectiveOptions& options) const {
    return in_time(options.call, "a collective");
  }
  Result<SplitMembers> make_sub_groups(std::uint64_t sequence,
                                       std::span<const SplitPlace> places) const;
  void fail_rank(Rank rank, const Error& error) const {
    give_notice(news, group, RankFailed{rank, error});
    for (const auto& meeting : meetings) meeting.send_notice(RankFailed{rank, error});
  }
  // News for the group's actor, in their order. Thread-safety: thread-safe.
  struct News {
    Mutex mutex;
    std::deque<std::function<void()>> line MILLRACE_GUARDED_BY(mutex);
    bool runs MILLRACE_GUARDED_BY(mutex) = false;
  };
  // What the actor does with them may end calls, and so run what waits for them: never on the
  // thread that has the news, such as the mesh's.
  template <class Notice>
  static void give_notice(const std::shared_ptr<News>& news,
                          const actors::ActorRef<GroupActor>& group, Notice notice) {
    MutexLock lock(news->mutex);
    news->line.push_back(
        [group, notice = std::move(notice)] { group.send_notice(Notice(notice)); });
    if (std::exchange(news->runs, true)) return;
    post(*group.cell()->home().environment.compute, [news] { run(*news); });
  }
  static void run(News& news) {
    for (;;) {
      std::function<void()> give;
      {
        MutexLock lock(news.mutex);
        news.runs = !news.line.empty();
        if (!news.runs) return;
        give = std::move(news.line.front());
        news.line.pop_front();
      }
      give();
    }
  }

  const std::shared_ptr<News> news = std::make_shared<News>();
};

// They keep the actors, which close the wire and so release them.
GroupHooks ProcessGroup::Core::make_hooks() const {
  GroupHooks hooks;
  hooks.ended = [line = news, actor = group](std::uint64_t sequence, const Error& error) {
    give_notice(line, actor, CallEnded{sequence, error});
  };
  hooks.asked = [line = news, actor = group](std::uint64_t sequence, int asker) {
    give_notice(line, actor, CallAsked{sequence, asker});
  };
  hooks.failed = [line = news, actor = group, all = meetings](Rank rank, const Error& error) {
    give_notice(line, actor, RankFailed{rank, error, true});
    for (const auto& meeting : all) meeting.send_notice(RankFailed{rank, error, true});
  };
  hooks.left = [all = meetings](Rank rank, const Error& error) {
    for (const auto& meeting : all) meeting.send_notice(RankLeft{rank, error});
  };
  hooks.met = [all = meetings, from = first](Rank to, RendezvousMessage message) {
    all[static_cast<std::size_t>(index(to) - from)].send_notice(std::move(message));
  };
  return hooks;
}

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

Status ProcessGroup::check_devices(const std::string& name, std::span<const Device> devices) {
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
  return {};
}

Result<std::vector<ProcessGroup>> ProcessGroup::create(actors::ActorSystem& system,
                                                       const std::string& name,
                                                       std::span<const Device> devices,
                                                       TraceRecorder* trace) {
  MILLRACE_TRY_STATUS(check_devices(name, devices));
  return make(system, name, devices, trace, {});
}

Future<std::vector<ProcessGroup>> ProcessGroup::meet(actors::ActorSystem& system,
                                                     Ref<net::Mesh> mesh, const GroupName& name,
                                                     std::span<const Device> devices,
                                                     const MeetOptions& options) {
  if (const Status valid = check_devices(name.name, devices); !valid) return valid.error();
  const auto ranks = static_cast<int>(devices.size());
  std::vector<std::uint32_t> processes = options.processes;
  if (processes.empty()) {
    processes.resize(mesh->size());
    std::iota(processes.begin(), processes.end(), 0U);
  }
  return GroupWire::meet(std::move(mesh), name, std::move(processes), ranks, options.call)
      .then(inline_executor(),
            [&system, name, options, kept = std::vector<Device>(devices.begin(), devices.end())](
                const Result<Ref<GroupWire>>& wire) -> Result<std::vector<ProcessGroup>> {
              if (!wire) return std::unexpected(wire.error());
              return make(system, name.name, kept, options.trace, *wire, options.progress);
            });
}

Status ProcessGroup::spawn_actors(const std::shared_ptr<Core>& core) {
  // A process may have several members of a group, and groups of one name at a time.
  std::string label = core->name;
  if (core->wire) {
    label +=
        " " + std::to_string(core->wire->number()) + " from rank " + std::to_string(core->first);
    // That of the world before may still be there, as long as the program has its members.
    if (core->wire->epoch() > 0) label += " of epoch " + std::to_string(core->wire->epoch());
  }
  // Between processes a call costs wake-ups enough without one of the actor.
  MILLRACE_TRY(core->group,
               core->system.spawn<GroupActor>("group " + label,
                                              {.inline_when_idle = static_cast<bool>(core->wire)},
                                              core->name, core->devices, core->trace,
                                              std::shared_ptr<const void>(core), core->wire));
  for (std::size_t d = 0; d < core->devices.size(); ++d) {
    const Rank rank{core->first + static_cast<int>(d)};
    MILLRACE_TRY(auto member, core->system.spawn<RendezvousActor>(
                                  "rendezvous " + label + "/" + std::to_string(index(rank)), {},
                                  core->name, rank));
    core->meetings.push_back(member);
  }
  return {};
}

Result<std::vector<ProcessGroup>> ProcessGroup::make(actors::ActorSystem& system,
                                                     const std::string& name,
                                                     std::span<const Device> devices,
                                                     TraceRecorder* trace,
                                                     const Ref<GroupWire>& wire,
                                                     std::shared_ptr<net::GroupProgress> progress) {
  // Not make_shared: weak pointers, which may stay a while, would keep all of its memory.
  std::shared_ptr<Core> core(new Core(system, trace, devices.size(), wire));
  core->name = name;
  core->devices.assign(devices.begin(), devices.end());
  if (Status spawned = spawn_actors(core); !spawned) {
    if (core->group.cell() != nullptr) core->group.stop().ignore();
    for (const auto& meeting : core->meetings) meeting.stop().ignore();
    if (wire) wire->close().ignore();
    return std::unexpected(std::move(spawned).error());
  }
  const auto peers = std::make_shared<RendezvousPeers>();
  peers->first = core->first;
  peers->here = core->meetings;
  if (wire) {
    peers->far = [wire](Rank from, Rank to, const RendezvousMessage& message) {
      // Its bounds were checked at the join.
      static_cast<void>(wire->send(from, to, message));
    };
    peers->greet = [wire](Rank to) { wire->greet(to); };
    GroupHooks hooks = core->make_hooks();
    hooks.progress = std::move(progress);
    wire->start(std::move(hooks));
  }
  std::vector<ProcessGroup> members;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    core->meetings[d].send_notice(RendezvousWire{peers});
    members.push_back(ProcessGroup(core, Rank{core->first + static_cast<int>(d)}));
    Core::Watch& watch = core->watches[d];
    watch.core = core.get();
    watch.rank = members.back().rank();
    // The device lives longer than the group: it must not keep it, nor through it itself.
    devices[d].body()->add_listener(std::shared_ptr<devices::FailureListener>(core, &watch));
  }
  return members;
}

ProcessGroup::Core& ProcessGroup::core() const {
  MILLRACE_CHECK(core_, "a ProcessGroup that was moved from was used");
  return *core_;
}

int ProcessGroup::size() const { return core().size(); }
const std::string& ProcessGroup::name() const { return core().name; }
const Device& ProcessGroup::device() const { return core().devices[core().place(rank_)]; }

std::uint64_t ProcessGroup::reserve(std::uint64_t count) const {
  return core().next_sequence[core().place(rank_)].fetch_add(count);
}

RankCall ProcessGroup::numbered(CollectiveCall call, const CollectiveOptions& options,
                                const Status& in_time) const {
  RankCall numbered;
  numbered.rank = rank_;
  numbered.sequence = options.sequence ? *options.sequence : reserve(1);
  numbered.call = std::move(call);
  numbered.call.algorithm = options.algorithm;
  numbered.deadline = options.call.deadline;
  numbered.flow = options.flow;
  // The deadline goes with the request: the group knows whom to name. Stop ends this rank's wait
  // only. Nothing is kept from the group, be it too late: the others wait for this rank's number.
  if (!in_time && !options.call.stop.stop_requested()) numbered.late = in_time.error();
  return numbered;
}

Future<Buffers> ProcessGroup::call(CollectiveCall call, Buffers buffers,
                                   const CollectiveOptions& options) const {
  const Status in_time = core().in_time_for(options);
  CollectiveRequest request{numbered(std::move(call), options, in_time), std::move(buffers)};
  return core().on_mesh(wait_in_time(core().group.ask(std::move(request)), in_time, options.call));
}

Future<Numbers> ProcessGroup::call(CollectiveCall call, std::vector<std::int64_t> numbers,
                                   const CollectiveOptions& options, const Status& in_time) const {
  NumbersRequest request{numbered(std::move(call), options, in_time), std::move(numbers)};
  return core().group.ask(std::move(request));
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
  const Future<void> met = call({Kind::kBarrier, ReduceOp::kSum, Rank{0}, {}}, {}, options)
                               .then(brief_executor(), [](const Result<Buffers>& done) -> Status {
                                 if (!done) return std::unexpected(done.error());
                                 return {};
                               });
  return core().on_mesh(met);
}

Future<std::int64_t> ProcessGroup::agree(AgreeOp op, std::int64_t value,
                                         const CollectiveOptions& options) const {
  const Status in_time = core().in_time_for(options);
  const Future<std::int64_t> agreed =
      call(agree_call(op), {value}, options, in_time)
          .then(brief_executor(), [](const Result<Numbers>& numbers) -> Result<std::int64_t> {
            if (!numbers) return std::unexpected(numbers.error());
            return (**numbers)[0];
          });
  return core().on_mesh(wait_in_time(agreed, in_time, options.call));
}

// The members of the new groups that are this process's: of each group one for each run of ranks
// that one member of this group has.
Result<SplitMembers> ProcessGroup::Core::make_sub_groups(std::uint64_t sequence,
                                                         std::span<const SplitPlace> places) const {
  std::vector<std::optional<ProcessGroup>> found(devices.size());
  const auto make_member = [&](const std::string& part_name, std::span<const Rank> ranks,
                               const Ref<GroupWire>& part_wire) -> Status {
    std::vector<Device> part_devices;
    for (const Rank rank : ranks) part_devices.push_back(devices[place(rank)]);
    MILLRACE_TRY(const auto made,
                 ProcessGroup::make(system, part_name, part_devices, trace, part_wire));
    for (std::size_t i = 0; i < ranks.size(); ++i) found[place(ranks[i])] = made[i];
    return {};
  };
  Status status;
  const auto make_part = [&](const SubGroup& part) {
    const std::string part_name =
        name + "/" + std::to_string(sequence) + "/" + std::to_string(part.color);
    if (!wire) {
      if (status) status = make_member(part_name, part.ranks, {});
      return;
    }
    const std::vector<SubMember> runs = sub_members(part, wire->spread());
    std::vector<GroupMember> part_members;
    for (const SubMember& run : runs) {
      const GroupMember& whole = wire->members()[static_cast<std::size_t>(run.process)];
      part_members.push_back({whole.process, whole.pid, static_cast<int>(run.ranks.size())});
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].process != wire->self()) continue;
      const Ref<GroupWire> part_wire = GroupWire::make(wire->mesh(), {part_name, wire->number()},
                                                       part_members, static_cast<int>(i));
      // After a failure others may get the group: they hear that this member has closed.
      if (status) {
        status = make_member(part_name, runs[i].ranks, part_wire);
      } else {
        part_wire->close().ignore();
      }
    }
  };
  for (const SubGroup& part : sub_groups(places)) make_part(part);
  if (!status) {
    for (const auto& member : found) {
      if (member) member->close().ignore();
    }
    return std::unexpected(status.error());
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
  core().splits.enter(sequence);
  const auto make = [core = core_, sequence](const Result<Numbers>& met) {
    const Status status = met ? Status() : Status(std::unexpected(met.error()));
    return core->splits.leave(sequence, status, [&] {
      std::vector<SplitPlace> places;
      for (std::size_t i = 0; i + 1 < (*met)->size(); i += 2)
        places.push_back({static_cast<int>((**met)[i]), static_cast<int>((**met)[i + 1])});
      return core->make_sub_groups(sequence, places);
    });
  };
  const auto mine =
      [place = core().place(rank_)](const Result<SplitMembers>& members) -> Result<ProcessGroup> {
    if (!members) return std::unexpected(members.error());
    return (**members)[place];
  };
  const Future<ProcessGroup> member = call(split_call(), {color, key}, numbered, in_time)
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
  const std::size_t most =
      std::min(kMostWirePayload, kMostWirePayloads / static_cast<std::size_t>(ranks->size()));
  if (core().wire && (tag.size() > kMostTag || payload.size() > most)) {
    return fail(ErrorCode::kResourceExhausted,
                "rendezvous '" + tag.substr(0, 64) + "' of group '" + core().name +
                    "' spans processes: a tag has " + std::to_string(kMostTag) +
                    " bytes at most, and a payload " + std::to_string(most));
  }
  RendezvousJoin join{std::move(tag), ranks, std::move(payload), options.deadline};
  const auto& actor = core().meetings[core().place(rank_)];
  const Status in_time = core().in_time(options, "a rendezvous");
  return wait_in_time(actor.ask(std::move(join)), in_time, options);
}

void ProcessGroup::fail_rank(Rank rank, const Error& error) const {
  MILLRACE_CHECK(index(rank) >= 0 && index(rank) < size(),
                 "a rank of another group was declared failed");
  core().fail_rank(rank, error);
}

Future<void> ProcessGroup::close() const {
  std::vector<Future<actors::Down>> downs = {core().group.stop()};
  for (const auto& meeting : core().meetings) downs.push_back(meeting.stop());
  return when_all(downs);
}

bool failed_elsewhere(const Error& error, std::span<const ProcessGroup> mine) {
  if (error.detail<net::PeerLoss>() != nullptr || error.detail<net::PeerEnded>() != nullptr)
    return true;
  const auto* const culprits = error.detail<Culprits>();
  if (culprits == nullptr ||
      (culprits->kind != Culprits::Kind::kFailed && culprits->kind != Culprits::Kind::kMissing))
    return false;
  return std::ranges::none_of(mine, [&](const ProcessGroup& member) {
    return std::ranges::find(culprits->ranks, member.rank()) != culprits->ranks.end();
  });
}

}  // namespace millrace::collectives
