// The news of a group between processes: ends, differences, deadlines, failures, rendezvous.
#include <algorithm>
#include <memory>
#include <utility>

#include "millrace/collectives/group_wire.h"
#include "millrace/collectives/wire.h"

namespace millrace::collectives {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr std::uint64_t kMostMessage = kMostWirePayloads + (std::uint64_t{8} << 20);

template <class List>
void append(List& list, const List& more) {
  list.insert(list.end(), more.begin(), more.end());
}

// The error of calls that a failure ends: it says whose, unless it says so already.
Error blame(const Error& error, std::vector<Rank> ranks) {
  if (error.detail<Culprits>() != nullptr) return error;
  return error.with_detail(Culprits{Culprits::Kind::kFailed, std::move(ranks)});
}

}  // namespace

Status GroupWire::hear_news(int from, GroupSays says, const net::Frame& frame) {
  switch (says) {
    case GroupSays::kEnd:
      return hear_end(from, frame);
    case GroupSays::kCall:
      hear_call(from, frame);
      return {};
    case GroupSays::kProbe:
      hear_probe(from, frame);
      return {};
    case GroupSays::kPlace:
      return hear_place(from, frame);
    case GroupSays::kMeeting:
      return hear_piece(from, frame);
    case GroupSays::kFailed: {
      MILLRACE_TRY(const FailedRank failed, read_failed(frame.payload, spread_.ranks()));
      const Error error = naming(failed.error, spread_.process_of(failed.rank));
      if (hooks_.failed) hooks_.failed(failed.rank, error);
      fail_all(blame(error, {failed.rank}));
      return {};
    }
    default:
      return {};
  }
}

void GroupWire::send_all(GroupSays says, std::uint64_t sequence, const net::Bytes& payload) {
  for (int member = 0; member < spread_.processes(); ++member) {
    if (member != self_) post_frame(member, says, sequence, 0, payload);
  }
}

void GroupWire::end(std::uint64_t sequence, const Error& error) {
  at_home([sequence, error](GroupWire& wire) { wire.end_call(sequence, error, true); });
}

void GroupWire::end_call(std::uint64_t sequence, const Error& error, bool notify) {
  if (sequence < next_ || ended_.contains(sequence) || failed_ || closed_) return;
  if (notify) send_all(GroupSays::kEnd, sequence, encode_end(error));
  finish(sequence, std::unexpected(error));
  drive();
}

Status GroupWire::hear_end(int from, const net::Frame& frame) {
  const std::uint64_t sequence = frame.header.sequence;
  MILLRACE_TRY(const Error error, read_end(frame.payload, spread_.ranks()));
  if (sequence < next_) return {};
  if (sequence - next_ >= kMostAhead) {
    fail_member(from, Error(ErrorCode::kResourceExhausted,
                            "group '" + name_.name + "': " + named(from) + " is more than " +
                                std::to_string(kMostAhead) + " calls ahead, in one that failed"));
    return {};
  }
  // Where all ranks of this process have called it, run()'s future says so.
  const bool called = calls_.contains(sequence);
  const Error named_error = naming(error, from);
  end_call(sequence, named_error, false);
  if (!called && hooks_.ended) hooks_.ended(sequence, named_error);
  return {};
}

void GroupWire::say_call(int to, std::uint64_t sequence, std::uint64_t print,
                         const CollectiveCall& call) {
  post_frame(to, GroupSays::kCall, sequence, print,
             net::bytes_of(std::string_view(call.to_string()).substr(0, kMostWireText)));
}

// The other process has met a call of this one that is not its own.
void GroupWire::hear_call(int from, const net::Frame& frame) {
  const std::uint64_t sequence = frame.header.sequence;
  const CollectiveCall* mine = nullptr;
  std::uint64_t print = 0;
  if (const auto called = calls_.find(sequence); called != calls_.end()) {
    mine = &called->second.call;
    print = called->second.print;
  } else {
    const auto past = std::ranges::find(past_, sequence, &Past::sequence);
    if (past == past_.end() || !past->call || past->error) return;
    mine = &*past->call;
    print = past->print;
  }
  if (print == frame.header.words[0]) return;
  const std::string words = net::text_of(frame.payload);
  const bool first = self_ < from;
  const Error error = first ? difference_error(where(sequence), first_of(self_), mine->to_string(),
                                               first_of(from), words)
                            : difference_error(where(sequence), first_of(from), words,
                                               first_of(self_), mine->to_string());
  if (sequence >= next_) return end_call(sequence, error, true);
  // It is over here, and its results are out: from here on the group has failed.
  send_all(GroupSays::kFailed, 0, encode_failed(first_of(from), error));
  if (hooks_.failed) hooks_.failed(first_of(from), error);
  fail_all(error);
}

