// How links of a mesh begin and end.
#include <algorithm>
#include <chrono>
#include <utility>

#include "millrace/core/net/mesh.h"

namespace millrace::net {
namespace {

constexpr Duration kHelloPatience = std::chrono::seconds(5);
constexpr std::size_t kFewestPlaces = 64;
constexpr std::size_t kOwnFramesBytes = 4096;  // of the mesh, beside those of users

FrameSink drop_all() {
  return [](const Frame&) -> Future<void> { return {}; };
}

LossCause cause_of(EndCause cause) {
  return cause == EndCause::kProtocolError ? LossCause::kProtocolError : LossCause::kReset;
}

ErrorOfEnd error_of_end(const JobMember& name) {
  return [name](const ConnectionEnd& end) {
    if (end.cause == EndCause::kClosedHere)
      return Error(ErrorCode::kUnavailable,
                   "this process has ended its link to " + to_string(name));
    if (end.cause == EndCause::kClosedThere) return PeerEnded{name, end.words}.error();
    return PeerLoss{name, cause_of(end.cause), end.words}.error();
  };
}

}  // namespace

ConnectionOptions Mesh::stranger_options() const {
  return {.max_payload = kMostHelloBytes,
          .most_queued = options_.most_queued + kOwnFramesBytes,
          .farewell = options_.farewell};
}

void Mesh::begin_dial(std::uint32_t rank) {
  SharedHold held = hold();
  Ref<Dial> dial;
  std::uint32_t epoch = 0;
  {
    MutexLock lock(mutex_);
    Peer& peer = peer_of(rank);
    if (closing() || !published_ || peer.state != PeerState::kDialling || peer.dial) return;
    epoch = epoch_;
    dial = make_ref<Dial>(DialPlan{transport_, store_, options_.name, options_.secret,
                                   LinkHello{{options_.rank, options_.host, options_.pid},
                                             options_.incarnation,
                                             rank,
                                             options_.size,
                                             epoch,
                                             options_.job},
                                   stranger_options(),
                                   transport_.timers().clock().now() + options_.patience});
    peer.dial = dial;
  }
  dial->start(
      [self = self(), epoch, held](const Ref<Connection>& connection, const MeshRecord& record) {
        return self->link(epoch, record.who, record.incarnation, connection, false, held);
      },
      [self = self(), rank, dial = dial.get(), held](const DialEnd& end) {
        self->take_dial_end(rank, Ref<Dial>::share(dial), end);
      });
}

void Mesh::take_dial_end(std::uint32_t rank, const Ref<Dial>& dial, const DialEnd& end) {
  Later later;
  MutexLock lock(mutex_);
  const auto found = peers_.find(rank);
  if (found == peers_.end() || found->second.dial != dial) return;
  Peer& peer = found->second;
  peer.dial = nullptr;
  if (end.record) peer.name = end.record->who;
  switch (end.kind) {
    case DialEnd::Kind::kEnded:
      return end_peer(peer, end.error.message(), later);
    case DialEnd::Kind::kLost:
      return lose(peer, LossCause::kSilentDoor, end.error.message(), later);
    case DialEnd::Kind::kHeldLost:
      return lose(peer, LossCause::kHeldLost, {}, later);
    case DialEnd::Kind::kFailed:
    case DialEnd::Kind::kAbandoned:
      break;
  }
  step(peer, PeerState::kUnlinked);
  fail_all(peer.waiting, peer.waiting_bytes,
           end.error.with_context("linking to " + to_string(peer.name)), later);
}

FrameSink Mesh::admit(const Ref<Connection>& connection) {
  SharedHold held = hold();
  if (!*held) {
    connection->abandon("this process ends its links");
    return drop_all();
  }
  const std::size_t most = std::max<std::size_t>(kFewestPlaces, options_.size);
  const auto silent = [](const Arrival& arrival) { return !arrival.ends; };
  if (std::cmp_greater_equal(std::ranges::count_if(arrivals_, silent), most))
    drop_garbage(*std::ranges::find_if(arrivals_, silent), "others wait too");
  const TimePoint until = transport_.timers().clock().now() + kHelloPatience;
  const Connection* const key = connection.get();
  arrivals_.push_back({connection,
                       transport_.timers().schedule(until,
                                                    [self = self(), key] {
                                                      const auto arrival = self->find_arrival(key);
                                                      if (arrival != self->arrivals_.end())
                                                        self->drop_garbage(
                                                            *arrival, "it said no hello in time");
                                                    }),
                       held});
  connection->end()
      .then(home(),
            [self = self(), connection, held](const Result<ConnectionEnd>&) {
              const auto arrival = self->find_arrival(connection.get());
              if (arrival == self->arrivals_.end()) return;  // it is a link
              self->transport_.timers().cancel(arrival->timer);
              self->arrivals_.erase(arrival);
            })
      .ignore();
  return [self = self(), key](const Frame& frame) { return self->hear(key, frame); };
}

Mesh::Arrivals::iterator Mesh::find_arrival(const Connection* connection) {
  return std::ranges::find_if(
      arrivals_, [&](const Arrival& arrival) { return arrival.connection.get() == connection; });
}

void Mesh::drop_garbage(Arrival& arrival, const std::string& words) {
  if (std::exchange(arrival.ends, true)) return;
  arrival.connection->abandon(words, EndCause::kProtocolError);
  MutexLock lock(mutex_);
  ++counts_.garbage;
}

Future<void> Mesh::hear(const Connection* connection, const Frame& frame) {
  const auto arrival = find_arrival(connection);
  if (arrival == arrivals_.end() || arrival->ends) return {};
  const Result<LinkHello> hello = read_hello(frame);
  if (!hello) {
    drop_garbage(*arrival, hello.error().message());
    return {};
  }
  transport_.timers().cancel(arrival->timer);
  const LinkVerdict verdict = judge(*hello, *arrival);
  const Ref<Connection> known = arrival->connection;
  if (verdict == LinkVerdict::kAccept) {
    const Arrival taken = std::move(*arrival);
    arrivals_.erase(arrival);
    known->set_sink(link(hello->epoch, hello->from, hello->incarnation, known, true, taken.hold));
    return {};
  }
  arrival->ends = true;
  known->send(encode_refusal(verdict, epoch()))
      .then(home(), [known](Result<void>) { known->abandon("refused"); })
      .ignore();
  return {};
}

LinkVerdict Mesh::judge(const LinkHello& hello, const Arrival& arrival) {
  MutexLock lock(mutex_);
  if (closing()) return LinkVerdict::kClosing;
  HelloView view{.self = options_.rank,
                 .size = options_.size,
                 .epoch = epoch_,
                 .job = options_.job,
                 .proved = arrival.connection->identity()};
  if (const auto found = peers_.find(hello.from.rank); found != peers_.end()) {
    const Peer& peer = found->second;
    view.state = peer.state;
    view.calls = peer.dial && peer.dial->calls();
    view.incarnation = peer.incarnation;
  }
  const LinkVerdict verdict = judge_hello(hello, view);
  if (verdict != LinkVerdict::kAccept) ++counts_.refused;
  return verdict;
}

FrameSink Mesh::link(std::uint32_t epoch, const JobMember& name, const Incarnation& incarnation,
                     const Ref<Connection>& connection, bool welcome, const SharedHold& held) {
  connection->end()
      .then(home(),
            [self = self(), rank = name.rank, connection, held](const Result<ConnectionEnd>& end) {
              self->take_link_end(rank, connection, *end);
            })
      .ignore();
  auto inbox = make_ref<Inbox>(name.rank, sinks_, home(), options_.most_stashed,
                               [connection](const Error& error) {
                                 connection->abandon(error.message(), EndCause::kProtocolError);
                               });
  Later later;
  MutexLock lock(mutex_);
  Peer& peer = peer_of(name.rank);
  if (epoch != epoch_ || closing() || !may_move(peer.state, PeerState::kLinked)) {
    connection->abandon("the link is not wanted any more");
    return drop_all();
  }
  connection->set_error_of_end(error_of_end(name));
  connection->set_limits(options_.max_payload, options_.most_queued + kOwnFramesBytes);
  connection->lend_payloads();
  if (peer.dial) later.add([dial = std::exchange(peer.dial, {})] { dial->abandon(); });
  step(peer, PeerState::kLinked);
  peer.name = name;
  peer.incarnation = incarnation;
  peer.connection = connection;
  if (welcome)
    connection->send(encode_welcome({options_.rank, options_.incarnation}, epoch)).ignore();
  for (Outgoing& outgoing : peer.waiting) {
    later.add([went = connection->send(std::move(outgoing.frame)),
               sent = std::move(outgoing.sent)]() mutable {
      went.then(inline_executor(),
                [sent = std::move(sent)](Result<void> result) mutable {
                  sent.set(std::move(result));
                })
          .ignore();
    });
  }
  peer.waiting.clear();
  peer.waiting_bytes = 0;
  inboxes_.push_back({epoch, inbox});
  return [self = self(), epoch, inbox](Frame frame) {
    return self->take(epoch, *inbox, std::move(frame));
  };
}

Future<void> Mesh::take(std::uint32_t epoch, Inbox& inbox, Frame frame) {
  if (frame.header.kind == FrameKind::kLinkAlive) return {};
  if (frame.header.kind < FrameKind::kFirstOfUsers)
    return fail(ErrorCode::kInvalidArgument, "a frame came that has no place on a link");
  {
    MutexLock lock(mutex_);
    if (frame.header.epoch != epoch || epoch != epoch_) {
      ++counts_.other_epoch;
      return {};
    }
  }
  return inbox.take(std::move(frame));
}

void Mesh::take_link_end(std::uint32_t rank, const Ref<Connection>& connection,
                         const ConnectionEnd& end) {
  Later later;
  MutexLock lock(mutex_);
  const auto found = peers_.find(rank);
  if (found == peers_.end() || found->second.connection != connection) return;
  const bool orderly = end.cause == EndCause::kClosedThere || end.cause == EndCause::kClosedHere;
  if (orderly) return end_peer(found->second, end.words, later);
  lose(found->second, cause_of(end.cause), end.words, later);
}

void Mesh::lose(Peer& peer, LossCause cause, const std::string& words, Later& later) {
  if (!may_move(peer.state, PeerState::kLost)) return;
  peer.loss = {peer.name, cause, words};
  for (auto& watcher : peer.watchers) later.set(std::move(watcher), Result<PeerLoss>(*peer.loss));
  leave(peer, PeerState::kLost, peer.loss->error(), later);
}

void Mesh::end_peer(Peer& peer, const std::string& words, Later& later) {
  const Error why = PeerEnded{peer.name, words}.error();
  for (auto& watcher : peer.watchers)
    later.set(std::move(watcher), Result<PeerLoss>(std::unexpected(why)));
  leave(peer, PeerState::kEnded, why, later);
}

void Mesh::leave(Peer& peer, PeerState to, const Error& why, Later& later) {
  step(peer, to);
  peer.end = why;
  peer.watchers.clear();
  fail_all(peer.waiting, peer.waiting_bytes, why, later);
  if (peer.connection) {
    peer.connection->set_error_of_end([why](const ConnectionEnd&) { return why; });
    std::exchange(peer.connection, {})->abandon("it is held for lost");
  }
  if (peer.dial) post(home(), [dial = std::exchange(peer.dial, {})] { dial->abandon(); });
}

void Mesh::fail_all(Outgoings& line, std::size_t& bytes, const Error& why, Later& later) {
  for (Outgoing& outgoing : line)
    later.set(std::move(outgoing.sent), Result<void>(std::unexpected(why)));
  line.clear();
  bytes = 0;
}

void Mesh::declare_lost(std::uint32_t rank, const Error& why) {
  Later later;
  MutexLock lock(mutex_);
  if (closing() || rank >= options_.size || rank == options_.rank) return;
  Peer& peer = peer_of(rank);
  const auto* const who = why.detail<JobMember>();
  if (who != nullptr && peer.name.host.empty()) peer.name = *who;
  lose(peer, LossCause::kDeclared, why.message(), later);
}

}  // namespace millrace::net
