#include "millrace/collectives/group_wire.h"

#include <algorithm>
#include <span>
#include <utility>

#include "millrace/collectives/numbers.h"
#include "millrace/collectives/parcels.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/net/spare_bytes.h"

namespace millrace::collectives {
namespace {

constexpr std::int64_t kMostRanks = 1 << 20;

std::vector<int> counts_of(const std::vector<GroupMember>& members) {
  std::vector<int> counts;
  for (const GroupMember& member : members) counts.push_back(member.ranks);
  return counts;
}

Subset all_ranks(int size) {
  std::vector<Rank> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(Rank{r});
  return std::make_shared<const RankSet>(std::move(ranks));
}

}  // namespace

GroupWire::GroupWire(Ref<net::Mesh> mesh, GroupName name, std::vector<GroupMember> members,
                     int self)
    : mesh_(std::move(mesh)),
      name_(std::move(name)),
      members_(std::move(members)),
      spread_(counts_of(members_)),
      self_(self),
      epoch_(mesh_->epoch()),
      number_((std::uint64_t{epoch_} << 32) + name_.number),
      world_(all_ranks(spread_.ranks())),
      peers_(members_.size()) {
  alive_->wire = this;
}

Ref<GroupWire> GroupWire::make(Ref<net::Mesh> mesh, GroupName name,
                               std::vector<GroupMember> members, int self) {
  return Ref<GroupWire>::adopt(
      new GroupWire(std::move(mesh), std::move(name), std::move(members), self));
}

std::string GroupWire::where(std::uint64_t sequence) const {
  return "collective " + std::to_string(sequence) + " of group '" + name_.name + "'";
}

std::vector<Rank> GroupWire::ranks_of(int member) const {
  std::vector<Rank> ranks;
  for (int r = spread_.first(member); r < spread_.first(member + 1); ++r) ranks.push_back(Rank{r});
  return ranks;
}

std::string GroupWire::named(int member) const {
  const GroupMember& one = members_[static_cast<std::size_t>(member)];
  std::string text = to_string(ranks_of(member));
  if (one.pid == 0) return text;
  const std::string host = mesh_->member(one.process).host;
  return text + " (" + (host.empty() ? "" : "host " + host + ", ") + "pid " +
         std::to_string(one.pid) + ")";
}

Error GroupWire::naming(const Error& error, int member) const {
  if (net::named_in(error) != nullptr) return error;
  return error.with_detail(mesh_->member(rank_in_job(member)));
}

void GroupWire::start(GroupHooks hooks) {
  at_home([hooks = std::move(hooks)](GroupWire& wire) mutable {
    if (wire.closed_) return;
    wire.hooks_ = std::move(hooks);
    wire.mesh_->set_sink(
        wire.route(),
        [kept = wire.self_ref()](std::uint32_t from, net::Frame frame) -> Future<void> {
          const Status heard = kept->hear(from, std::move(frame));
          if (heard) return {};
          return heard.error();
        },
        net::Payloads::kMayBeLent);
    for (int member = 0; member < wire.spread_.processes(); ++member) wire.watch(member);
    // Else what is watched are the processes of the epoch after it, which end nothing of this
    // group.
    if (wire.mesh_->epoch() != wire.epoch_) {
      wire.fail_all(Error(ErrorCode::kAborted, "the epoch of group '" + wire.name_.name +
                                                   "' ended before it had begun"));
    }
  });
}

void GroupWire::watch(int member) {
  const std::uint32_t process = members_[static_cast<std::size_t>(member)].process;
  if (process == mesh_->rank()) return;
  mesh_->peer_lost(process)
      .then(home(),
            [alive = alive_, member](const Result<net::PeerLoss>& loss) {
              if (alive->wire == nullptr) return;
              const Ref<GroupWire> kept = alive->wire->self_ref();
              kept->take_end(member, loss ? loss->error() : loss.error());
            })
      .ignore();
}

// The end of a process.
void GroupWire::take_end(int member, const Error& error) {
  Peer& peer = peers_[static_cast<std::size_t>(member)];
  if (peer.left) return;  // it had closed the group
  if (error.detail<net::PeerEnded>() == nullptr) return fail_member(member, error);
  // A goodbye: what has come from it counts, and a call that needs more of it ends.
  peer.left = true;
  announce_left(member);
  drive();
}

Future<void> GroupWire::run(WireCall call) {
  Promise<void> done;
  Future<void> future = done.future();
  at_home([call = std::move(call), done = std::move(done)](GroupWire& wire) mutable {
    wire.enter(std::move(call), std::move(done));
  });
  return future;
}

void GroupWire::enter(WireCall call, Promise<void> done) {
  if (failed_) return done.set(std::unexpected(*failed_));
  if (const auto ended = ended_.find(call.sequence); ended != ended_.end())
    return done.set(std::unexpected(ended->second));
  if (call.sequence >= left_from_)
    return done.set(std::unexpected(left_error(where(call.sequence), left_)));
  if (call.sequence < next_) {  // it had ended here before its arrays were read
    const auto past = std::ranges::find(past_, call.sequence, &Past::sequence);
    if (past != past_.end() && past->error) return done.set(std::unexpected(*past->error));
    return done.set(fail(ErrorCode::kAborted, where(call.sequence) + " is over"));
  }
  if (hooks_.progress) hooks_.progress->begun.fetch_add(1, std::memory_order_relaxed);
  Call entry;
  entry.print = fingerprint(call.call);
  entry.call = std::move(call.call);
  entry.runs = std::move(call.runs);
  entry.done = std::move(done);
  calls_.emplace(call.sequence, std::move(entry));
  drive();
}

// Runs the call whose turn it is as far as it goes, then the next ones.
void GroupWire::drive() {
  for (auto found = calls_.find(next_); found != calls_.end(); found = calls_.find(next_)) {
    if (!advance(found->second)) {
      set_probe();
      return;
    }
    finish(next_, Status());
  }
}

bool GroupWire::advance(Call& call) {
  for (; call.at < call.runs.size(); ++call.at) {
    ScheduleRun& run = call.runs[call.at];
    for (auto next = run.advance(); next != ScheduleRun::Next::kDone; next = run.advance()) {
      const bool goes_on =
          next == ScheduleRun::Next::kSend ? send_data(call, run) : receive_data(call, run);
      if (!goes_on) return false;
    }
  }
  return true;
}

bool GroupWire::send_data(Call& call, ScheduleRun& run) {
  const int to = run.peer();
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  waits_for_ = to;
  if (peer.left) return end_without(to);
  if (peer.sent - peer.acked >= kWindow) return false;  // GW-3
  ++peer.sent;
  ++steps_;
  const std::span<const std::byte> whole = run.whole_message(net::kLeastSpare);
  if (whole.empty()) {
    post_frame(to, GroupSays::kData, next_, call.print, run.message());
  } else if (hears(to)) {
    const net::Frame frame = frame_to(to, GroupSays::kData, next_, call.print);
    note_sent(to, mesh_->send_now(rank_in_job(to), frame.header, whole), true);
  }
  return true;
}

bool GroupWire::receive_data(Call& call, ScheduleRun& run) {
  const int from = run.peer();
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  waits_for_ = from;
  while (!peer.came.empty() && peer.came.front().header.sequence < next_) take_first(from);
  if (peer.came.empty()) return peer.left && end_without(from);
  net::Frame& frame = peer.came.front();
  if (frame.header.sequence > next_ || frame.header.words[0] != call.print) {  // GW-2
    // Another call of it, or one that sent nothing to this process.
    if (!std::exchange(call.differs, true)) say_call(from, next_, call.print, call.call);
    return false;
  }
  const Status taken = run.take(frame);
  if (!taken) {
    const Error error = taken.error().with_context(where(next_) + ": from " + named(from));
    at_home([sequence = next_, error](GroupWire& wire) { wire.end_call(sequence, error, true); });
    call.differs = true;
    return false;
  }
  ++steps_;
  take_first(from);
  return true;
}

// The call whose turn it is needs a member that has left. Not at once: this runs inside of drive().
bool GroupWire::end_without(int member) {
  at_home([sequence = next_, error = left_error(where(next_), member)](GroupWire& wire) {
    wire.end_call(sequence, error, true);
  });
  return false;
}

void GroupWire::take_first(int member) {
  Peer& peer = peers_[static_cast<std::size_t>(member)];
  const net::FrameHeader header = peer.came.front().header;
  if (header.sequence < next_) {
    // A call that went well took all that belongs to it: this is of another one.
    const auto past = std::ranges::find(past_, header.sequence, &Past::sequence);
    if (past != past_.end() && past->call && !past->error && past->print != header.words[0])
      say_call(member, header.sequence, past->print, *past->call);
  }
  net::give_spare_bytes(std::move(peer.came.front().payload));
  peer.came.pop_front();
  ++peer.taken;
  if (peer.taken - peer.reported >= kWindow / 2) post_frame(member, GroupSays::kCredit, 0, 0);
}

// What others had sent for calls that are over.
void GroupWire::drop_stale() {
  for (int member = 0; member < spread_.processes(); ++member) {
    Peer& peer = peers_[static_cast<std::size_t>(member)];
    while (!peer.came.empty() && peer.came.front().header.sequence < next_) take_first(member);
  }
}

void GroupWire::finish(std::uint64_t sequence, const Status& status) {
  auto node = calls_.extract(sequence);
  if (hooks_.progress && !node.empty())
    hooks_.progress->done.fetch_add(1, std::memory_order_relaxed);
  Past past{sequence, 0, std::nullopt, std::nullopt};
  if (!node.empty()) {
    past.print = node.mapped().print;
    past.call = std::move(node.mapped().call);
  }
  if (!status) past.error = status.error();
  remember(std::move(past));
  if (sequence == next_) {
    ++next_;
    skip_ended();
    drop_stale();
  } else if (!status) {
    ended_.emplace(sequence, status.error());
  }
  if (auto expiry = expiries_.extract(sequence); !expiry.empty() && expiry.mapped().timer)
    mesh_->timers().cancel(*expiry.mapped().timer);
  if (node.empty()) return;
  // Behind what this process has sent for the call: others wait for it, and who hears of the end
  // may end the process.
  post(home(), [done = std::move(node.mapped().done), status]() mutable { done.set(status); });
}

void GroupWire::remember(Past past) {
  past_.push_back(std::move(past));
  if (past_.size() > kRemembered) past_.pop_front();
}

void GroupWire::skip_ended() {
  while (ended_.erase(next_) > 0) ++next_;
}

std::optional<int> GroupWire::member_of(const net::Frame& frame, std::uint32_t process) const {
  const std::uint64_t from = frame.header.words[1];
  if (from >= members_.size() || members_[from].process != process) return std::nullopt;
  return static_cast<int>(from);
}

Status GroupWire::hear(std::uint32_t process, net::Frame frame) {
  const auto from = member_of(frame, process);
  if (!from || frame.header.flags >= kGroupSayings)
    return fail(ErrorCode::kInvalidArgument,
                "a frame of group '" + name_.name + "' that no member of it has sent");
  Peer& peer = peers_[static_cast<std::size_t>(*from)];
  peer.met = true;
  const auto says = static_cast<GroupSays>(frame.header.flags);
  if (says != GroupSays::kData) frame.keep();
  peer.left = peer.left || says == GroupSays::kClosed;
  if (failed_) {
    if (says == GroupSays::kProbe && !closed_)
      post_frame(*from, GroupSays::kEnd, frame.header.sequence, 0, encode_end(*failed_));
    return {};
  }
  if (says > GroupSays::kClosed) return hear_news(*from, says, frame);
  const std::uint64_t consumed = frame.header.words[2];
  if (consumed > peer.sent) {
    return fail(ErrorCode::kInvalidArgument,
                "group '" + name_.name + "': " + named(*from) + " has taken more than was sent");
  }
  const bool more_room = consumed > peer.acked;
  peer.acked = std::max(peer.acked, consumed);
  if (says == GroupSays::kData) return hear_data(*from, std::move(frame));
  if (says == GroupSays::kClosed) hear_closed(*from, frame.header.sequence);
  if (more_room) drive();
  return {};
}

Status GroupWire::hear_data(int from, net::Frame frame) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  if (peer.came.size() >= kWindow) {
    return fail(ErrorCode::kResourceExhausted,
                "group '" + name_.name + "': " + named(from) + " sends more than it may");
  }
  peer.called = std::max(peer.called, frame.header.sequence + 1);
  peer.came.push_back(std::move(frame));
  if (peer.came.back().header.sequence < next_ && peer.came.size() == 1) take_first(from);
  drive();
  if (!peer.came.empty()) peer.came.back().keep();  // the call did not need it yet
  return {};
}