void GroupWire::hear_probe(int from, const net::Frame& frame) {
  const std::uint64_t sequence = frame.header.sequence;
  const std::uint64_t print = frame.header.words[0];
  if (const auto expiry = expiries_.find(sequence); expiry != expiries_.end())
    expiry->second.heard[static_cast<std::size_t>(from)] = true;
  if (const auto called = calls_.find(sequence); called != calls_.end()) {
    if (called->second.print != print)
      return say_call(from, sequence, called->second.print, called->second.call);
    return answer(sequence, from, {});
  }
  if (const auto ended = ended_.find(sequence); ended != ended_.end())
    return post_frame(from, GroupSays::kEnd, sequence, 0, encode_end(ended->second));
  if (sequence >= next_) {
    if (hooks_.asked) hooks_.asked(sequence, from);
    return;
  }
  const auto past = std::ranges::find(past_, sequence, &Past::sequence);
  if (past == past_.end()) return answer(sequence, from, {});  // what it needs is on its way
  if (past->error) return post_frame(from, GroupSays::kEnd, sequence, 0, encode_end(*past->error));
  if (past->print != print) return say_call(from, sequence, past->print, *past->call);
  answer(sequence, from, {});
}

void GroupWire::answer(std::uint64_t sequence, int asker, const GroupPlace& place) {
  at_home([sequence, asker, place](GroupWire& wire) {
    if (wire.failed_ || wire.closed_) return;
    wire.post_frame(asker, GroupSays::kPlace, sequence, wire.next_, encode_place(place));
  });
}

void GroupWire::expire(std::uint64_t sequence, std::string words) {
  at_home([sequence, words = std::move(words)](GroupWire& wire) mutable {
    wire.begin_expiry(sequence, std::move(words));
  });
}

void GroupWire::begin_expiry(std::uint64_t sequence, std::string words) {
  if (ended_.contains(sequence) || failed_ || closed_) return;
  // It has ended here with an error, which is on its way to the ranks that wait.
  const auto past = std::ranges::find(past_, sequence, &Past::sequence);
  if (past != past_.end() && past->error) return;
  const auto called = calls_.find(sequence);
  if (called == calls_.end()) {
    const Error late(ErrorCode::kDeadlineExceeded,
                     words + "the arrays of this process's ranks are being read, or put");
    end_call(sequence, late, true);
    if (hooks_.ended) hooks_.ended(sequence, late);
    return;
  }
  const auto [place, fresh] = expiries_.try_emplace(sequence);
  if (!fresh) return;
  Expiry& expiry = place->second;
  expiry.words = std::move(words);
  expiry.heard.resize(members_.size());
  bool complete = true;
  for (int member = 0; member < spread_.processes(); ++member) {
    const bool known =
        member == self_ || peers_[static_cast<std::size_t>(member)].called > sequence;
    expiry.heard[static_cast<std::size_t>(member)] = known;
    complete = complete && known;
  }
  if (complete) return end_expiry(sequence);
  const TimePoint until = mesh_->timers().clock().now() + kAskedFor;
  expiry.timer = mesh_->timers().schedule(
      until, [self = self_ref(), sequence] { self->end_expiry(sequence); });
  for (int member = 0; member < spread_.processes(); ++member) {
    if (!expiry.heard[static_cast<std::size_t>(member)])
      post_frame(member, GroupSays::kProbe, sequence, called->second.print);
  }
}

