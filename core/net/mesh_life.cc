// How a mesh starts, goes from epoch to epoch, and ends.
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/net/mesh.h"

namespace millrace::net {

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
  post(home(),
       [self = self(), address = std::string(address), started = std::move(started),
        held = std::move(held)]() mutable { self->open(address, std::move(started), held); });
  return result;
}

void Mesh::open(const std::string& address, Promise<void> started, const SharedHold& held) {
  std::optional<std::uint32_t> epoch;
  {
    MutexLock lock(mutex_);
    if (!closing()) epoch = epoch_;
  }
  if (!epoch) return started.set_error(closed_error());
  auto entrance =
      Entrance::open(transport_, address,
                     {.secret = options_.secret, .job = options_.job, .member = stranger_options()},
                     [this](const Ref<Connection>& connection) { return admit(connection); });
  if (!entrance) {
    take_published(*epoch, std::unexpected(entrance.error()));
    return started.set_error(entrance.error());
  }
  entrance_ = *std::move(entrance);
  set_beat();
  address_ = entrance_->address();
  {
    MutexLock lock(mutex_);
    if (!closing()) move(State::kOpen);
  }
  publish(*epoch, held)
      .then(inline_executor(),
            [started = std::move(started)](Result<void> published) mutable {
              started.set(std::move(published));
            })
      .ignore();
}

Future<void> Mesh::publish(std::uint32_t epoch, const SharedHold& held) {
  const MeshRecord record{
      {options_.rank, options_.host, options_.pid}, options_.incarnation, address_};
  const Future<void> written =
      store_.put(record_key(options_.name, epoch, options_.rank), encode_record(record));
  return with_stop(written, links_end_.get_token())
      .then(home(),
            [self = self(), epoch, held](const Result<void>& put) -> Future<void> {
              if (!put && put.error().code() == ErrorCode::kAlreadyExists)
                return self->name_holder(epoch, put.error());
              return put;
            })
      .then(home(), [self = self(), epoch, held](Result<void> published) -> Result<void> {
        if (!published && self->links_end_.stop_requested()) return std::unexpected(closed_error());
        self->take_published(epoch, published);
        return published;
      });
}

// The error that says which process has the rank.
Future<void> Mesh::name_holder(std::uint32_t epoch, const Error& error) {
  const Future<std::string> found = store_.try_get(record_key(options_.name, epoch, options_.rank));
  return with_stop(found, links_end_.get_token())
      .then(home(), [self = self(), epoch, error](const Result<std::string>& got) -> Result<void> {
        const MeshOptions& options = self->options_;
        if (!got) return std::unexpected(error);
        MILLRACE_TRY(const MeshRecord holder, read_record(*got, options.rank));
        return std::unexpected(Error(ErrorCode::kAlreadyExists,
                                     "joining job '" + options.job + "' in epoch " +
                                         std::to_string(epoch) + ": " + to_string(holder.who) +
                                         " came first; a rank is one process's")
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

Future<void> Mesh::set_epoch(std::uint32_t epoch) {
  SharedHold held = hold();
  Later later;
  MutexLock lock(mutex_);
  if (closing() || !*held) return closed_error();
  if (epoch <= epoch_) {
    return fail(
        ErrorCode::kInvalidArgument,
        "epoch " + std::to_string(epoch) + " does not follow epoch " + std::to_string(epoch_));
  }
  reset_peers(epoch, later);
  epoch_ = epoch;
  published_ = false;
  outcast_.reset();
  if (state_ == State::kMade) return make_ready();  // start() begins with it
  Promise<void> entered;
  Future<void> there = entered.future();
  post(home(), [self = self(), epoch, entered = std::move(entered)]() mutable {
    self->enter_epoch(epoch);
    entered.set_value();
  });
  return there.then(
      home(), [self = self(), epoch, held](Result<void>) { return self->publish(epoch, held); });
}

void Mesh::reset_peers(std::uint32_t epoch, Later& later) {
  const Error why(ErrorCode::kAborted, "epoch " + std::to_string(epoch_) + " ended before this");
  for (auto& [rank, peer] : peers_) {
    fail_all(peer.waiting, peer.waiting_bytes, why, later);
    for (auto& watcher : peer.watchers)
      later.set(std::move(watcher), Result<PeerLoss>(std::unexpected(why)));
    if (peer.connection) {
      peer.connection->set_error_of_end([why](const ConnectionEnd&) { return why; });
      peer.connection->close("it has left for epoch " + std::to_string(epoch)).ignore();
    }
    if (peer.dial) post(home(), [dial = peer.dial] { dial->abandon(); });
  }
  peers_.clear();
  fail_all(to_self_, to_self_bytes_, why, later);
}

void Mesh::enter_epoch(std::uint32_t epoch) {
  for (const EpochInbox& one : inboxes_)
    if (one.epoch < epoch) close_inbox(one.inbox);
  if (own_inbox_.epoch < epoch) close_own_inbox();
  std::erase_if(inboxes_, [&](const EpochInbox& one) { return one.epoch < epoch; });
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

// Others ask the store whether this process has ended once they find no listener any more. Where it
// never listened, they wait for its address, and get a record without one.
void Mesh::begin_close() {
  std::uint32_t epoch = 0;
  {
    MutexLock lock(mutex_);
    epoch = epoch_;
  }
  const MeshRecord gone{{options_.rank, options_.host, options_.pid}, options_.incarnation, {}};
  const TimePoint until = transport_.timers().clock().now() + options_.farewell;
  Future<void> written =
      entrance_ ? store_.put(ended_key(options_.name, options_.incarnation), "ended")
                : store_.put(record_key(options_.name, epoch, options_.rank), encode_record(gone));
  with_deadline(written, until, transport_.timers())
      .then(home(), [self = self()](Result<void>) { self->end_links(); })
      .ignore();
}

void Mesh::end_links() {
  if (beat_timer_) transport_.timers().cancel(*std::exchange(beat_timer_, std::nullopt));
  Future<void> entrance = entrance_ ? entrance_->close() : make_ready();
  for (Arrival& arrival : arrivals_) {
    if (!std::exchange(arrival.ends, true))
      arrival.connection->abandon("this process ends its links");
  }
  for (const EpochInbox& one : inboxes_) one.inbox->drain();
  if (own_inbox_.inbox) own_inbox_.inbox->drain();
  std::vector<Ref<Dial>> dials;
  {
    MutexLock lock(mutex_);
    for (auto& [rank, peer] : peers_) {
      if (peer.connection) peer.connection->close("it has closed its mesh").ignore();
      if (peer.dial) dials.push_back(peer.dial);
    }
  }
  for (const Ref<Dial>& dial : dials) dial->abandon();
  links_end_.request_stop();  // publish() does not wait for a store that does not answer
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