bool GroupWire::hears(int member) const {
  return !peers_[static_cast<std::size_t>(member)].left && mesh_->epoch() == epoch_;
}

net::Frame GroupWire::frame_to(int to, GroupSays says, std::uint64_t sequence, std::uint64_t word) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  peer.met = true;
  net::Frame frame = group_frame(name_.name, number_, self_, to, says, sequence);
  frame.header.words[0] = word;
  if (says <= GroupSays::kClosed) {
    frame.header.words[2] = peer.taken;
    peer.reported = peer.taken;
  }
  return frame;
}

void GroupWire::post_frame(int to, GroupSays says, std::uint64_t sequence, std::uint64_t word,
                           net::Bytes payload) {
  if (!hears(to)) return;
  net::Frame frame = frame_to(to, says, sequence, word);
  frame.payload = std::move(payload);
  note_sent(to, mesh_->send(rank_in_job(to), std::move(frame)), says == GroupSays::kData);
}

void GroupWire::note_sent(int to, const Future<void>& sent, bool needed) {
  if (sent.ready() && sent.result()) return;
  sent.then(home(),
            [alive = alive_, to, needed](const Result<void>& result) {
              if (result || alive->wire == nullptr) return;
              // News for a process that has said goodbye.
              if (!needed && result.error().detail<net::PeerEnded>() != nullptr) return;
              const Ref<GroupWire> kept = alive->wire->self_ref();
              kept->fail_member(to, result.error());
            })
      .ignore();
}