Status GroupWire::hear_place(int from, const net::Frame& frame) {
  MILLRACE_TRY(const GroupPlace place, read_place(frame.payload, spread_.ranks()));
  const auto found = expiries_.find(frame.header.sequence);
  if (found == expiries_.end() || found->second.heard[static_cast<std::size_t>(from)]) return {};
  Expiry& expiry = found->second;
  expiry.heard[static_cast<std::size_t>(from)] = true;
  const auto add = [&](std::vector<Rank>& ranks, const std::vector<Rank>& more) {
    for (const Rank rank : more) {
      if (spread_.process_of(rank) == from) ranks.push_back(rank);
    }
  };
  add(expiry.place.missing, place.missing);
  add(expiry.place.unwritten, place.unwritten);
  if (!place.missing.empty()) {
    expiry.how_far += "; " + named(from) + ": " + std::to_string(frame.header.words[0]) +
                      " calls of the group have run there";
  }
  if (std::ranges::all_of(expiry.heard, [](bool heard) { return heard; })) end_expiry(found->first);
  return {};
}

void GroupWire::end_expiry(std::uint64_t sequence) {
  const auto found = expiries_.find(sequence);
  if (found == expiries_.end()) return;
  Expiry& expiry = found->second;
  GroupPlace& place = expiry.place;
  std::vector<Rank> silent;
  for (std::size_t member = 0; member < expiry.heard.size(); ++member) {
    if (!expiry.heard[member]) append(silent, ranks_of(static_cast<int>(member)));
  }
  std::ranges::sort(place.missing);
  std::ranges::sort(place.unwritten);
  std::string text = std::move(expiry.words);
  std::vector<Rank> culprits;
  const auto add = [&](const std::vector<Rank>& ranks, const std::string& says) {
    if (ranks.empty()) return;
    if (!culprits.empty()) text += ", ";
    text += says;
    append(culprits, ranks);
  };
  add(place.missing, to_string(place.missing) + " did not call it" + expiry.how_far);
  add(silent, "nothing was heard from " + to_string(silent));
  add(place.unwritten, "the inputs of " + to_string(place.unwritten) + " are not written");
  if (culprits.empty()) {
    text += "all ranks have called it, and it is still under way";
    // To take a message, or to send one.
    if (sequence == next_ && waits_for_ >= 0 && waits_for_ != self_)
      text += ": " + named(self_) + " waits for " + named(waits_for_);
  }
  std::ranges::sort(culprits);
  if (sequence != next_) text += "; it waits for collective " + std::to_string(next_);
  if (expiry.timer) mesh_->timers().cancel(*expiry.timer);
  expiries_.erase(found);
  end_call(sequence,
           Error(ErrorCode::kDeadlineExceeded, std::move(text))
               .with_detail(Culprits{Culprits::Kind::kMissing, std::move(culprits)}),
           true);
}

// GW-4
void GroupWire::set_probe() {
  if (probe_timer_ || closed_) return;
  steps_at_probe_ = steps_;
  const TimePoint until = mesh_->timers().clock().now() + kProbeEvery;
  probe_timer_ = mesh_->timers().schedule(until, [self = self_ref()] { self->probe(); });
}

void GroupWire::probe() {
  probe_timer_.reset();
  const auto called = calls_.find(next_);
  if (called == calls_.end() || closed_) return;
  if (steps_ == steps_at_probe_ && waits_for_ >= 0 && waits_for_ != self_)
    post_frame(waits_for_, GroupSays::kProbe, next_, called->second.print);
  set_probe();
}

void GroupWire::fail_rank(Rank rank, const Error& error) {
  at_home([rank, error](GroupWire& wire) {
    if (wire.failed_ || wire.closed_) return;
    wire.send_all(GroupSays::kFailed, 0, encode_failed(rank, error));
    wire.fail_all(error);
  });
}

// GW-5
void GroupWire::fail_member(int member, const Error& error) {
  if (failed_ || closed_) return;
  peers_[static_cast<std::size_t>(member)].left = true;
  // Those without a link to this process do not wait for it.
  const net::Bytes words = encode_failed(first_of(member), error);
  for (int other = 0; other < spread_.processes(); ++other) {
    if (other != self_ && peers_[static_cast<std::size_t>(other)].met)
      post_frame(other, GroupSays::kFailed, 0, 0, words);
  }
  if (hooks_.failed) {
    for (const Rank rank : ranks_of(member)) hooks_.failed(rank, error);
  }
  fail_all(blame(error, ranks_of(member)));
}

