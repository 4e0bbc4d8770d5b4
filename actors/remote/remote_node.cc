#include "millrace/actors/remote/remote_node.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "millrace/core/async/executor.h"

namespace millrace::actors {
namespace {

constexpr net::FrameKind kKinds[] = {kActorFind,         kActorMessage,  kActorAnswer, kActorCredit,
                                     kActorCreditWanted, kActorWithdraw, kActorDown,   kActorLink,
                                     kActorLinkEnd,      kActorCast};

Future<void> taken(const Status& status) {
  if (status) return {};
  return status.error();
}

}  // namespace

void RemoteNode::start() {
  for (const net::FrameKind kind : kKinds) {
    mesh_->set_sink(
        {kind}, [self = Ref<RemoteNode>::share(this)](std::uint32_t from, const net::Frame& frame) {
          return self->take(from, frame);
        });
  }
}

Future<void> RemoteNode::take(std::uint32_t from, const net::Frame& frame) {
  if (frame.header.words[kEpochWord] != frame.header.epoch) return {};
  const Scope::Hold hold = scope_.hold();
  const Result<Peer> there =
      hold ? peer(from, frame.header.epoch) : std::unexpected(scope_.closed_error());
  if (there) return take_here(*there, frame);
  if (scope_.closing()) refuse(from, frame);
  return {};  // or that rank is lost, or the epoch has ended
}

Future<void> RemoteNode::take_here(const Peer& peer, const net::Frame& frame) {
  switch (std::to_underlying(frame.header.kind)) {
    case std::to_underlying(kActorFind):
      peer.server->take_find(frame, {system_, classes_});
      return {};
    case std::to_underlying(kActorMessage):
      return peer.server->take_message(frame);
    case std::to_underlying(kActorAnswer):
      return taken(peer.caller->take_answer(frame));
    case std::to_underlying(kActorCredit):
      return taken(peer.caller->take_credit(frame));
    case std::to_underlying(kActorCreditWanted):
      peer.server->take_credit_wanted(frame);
      return {};
    case std::to_underlying(kActorWithdraw):
      return taken(peer.server->take_withdraw(frame));
    case std::to_underlying(kActorDown):
      return taken(peer.caller->take_down(frame));
    case std::to_underlying(kActorLink):
      return taken(peer.server->take_link(frame));
    case std::to_underlying(kActorLinkEnd):
      return taken(peer.server->take_link_end(frame));
    case std::to_underlying(kActorCast):
      return take_cast(peer, frame);
    default:
      return {};
  }
}

// A frame that came after close(), or while it began: an asker hears it.
void RemoteNode::refuse(std::uint32_t from, const net::Frame& frame) {
  const net::FrameHeader& header = frame.header;
  const bool asks = header.kind == kActorFind || header.kind == kActorCast ||
                    (header.kind == kActorMessage && header.sequence != 0);
  if (!asks) return;
  net::Frame answer{{.kind = kActorAnswer, .sequence = header.sequence, .words = {kAnswerIsError}},
                    encode(scope_.closed_error())};
  answer.header.words[kEpochWord] = header.epoch;
  mesh_->send(from, std::move(answer)).ignore();
}

Result<Ref<Caller>> RemoteNode::caller(std::uint32_t rank) {
  MILLRACE_TRY(const Peer there, peer(rank, std::nullopt));
  return there.caller;
}

// epoch: that of a frame; nullopt: the mesh's.
Result<RemoteNode::Peer> RemoteNode::peer(std::uint32_t rank, std::optional<std::uint32_t> epoch) {
  net::Later later;
  MutexLock lock(mutex_);
  if (closed_.valid()) return std::unexpected(scope_.closed_error());
  const auto found = peers_.find(rank);
  if (found != peers_.end()) {
    if (found->second.epoch == epoch.value_or(mesh_->epoch())) return found->second;
    if (epoch && found->second.epoch > *epoch)
      return fail(ErrorCode::kAborted, "a frame of an epoch that has ended");
    // Its own watch is about to say the same.
    later.add([old = found->second, epoch = found->second.epoch] {
      end(old,
          Error(ErrorCode::kAborted, "epoch " + std::to_string(epoch) + " ended before this")
              .with_context(net::to_string(old.caller->member())),
          true);
    });
    peers_.erase(found);
  }
  MILLRACE_TRY(Peer made, make_peer(rank, later));
  if (epoch && made.epoch != *epoch)
    return fail(ErrorCode::kAborted, "a frame of an epoch that has ended");
  return made;
}

Result<RemoteNode::Peer> RemoteNode::make_peer(std::uint32_t rank, net::Later& later) {
  Peer made;
  Future<net::PeerLoss> lost;
  do {  // the watch is one of this epoch
    if (lost.valid()) lost.ignore();
    made.epoch = mesh_->epoch();
    lost = mesh_->peer_lost(rank);
  } while (mesh_->epoch() != made.epoch);
  if (lost.ready())
    return std::unexpected(lost.result() ? lost.result()->error() : lost.result().error());
  auto failed = [self = Ref<RemoteNode>::share(this), rank](const FrameOutlet* outlet,
                                                            const Error& error) {
    self->end_peer(rank, outlet, error, true);
  };
  made.outlet = make_ref<FrameOutlet>(mesh_, rank, made.epoch, failed);
  made.caller = make_ref<Caller>(mesh_, made.outlet, environment_);
  made.server = make_ref<Server>(mesh_, made.outlet);
  peers_[rank] = made;
  later.add([self = Ref<RemoteNode>::share(this), rank, lost, outlet = made.outlet] {
    lost.then(inline_executor(),
              [self, rank, outlet](const Result<net::PeerLoss>& loss) {
                if (loss) return self->end_peer(rank, outlet.get(), loss->error(), true);
                const bool goodbye = loss.error().detail<net::PeerEnded>() != nullptr ||
                                     loss.error().code() == ErrorCode::kCancelled;
                self->end_peer(rank, outlet.get(), loss.error(), !goodbye);
              })
        .ignore();
  });
  return made;
}

void RemoteNode::end_peer(std::uint32_t rank, const FrameOutlet* outlet, const Error& why,
                          bool failure) {
  std::optional<Peer> ended;
  {
    MutexLock lock(mutex_);
    const auto found = peers_.find(rank);
    if (found == peers_.end() || found->second.outlet.get() != outlet) return;
    ended = std::move(found->second);
    peers_.erase(found);
  }
  const bool named =
      why.detail<net::PeerLoss>() != nullptr || why.detail<net::PeerEnded>() != nullptr;
  end(*ended, named ? why : why.with_context(net::to_string(ended->caller->member())), failure);
}

void RemoteNode::end(const Peer& peer, const Error& why, bool failure) {
  peer.caller->end(why, failure);
  peer.server->end(why, failure);
  if (failure) peer.outlet->end();  // otherwise answers are on their way, and may yet be made
}

Future<void> RemoteNode::close() {
  Peers peers;
  Future<void> closed;
  {
    MutexLock lock(mutex_);
    if (closed_.valid()) return closed_;
    closed = closed_ = scope_.close();
    peers.swap(peers_);
  }
  for (const auto& [rank, peer] : peers) end(peer, scope_.closed_error(), false);
  return closed;
}

bool RemoteNode::is_closed() {
  MutexLock lock(mutex_);
  return closed_.valid() && closed_.ready();
}

// ---- casts

Future<void> RemoteNode::cast(const Ref<CastRun>& run, const CastPlan& plan) {
  const CastRanks& ranks = plan.request.ranks;
  const std::optional<std::size_t> own = ranks.find(mesh_->rank());
  const std::vector<CastPart> parts = split_cast({0, ranks.size()}, own);
  std::vector<std::size_t> places;
  std::optional<std::size_t> own_place;
  for (const CastPart& part : parts) {
    if (own && !own_place && part.begin > *own) own_place = run->add(ranks.part({*own, *own + 1}));
    places.push_back(run->add(ranks.part(part)));
  }
  if (own && !own_place) own_place = run->add(ranks.part({*own, *own + 1}));
  run->start(*environment_.timers, plan.deadline);
  for (std::size_t i = 0; i < parts.size(); ++i) ask_part(run, places[i], plan, parts[i]);
  return own_place ? ask_own(run, *own_place, plan) : Future<void>();
}

// What a frame asks of this process. The errors are the asker's.
Result<RemoteNode::CastPlan> RemoteNode::plan_cast(const Peer& peer,
                                                   const net::Frame& frame) const {
  CastPlan plan;
  MILLRACE_TRY(plan.request, read_cast(frame.payload, mesh_->size()));
  const CastRequest& request = plan.request;
  MILLRACE_TRY(const auto found, find_served({system_, classes_}, request.name, request.type));
  plan.type = &found.first->type();
  plan.message = found.second->find_name(name_in(request.schema));
  const MessageSchema* const ours = plan.message == nullptr ? nullptr : &plan.message->schema;
  if (ours == nullptr || ours->text() != request.schema)
    return std::unexpected(schema_error(peer.server->asker(), request.schema, ours));
  if (plan.message->reduce == nullptr || !request.ranks.find(mesh_->rank()) ||
      frame.header.channel != cast_channel(request.name))
    return fail(ErrorCode::kInvalidArgument, "a cast came that has no place here");
  const std::uint64_t left = frame.header.words[1];
  constexpr auto kMost = static_cast<std::uint64_t>(Duration(std::chrono::hours(24 * 365)).count());
  if (left != 0) {
    plan.deadline =
        environment_.clock->now() + Duration(static_cast<Duration::rep>(std::min(left, kMost)));
  }
  return plan;
}

Future<void> RemoteNode::take_cast(const Peer& peer, const net::Frame& frame) {
  const ActorId channel = frame.header.channel;
  const std::size_t bytes = net::kHeaderBytes + frame.payload.size();
  const Result<Future<void>> begun = begin_cast(peer, frame);
  if (!begun) {
    peer.server->refuse(frame.header.sequence, begun.error(), channel, bytes);
    return {};
  }
  const Future<void>& accepted = *begun;
  const auto admit = [server = peer.server, channel, bytes,
                      call = frame.header.sequence](const Result<void>& admitted) -> Result<void> {
    server->take_admitted(channel, bytes, admitted, call);
    return {};
  };
  if (accepted.valid() && !accepted.ready())
    return peer.server->hold_lane(accepted.then(inline_executor(), admit));
  static_cast<void>(admit(accepted.valid() ? accepted.result() : Result<void>()));
  return {};
}

// As cast().
Result<Future<void>> RemoteNode::begin_cast(const Peer& peer, const net::Frame& frame) {
  const std::uint64_t number = frame.header.sequence;
  MILLRACE_TRY(const CastPlan plan, plan_cast(peer, frame));
  auto run = make_ref<CastRun>(
      *plan.message, plan.request.name,
      [server = peer.server, number, channel = frame.header.channel](
          const Result<net::Bytes>& answer) { server->answer(number, answer, channel); });
  MILLRACE_TRY_STATUS(peer.server->add_call(number, run));
  return cast(run, plan);
}

void RemoteNode::ask_part(const Ref<CastRun>& run, std::size_t place, const CastPlan& plan,
                          CastPart part) {
  const CastRanks ranks = plan.request.ranks.part(part);
  const Result<Ref<Caller>> there = caller(ranks.at(0));
  if (!there) return run->take(place, std::unexpected(there.error()));
  CastRequest request = plan.request;
  request.ranks = ranks;
  const std::uint64_t number = (*there)->cast(request.name, {{.kind = kActorCast}, encode(request)},
                                              run->call(place), plan.deadline);
  if (number != 0) run->sent(*there, number);
}

Result<Ref<ActorCell>> RemoteNode::find_own(const CastPlan& plan) {
  const Scope::Hold hold = scope_.hold();
  if (!hold) return std::unexpected(scope_.closed_error());
  MILLRACE_TRY(Ref<ActorCell> cell, system_.find_cell(plan.request.name));
  if (cell->type() != *plan.type) {
    return fail(ErrorCode::kInvalidArgument, "actor '" + plan.request.name + "' is a " +
                                                 readable_name(cell->type()) + ", not a " +
                                                 plan.request.type);
  }
  return cell;
}

// Gives a future of the message's place in the mailbox.
Future<void> RemoteNode::ask_own(const Ref<CastRun>& run, std::size_t place, const CastPlan& plan) {
  const net::JobMember self = mesh_->member(mesh_->rank());
  const auto refuse = [&](const Error& error) -> Future<void> {
    run->take(place, std::unexpected(error.with_context(net::to_string(self)).with_detail(self)));
    return {};
  };
  const Result<Ref<ActorCell>> cell = find_own(plan);
  if (!cell) return refuse(cell.error());
  auto opened = plan.message->open(plan.request.message, true);
  if (!opened) return refuse(opened.error());
  const Ref<AsyncValue> answer = std::move(opened->answer);
  Future<void> accepted = (*cell)->send(opened->envelope.release(), {});
  run->watch_own(place, answer, self);
  return accepted;
}

}  // namespace millrace::actors