Future<Ref<GroupWire>> GroupWire::meet(Ref<net::Mesh> mesh, GroupName name,
                                       std::vector<std::uint32_t> processes, int ranks,
                                       CallOptions call) {
  MILLRACE_CHECK(ranks > 0, "each process of a group has a rank");
  const auto here = std::ranges::find(processes, mesh->rank());
  MILLRACE_CHECK(here != processes.end(), "this process is one of those that meet");
  const auto self = static_cast<int>(here - processes.begin());
  std::vector<GroupMember> meeting_members(processes.size());
  for (std::size_t p = 0; p < processes.size(); ++p) meeting_members[p].process = processes[p];
  // Where this process does not get the group, others may: they hear that its member has closed.
  const auto bury = [mesh, name, meeting_members, self] {
    make(mesh, name, meeting_members, self)->close().ignore();
  };
  const Ref<GroupWire> meeting =
      make(mesh, {name.name + " (its meeting)", name.number}, meeting_members, self);
  meeting->start({});
  const CollectiveCall split = split_call();
  const std::int64_t numbers[] = {ranks, mesh->pid()};
  auto inputs = std::make_shared<std::vector<devices::HostArray>>();
  inputs->push_back(array_of(split, numbers));
  Parcels parcels = make_parcels(split, meeting->spread(), self, *inputs).value();
  const devices::HostArray all = parcels.outcomes[0].whole;
  std::optional<TimerQueue::Id> timer;
  if (call.deadline != kNoDeadline) {
    timer = mesh->timers().schedule(call.deadline, [meeting] {
      meeting->expire(0, meeting->where(0) + " was not complete in time: ");
    });
  }
  const Future<void> met = meeting->run({0, split, std::move(parcels.runs)});
  auto made =
      met.then(inline_executor(),
               [mesh, name, meeting, split, all, timer, self, inputs,
                processes = std::move(processes)](const Status& status) -> Result<Ref<GroupWire>> {
                 if (timer) mesh->timers().cancel(*timer);
                 meeting->close().ignore();
                 if (!status) return std::unexpected(status.error());
                 const Numbers numbers = numbers_of(split, all.bytes());
                 std::vector<GroupMember> members(processes.size());
                 std::int64_t ranks_in_all = 0;
                 for (std::size_t p = 0; p < processes.size(); ++p) {
                   const std::int64_t count = (*numbers)[2 * p];
                   if (count < 1 || count > kMostRanks - ranks_in_all) {
                     return fail(ErrorCode::kInvalidArgument,
                                 "process " + std::to_string(processes[p]) + " brings " +
                                     std::to_string(count) + " ranks to group '" + name.name + "'");
                   }
                   ranks_in_all += count;
                   members[p] = {processes[p], static_cast<std::int32_t>((*numbers)[2 * p + 1]),
                                 static_cast<int>(count)};
                 }
                 return make(mesh, name, std::move(members), self);
               });
  return with_stop(made, call.stop)
      .then(inline_executor(), [meeting, bury](Result<Ref<GroupWire>> wire) {
        if (!wire) {
          meeting->close().ignore();
          bury();
        }
        return wire;
      });
}

}  // namespace millrace::collectives
