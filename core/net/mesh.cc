#include "millrace/core/net/mesh.h"

#include <algorithm>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/process_place.h"
#include "millrace/core/observe/log.h"

namespace millrace::net {
namespace {

constexpr int kOwnFramesInARow = 64;  // then others of the home executor have their turn

Status check_options(const MeshOptions& options) {
  const auto wrong = [](const std::string& what) {
    return fail(ErrorCode::kInvalidArgument, "making a mesh: " + what);
  };
  if (options.size > std::uint32_t{kMostProcesses} || options.rank >= options.size) {
    return wrong("rank " + std::to_string(options.rank) + " of " + std::to_string(options.size) +
                 " is no rank of a job");
  }
  if (options.job.size() > kMostJobBytes) return wrong("the name of the job is too long");
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
      home_(transport.home()),
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

JobMember Mesh::member(std::uint32_t rank) const {
  if (rank == options_.rank) return {rank, options_.host, options_.pid};
  MutexLock lock(mutex_);
  const auto found = peers_.find(rank);
  return found == peers_.end() ? JobMember{.rank = rank} : found->second.name;
}

Mesh::Peer& Mesh::peer_of(std::uint32_t rank) {
  return peers_.try_emplace(rank, Peer{.name = {.rank = rank}}).first->second;
}

void Mesh::step(Peer& peer, PeerState to) {
  MILLRACE_CHECK(may_move(peer.state, to), "a peer takes no such step");
  peer.state = to;
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
      step(peer, PeerState::kDialling);
      post(home(), [self = self(), rank] { self->begin_dial(rank); });
      break;
    case PeerState::kDialling:
      break;
  }
  return queue(peer.waiting, peer.waiting_bytes, rank, std::move(frame));
}

Future<void> Mesh::send_now(std::uint32_t rank, FrameHeader header,
                            std::span<const std::byte> payload) {
  Ref<Connection> link;
  if (header.kind >= FrameKind::kFirstOfUsers && payload.size() <= options_.max_payload) {
    MutexLock lock(mutex_);
    if (!refusal(rank) && rank != options_.rank && peer_of(rank).state == PeerState::kLinked)
      link = peer_of(rank).connection;
    header.epoch = epoch_;
  }
  if (link) return link->send_now(header, payload);
  return send(rank, {header, Bytes(payload.begin(), payload.end())});  // or the error
}

Future<void> Mesh::queue(Outgoings& line, std::size_t& bytes, std::uint32_t rank, Frame frame) {
  const std::size_t more = kHeaderBytes + frame.payload.size();
  if (!line.empty() && more > options_.most_queued - std::min(bytes, options_.most_queued)) {
    return fail(ErrorCode::kResourceExhausted, std::to_string(bytes) +
                                                   " bytes wait already for rank " +
                                                   std::to_string(rank) + "; await earlier sends");
  }
  bytes += more;
  line.push_back({std::move(frame), {}});
  return line.back().sent.future();
}

Inbox& Mesh::own_inbox(std::uint32_t epoch) {
  if (!own_inbox_.inbox || own_inbox_.epoch != epoch) {
    close_own_inbox();
    const auto refuse = [this, epoch](const Error& error) {
      MILLRACE_LOG(kError, "core", "a process's own frame has no place: " + error.to_string());
      post(home(), [self = self(), epoch] {
        if (self->own_inbox_.epoch == epoch) self->close_own_inbox();
      });
    };
    own_inbox_ = {epoch,
                  make_ref<Inbox>(options_.rank, sinks_, home(), options_.most_stashed, refuse)};
  }
  return *own_inbox_.inbox;
}

void Mesh::close_inbox(const Ref<Inbox>& inbox) {
  inbox->close();
  MutexLock lock(mutex_);
  counts_.no_sink += inbox->dropped();
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

void Mesh::set_sink(const Route& route, MeshSink sink, Payloads payloads) {
  sinks_.set(route, std::move(sink), payloads);
  bool closed = false;
  {
    MutexLock lock(mutex_);
    closed = state_ == State::kClosed;
  }
  if (closed) return sinks_.clear();
  post(home(), [self = self()] {
    for (const EpochInbox& one : self->inboxes_) one.inbox->look_again();
    if (self->own_inbox_.inbox) self->own_inbox_.inbox->look_again();
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

}  // namespace millrace::net
