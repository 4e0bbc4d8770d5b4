#include "millrace/core/net/mesh.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/process_place.h"
#include "millrace/core/observe/log.h"

namespace millrace::net {
namespace {

constexpr int kOwnFramesInARow = 64;  // then others of the home executor have their turn

Error closed_error() { return Error(ErrorCode::kUnavailable, "the mesh is closed"); }

Status check_options(const MeshOptions& options) {
  const auto wrong = [](const std::string& what) {
    return fail(ErrorCode::kInvalidArgument, "making a mesh: " + what);
  };
  if (options.size > std::uint32_t{kMostProcesses} || options.rank >= options.size) {
    return wrong("rank " + std::to_string(options.rank) + " of " + std::to_string(options.size) +
                 " is no rank of a job");
  }
  if (options.job.size() > kMostNameBytes) return wrong("the name of the job is too long");
  if (!is_host_name(options.host))
    return wrong("the host has a name of 1 to 255 printable characters");
  if (options.pid < 0) return wrong("pid " + std::to_string(options.pid));
  return {};
}

}  // namespace

Result<Ref<Mesh>> Mesh::make(Transport& transport, KeyValueStore& store, MeshOptions options) {
  MILLRACE_TRY_STATUS(check_options(options));
  return Ref<Mesh>::adopt(new Mesh(transport, store, std::move(options)));
}

Mesh::Mesh(Transport& transport, KeyValueStore& store, MeshOptions options)
    : transport_(transport),
      store_(store),
      options_(std::move(options)),
      epoch_(options_.epoch) {}

Mesh::~Mesh() { closed_.ignore(); }

void Mesh::move(State to) {
  const State from = state_;
  const bool edge = to == State::kClosing  ? from < State::kClosing
                    : to == State::kClosed ? from == State::kClosing
                                           : std::to_underlying(to) == std::to_underlying(from) + 1;
  MILLRACE_CHECK(edge, "a mesh takes no such step");
  state_ = to;
}

std::uint32_t Mesh::epoch() const {
  MutexLock lock(mutex_);
  return epoch_;
}

MeshCounts Mesh::counts() const {
  MutexLock lock(mutex_);
  return counts_;
}

Mesh::Peer& Mesh::peer_of(std::uint32_t rank) {
  return peers_.try_emplace(rank, Peer{.name = {.rank = rank}}).first->second;
}

std::optional<Error> Mesh::refusal(std::uint32_t rank) const {
  if (closing()) return closed_error();
  if (state_ == State::kMade)
    return Error(ErrorCode::kFailedPrecondition, "the mesh was not started");
  if (rank >= options_.size) {
    return Error(ErrorCode::kInvalidArgument, "there is no rank " + std::to_string(rank) +
                                                  " in a job of " + std::to_string(options_.size));
  }
  return outcast_;
}

Future<void> Mesh::start(std::string_view address) {
  SharedHold held = hold();
  MutexLock lock(mutex_);
  if (!*held) return closed_error();
  if (state_ != State::kMade) {
    if (closing()) return closed_error();
    return fail(ErrorCode::kFailedPrecondition, "a mesh is started once");
  }
  move(State::kStarting);
  Promise<void> started;
  Future<void> result = started.future();
  post(home(), [self = self(), address = std::string(address), started = std::move(started),
                held = std::move(held)]() mutable {
    self->open(address, std::move(started), held);
  });
  return result;
}

void Mesh::open(const std::string& address, Promise<void> started, const SharedHold& held) {
  std::optional<std::uint32_t> epoch;
  {
    MutexLock lock(mutex_);
    if (!closing()) epoch = epoch_;
  }
  if (!epoch) return started.set_error(closed_error());
  auto entrance = Entrance::open(
      transport_, address,
      {.secret = options_.secret, .job = options_.job, .member = stranger_options()},
      [this](const Ref<Connection>& connection) { return admit(connection); });
  if (!entrance) {
    take_published(*epoch, std::unexpected(entrance.error()));
    return started.set_error(entrance.error());
  }
  entrance_ = *std::move(entrance);
  address_ = entrance_->address();
  {
    MutexLock lock(mutex_);
    if (!closing()) move(State::kOpen);
  }
  publish(*epoch, held)
      .then(inline_executor(), [started = std::move(started)](Result<void> published) mutable {
        started.set(std::move(published));
      })
      .ignore();
}

Future<void> Mesh::publish(std::uint32_t epoch, const SharedHold& held) {
  const MeshRecord record{
      {options_.rank, options_.host, options_.pid}, options_.incarnation, address_};
  return store_.put(record_key(options_.name, epoch, options_.rank), encode_record(record))
      .then(home(), [self = self(), epoch, held](const Result<void>& put) -> Future<void> {
        if (!put && put.error().code() == ErrorCode::kAlreadyExists)
          return self->name_holder(epoch, put.error());
        return put;
      })
      .then(home(), [self = self(), epoch, held](Result<void> published) {
        self->take_published(epoch, published);
        return published;
      });
}

// The error that says which process has the rank.
Future<void> Mesh::name_holder(std::uint32_t epoch, const Error& error) {
  return store_.try_get(record_key(options_.name, epoch, options_.rank))
      .then(home(), [self = self(), epoch, error](const Result<std::string>& got) -> Result<void> {
        const MeshOptions& options = self->options_;
        if (!got) return std::unexpected(error);
        MILLRACE_TRY(const MeshRecord holder, read_record(*got, options.rank));
        return std::unexpected(
            Error(ErrorCode::kAlreadyExists,
                  "joining job '" + options.job + "' in epoch " + std::to_string(epoch) + ": " +
                      holder.who.text() + " came first; a rank is one process's")
                .with_detail(holder.who));
      });
}

void Mesh::take_published(std::uint32_t epoch, const Result<void>& published) {
  Later later;
  MutexLock lock(mutex_);
  if (epoch != epoch_ || closing()) return;
  if (published) {
    published_ = true;
  } else {
    outcast_ = published.error();
  }
  for (auto& [rank, peer] : peers_) {
    if (!published) {
      fail_all(peer.waiting, peer.waiting_bytes, *outcast_, later);
    } else if (peer.state == PeerState::kDialling) {
      post(home(), [self = self(), rank] { self->begin_dial(rank); });
    }
  }
}

Future<void> Mesh::send(std::uint32_t rank, Frame frame) {
  if (frame.header.kind < FrameKind::kFirstOfUsers)
    return fail(ErrorCode::kInvalidArgument, "a frame of users has a kind from kFirstOfUsers on");
  if (frame.payload.size() > options_.max_payload) {
    return fail(ErrorCode::kInvalidArgument,
                "a frame of " + std::to_string(frame.payload.size()) + " bytes, where " +
                    std::to_string(options_.max_payload) + " is the limit; send it in parts");
  }
  MutexLock lock(mutex_);
  if (auto error = refusal(rank)) return *std::move(error);
  frame.header.epoch = epoch_;
  if (rank == options_.rank) {
    if (!std::exchange(self_posted_, true))
      post(home(), [self = self(), held = hold()] { self->feed_self(held); });
    return queue(to_self_, to_self_bytes_, rank, std::move(frame));
  }
  Peer& peer = peer_of(rank);
  switch (peer.state) {
    case PeerState::kLinked:
      return peer.connection->send(std::move(frame));
    case PeerState::kEnded:
    case PeerState::kLost:
      return *peer.end;
    case PeerState::kUnlinked:
      peer.state = PeerState::kDialling;
      post(home(), [self = self(), rank] { self->begin_dial(rank); });
      break;
    case PeerState::kDialling:
      break;
  }
  return queue(peer.waiting, peer.waiting_bytes, rank, std::move(frame));
}

Future<void> Mesh::queue(Outgoings& line, std::size_t& bytes, std::uint32_t rank, Frame frame) {
  const std::size_t more = kHeaderBytes + frame.payload.size();
  if (!line.empty() && more > options_.most_queued - std::min(bytes, options_.most_queued)) {
    return fail(ErrorCode::kResourceExhausted,
                std::to_string(bytes) + " bytes wait already for rank " + std::to_string(rank) +
                    "; await earlier sends");
  }
  bytes += more;
  line.push_back({std::move(frame), {}});
  return line.back().sent.future();
}

Inbox& Mesh::own_inbox(std::uint32_t epoch) {
  if (!own_inbox_.inbox || own_inbox_.epoch != epoch) {
    close_own_inbox();
    const auto refuse = [this](const Error& error) {
      MILLRACE_LOG(kError, "core", "a process's own frame has no place: " + error.to_string());
      post(home(), [self = self()] { self->close_own_inbox(); });
    };
    own_inbox_ = {epoch, make_ref<Inbox>(options_.rank, sinks_, home(), options_.most_stashed,
                                         refuse)};
  }
  return *own_inbox_.inbox;
}

void Mesh::close_own_inbox() {
  if (own_inbox_.inbox) close_inbox(std::exchange(own_inbox_, {}).inbox);
}

void Mesh::feed_self(const SharedHold& held) {
  for (int i = 0; i < kOwnFramesInARow; ++i) {
    std::optional<Outgoing> next;
    std::uint32_t epoch = 0;
    {
      MutexLock lock(mutex_);
      epoch = epoch_;
      if (to_self_.empty()) {
        self_posted_ = false;
        return;
      }
      next.emplace(std::move(to_self_.front()));
      to_self_.pop_front();
      to_self_bytes_ -= kHeaderBytes + next->frame.payload.size();
    }
    const Future<void> room = own_inbox(epoch).take(std::move(next->frame));
    next->sent.set_value();
    if (room.valid()) {
      room.then(home(), [self = self(), held](Result<void>) { self->feed_self(held); }).ignore();
      return;
    }
  }
  post(home(), [self = self(), held] { self->feed_self(held); });
}

void Mesh::set_sink(const Route& route, MeshSink sink) {
  sinks_.set(route, std::move(sink));
  bool closed = false;
  {
    MutexLock lock(mutex_);
    closed = state_ == State::kClosed;
  }
  if (closed) return sinks_.clear();
  post(home(), [self = self()] {
    for (const EpochInbox& one : std::vector(self->inboxes_)) one.inbox->look_again();
    if (self->own_inbox_.inbox) Ref(self->own_inbox_.inbox)->look_again();
  });
}

Future<void> Mesh::erase_sink(const Route& route) {
  sinks_.set(route, {});
  return make_ready().then(home(), [](Result<void>) {});
}

Future<PeerLoss> Mesh::peer_lost(std::uint32_t rank) {
  MutexLock lock(mutex_);
  if (auto error = refusal(rank)) return *std::move(error);
  Peer& peer = peer_of(rank);
  if (peer.loss) return Result<PeerLoss>(*peer.loss);
  if (peer.end) return *peer.end;
  peer.watchers.emplace_back();
  return peer.watchers.back().future();
}

Future<void> Mesh::set_epoch(std::uint32_t epoch) {
  SharedHold held = hold();
  Later later;
  MutexLock lock(mutex_);
  if (closing() || !*held) return closed_error();
  if (state_ != State::kOpen)
    return fail(ErrorCode::kFailedPrecondition, "an epoch follows one that was started");
  if (epoch <= epoch_) {
    return fail(ErrorCode::kInvalidArgument, "epoch " + std::to_string(epoch) +
                                                 " does not follow epoch " +
                                                 std::to_string(epoch_));
  }
  reset_peers(epoch, later);
  epoch_ = epoch;
  published_ = false;
  outcast_.reset();
  Promise<void> entered;
  Future<void> there = entered.future();
  post(home(), [self = self(), epoch, entered = std::move(entered)]() mutable {
    self->enter_epoch(epoch);
    entered.set_value();
  });
  return there.then(home(), [self = self(), epoch, held](Result<void>) {
    return self->publish(epoch, held);
  });
}

void Mesh::reset_peers(std::uint32_t epoch, Later& later) {
  const Error why(ErrorCode::kAborted, "epoch " + std::to_string(epoch_) + " ended before this");
  for (auto& [rank, peer] : peers_) {
    fail_all(peer.waiting, peer.waiting_bytes, why, later);
    for (auto& watcher : peer.watchers)
      later.set(std::move(watcher), Result<PeerLoss>(std::unexpected(why)));
    if (peer.connection)
      peer.connection->close("it has left for epoch " + std::to_string(epoch)).ignore();
    if (peer.dial) post(home(), [dial = peer.dial] { dial->abandon(); });
  }
  peers_.clear();
  fail_all(to_self_, to_self_bytes_, why, later);
}

void Mesh::enter_epoch(std::uint32_t epoch) {
  for (const EpochInbox& one : std::vector(inboxes_))
    if (one.epoch < epoch) close_inbox(one.inbox);
  if (own_inbox_.epoch < epoch) close_own_inbox();
  std::erase_if(inboxes_, [&](const EpochInbox& one) { return one.epoch < epoch; });
  for (auto arrival = arrivals_.begin(); arrival != arrivals_.end();) {
    const auto next = std::next(arrival);
    if (arrival->hello && !arrival->ends) answer(arrival);
    arrival = next;
  }
}

void Mesh::close_inbox(const Ref<Inbox>& inbox) {
  inbox->close();
  MutexLock lock(mutex_);
  counts_.no_sink += inbox->dropped();
}

Future<void> Mesh::close() {
  Later later;
  MutexLock lock(mutex_);
  if (closing()) return closed_;
  move(State::kClosing);
  for (auto& [rank, peer] : peers_)
    fail_all(peer.waiting, peer.waiting_bytes, closed_error(), later);
  post(home(), [self = self()] { self->begin_close(); });
  return closed_;
}

// Others that find no listener any more ask the store whether this process has ended.
void Mesh::begin_close() {
  if (!entrance_) return end_links();
  const TimePoint until = transport_.timers().clock().now() + options_.farewell;
  with_deadline(store_.put(ended_key(options_.name, options_.incarnation), "ended"), until,
                transport_.timers())
      .then(home(), [self = self()](Result<void>) { self->end_links(); })
      .ignore();
}

void Mesh::end_links() {
  Future<void> entrance = entrance_ ? entrance_->close() : make_ready();
  for (Arrival& arrival : arrivals_) {
    if (arrival.ends) continue;
    if (arrival.hello) {
      refuse(arrival, LinkVerdict::kClosing);
    } else {
      arrival.ends = true;
      arrival.connection->abandon("this process ends its links");
    }
  }
  for (const EpochInbox& one : std::vector(inboxes_)) one.inbox->drain();
  if (own_inbox_.inbox) Ref(own_inbox_.inbox)->drain();
  std::vector<Ref<Dial>> dials;
  {
    MutexLock lock(mutex_);
    for (auto& [rank, peer] : peers_) {
      if (peer.connection) peer.connection->close("it has closed its mesh").ignore();
      if (peer.dial) dials.push_back(peer.dial);
    }
  }
  for (const Ref<Dial>& dial : dials) dial->abandon();
  when_all(entrance, scope_.close())
      .then(home(), [self = self()](Result<void>) { self->end_close(); })
      .ignore();
}

void Mesh::end_close() {
  for (const EpochInbox& one : std::exchange(inboxes_, {})) close_inbox(one.inbox);
  close_own_inbox();
  entrance_ = nullptr;
  {
    Later later;
    MutexLock lock(mutex_);
    move(State::kClosed);
    const Error why(ErrorCode::kCancelled, "the mesh was closed before this rank was lost");
    for (auto& [rank, peer] : peers_) {
      for (auto& watcher : peer.watchers)
        later.set(std::move(watcher), Result<PeerLoss>(std::unexpected(why)));
    }
    peers_.clear();
  }
  sinks_.clear();
  promise_.set_value();
}

}  // namespace millrace::net