void GroupWire::fail_all(const Error& error) {
  if (failed_) return;
  failed_ = error;
  end_here();
}

Status GroupWire::send(Rank from, Rank to, const RendezvousMessage& message) {
  MILLRACE_TRY(const net::WireBytes bytes, encode(message));
  under_way_.fetch_add(1, std::memory_order_relaxed);
  at_home([from, to, bytes](GroupWire& wire) {
    wire.put_in_line(from, to, bytes);
    wire.under_way_.fetch_sub(1, std::memory_order_relaxed);
    wire.end_when_sent();
  });
  return {};
}

void GroupWire::greet(Rank rank) {
  at_home([rank](GroupWire& wire) {
    const int member = wire.spread_.process_of(rank);
    if (wire.failed_ || wire.closed_ || wire.peers_[static_cast<std::size_t>(member)].met) return;
    wire.post_frame(member, GroupSays::kCredit, 0, 0);  // of nothing: that it has met this one
  });
}

void GroupWire::put_in_line(Rank from, Rank to, const net::WireBytes& bytes) {
  if (failed_ || closed_) return;  // GW-7
  const int member = spread_.process_of(to);
  auto& line = peers_[static_cast<std::size_t>(member)].line;
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    net::Frame frame = group_frame(name_.name, number_, self_, member, GroupSays::kMeeting, at);
    frame.header.words[0] = bytes.size();
    frame.header.words[2] = static_cast<std::uint64_t>(index(from));
    frame.header.words[3] = static_cast<std::uint64_t>(index(to));
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(kPieceBytes, bytes.size() - at);
    frame.payload.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    line.push_back(std::move(frame));
  }
  send_line(member);
}

// Up to what the mesh refuses: the rest without it would be no message, and end the link. The end
// that follows says to the ranks that wait for it who has left.
void GroupWire::flush_line(int to) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  for (bool goes = true; goes && !peer.line.empty() && !peer.left; peer.line.pop_front()) {
    const Future<void> sent = mesh_->send(rank_in_job(to), std::move(peer.line.front()));
    sent.ignore();
    goes = !sent.ready() || sent.result();
  }
}

void GroupWire::send_line(int to) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  while (!peer.sending && !peer.line.empty() && !failed_ && !closed_) {
    net::Frame frame = std::move(peer.line.front());
    peer.line.pop_front();
    peer.met = true;
    const Future<void> sent =
        mesh_->send(members_[static_cast<std::size_t>(to)].process, std::move(frame));
    note_sent(to, sent, false);
    if (peer.line.empty() || sent.ready()) continue;
    peer.sending = true;
    sent.then(home(),
              [alive = alive_, to](const Result<void>&) {
                if (alive->wire == nullptr) return;
                const Ref<GroupWire> kept = alive->wire->self_ref();
                kept->peers_[static_cast<std::size_t>(to)].sending = false;
                kept->send_line(to);
              })
        .ignore();
  }
}

Status GroupWire::hear_piece(int from, const net::Frame& frame) {
  const auto& [total, member, from_rank, to_rank] = frame.header.words;
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  const auto is_of = [this](std::uint64_t rank, int one) {
    return rank < static_cast<std::uint64_t>(spread_.ranks()) &&
           spread_.process_of(Rank{static_cast<int>(rank)}) == one;
  };
  if (!is_of(from_rank, from) || !is_of(to_rank, self_) || total > kMostMessage ||
      frame.header.sequence != peer.message.size() ||
      frame.payload.size() > total - peer.message.size() || frame.payload.empty()) {
    return fail(ErrorCode::kInvalidArgument, "group '" + name_.name + "': " + named(from) +
                                                 " sends pieces of a message that do not fit");
  }
  peer.message.insert(peer.message.end(), frame.payload.begin(), frame.payload.end());
  if (peer.message.size() < total) return {};
  const net::Bytes whole = std::exchange(peer.message, {});
  const Rank to{static_cast<int>(to_rank)};
  MILLRACE_TRY(RendezvousMessage message,
               decode_rendezvous(whole, Rank{static_cast<int>(from_rank)}, to, world_));
  if (hooks_.met) hooks_.met(to, std::move(message));
  return {};
}

}  // namespace millrace::collectives
