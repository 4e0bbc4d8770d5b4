// The end of a group between processes: of this member, and what the others hear of it.
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "millrace/collectives/group_wire.h"
#include "millrace/collectives/wire.h"

namespace millrace::collectives {

// All calls, with the error of failed_.
void GroupWire::end_here() {
  for (auto& [sequence, expiry] : expiries_) {
    if (expiry.timer) mesh_->timers().cancel(*expiry.timer);
  }
  expiries_.clear();
  if (probe_timer_) mesh_->timers().cancel(*probe_timer_);
  probe_timer_.reset();
  for (Peer& peer : peers_) peer.came.clear();
  auto calls = std::exchange(calls_, {});
  if (hooks_.progress) hooks_.progress->done.fetch_add(calls.size(), std::memory_order_relaxed);
  for (auto& [sequence, call] : calls)
    call.done.set(std::unexpected(failed_->with_context(where(sequence))));
}

// What takes the frames of a closed group, since a frame without a sink would wait for one: its
// senders hear that it is closed. It stays until all of them have closed it, too, and so say
// nothing more (GW-7).
struct GroupWire::Tombstone {
  Ref<net::Mesh> mesh;
  GroupName name;
  std::uint64_t number = 0;
  net::Route route;
  int self = 0;
  std::uint64_t next = 0;
  std::vector<std::pair<std::uint64_t, net::Bytes>> ends = {};  // of calls, by what errors
  std::set<std::uint64_t> open = {};                            // members that have not closed
  std::set<std::uint64_t> answered = {};

  void hear(std::uint32_t process, const net::Frame& frame) {
    const std::uint64_t from = frame.header.words[1];
    if (frame.header.flags == std::to_underlying(GroupSays::kClosed)) {
      if (open.erase(from) > 0 && open.empty()) mesh->erase_sink(route).ignore();
      return;
    }
    if (!open.contains(from) || !answered.insert(from).second) return;
    for (const auto& [sequence, error] : ends) say(process, from, GroupSays::kEnd, sequence, error);
    say(process, from, GroupSays::kClosed, next, {});
  }
  void say(std::uint32_t process, std::uint64_t member, GroupSays says, std::uint64_t sequence,
           net::Bytes payload) const {
    net::Frame frame =
        group_frame(name.name, number, self, static_cast<int>(member), says, sequence);
    frame.payload = std::move(payload);
    mesh->send(process, std::move(frame)).ignore();
  }
};

// GW-6
Future<void> GroupWire::close() {
  Promise<void> gone;
  Future<void> future = gone.future();
  at_home([gone = std::move(gone)](GroupWire& wire) mutable {
    wire.closing_.push_back(std::move(gone));
    wire.end_when_sent();
  });
  return future;
}

// What was sent before the close goes before the end, whichever of the two is first here: GW-7.
void GroupWire::end_when_sent() {
  if (closing_.empty() || under_way_.load(std::memory_order_relaxed) > 0) return;
  if (!std::exchange(closed_, true)) end_open();
  for (Promise<void>& gone : std::exchange(closing_, {})) gone.set_value();
}

void GroupWire::end_open() {
  const bool left_well = !failed_;
  const auto grave =
      std::make_shared<Tombstone>(Tombstone{mesh_, name_, number_, route(), self_, next_});
  // A member that waits for bytes of this one is to hear why there are none, and not only that this
  // one has closed: what another process says of it may come later.
  for (const Past& past : past_) {
    if (past.error) grave->ends.emplace_back(past.sequence, encode_end(*past.error));
  }
  if (failed_) grave->ends.emplace_back(next_, encode_end(*failed_));
  for (int member = 0; member < spread_.processes(); ++member) {
    Peer& peer = peers_[static_cast<std::size_t>(member)];
    if (member == self_ || peer.left) continue;
    if (left_well) flush_line(member);  // outcomes of rendezvous that others wait for
    grave->open.insert(static_cast<std::uint64_t>(member));
    if (!peer.met) continue;
    grave->answered.insert(static_cast<std::uint64_t>(member));
    for (const auto& [ended, error] : grave->ends)
      post_frame(member, GroupSays::kEnd, ended, 0, error);
    post_frame(member, GroupSays::kClosed, next_, 0);
  }
  if (!failed_) failed_ = Error(ErrorCode::kCancelled, "group '" + name_.name + "' was closed");
  end_here();
  hooks_ = {};
  alive_->wire = nullptr;
  if (grave->open.empty()) {
    mesh_->erase_sink(route()).ignore();
    return;
  }
  mesh_->set_sink(route(), [grave](std::uint32_t process, const net::Frame& frame) -> Future<void> {
    grave->hear(process, frame);
    return {};
  });
}

// It has run all calls below next, and runs no other.
void GroupWire::hear_closed(int from, std::uint64_t next) {
  announce_left(from);
  if (next >= left_from_) return;
  left_from_ = next;
  left_ = from;
  std::vector<std::uint64_t> ends;
  for (auto call = calls_.lower_bound(next); call != calls_.end(); ++call)
    ends.push_back(call->first);
  for (const std::uint64_t sequence : ends)
    end_call(sequence, left_error(where(sequence), from), true);
}

void GroupWire::announce_left(int member) {
  if (!hooks_.left) return;
  const Error error = left_error("group '" + name_.name + "'", member);
  for (const Rank rank : ranks_of(member)) hooks_.left(rank, error);
}

Error GroupWire::left_error(const std::string& where, int member) const {
  const Error closed(ErrorCode::kCancelled, where + ": " + named(member) + " has closed the group");
  return naming(closed, member).with_detail(Culprits{Culprits::Kind::kFailed, ranks_of(member)});
}

}  // namespace millrace::collectives
