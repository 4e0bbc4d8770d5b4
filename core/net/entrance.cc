#include "millrace/core/net/entrance.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "millrace/core/async/combinators.h"

namespace millrace::net {
namespace {

Nonce draw_nonce() {
  Nonce nonce;
  draw_random(nonce);
  return nonce;
}

// What a connection may do until it is in.
ConnectionOptions of_stranger(ConnectionOptions member, std::optional<std::size_t> most_read) {
  member.max_payload = kStrangerPayload;
  member.most_queued = 4 * kStrangerBytes;
  member.most_read = most_read;
  return member;
}

bool same_user(const Peer& peer) { return peer.uid && *peer.uid == ::geteuid(); }

}  // namespace

Entrance::Entrance(Transport& transport, EntranceOptions options, Admit admit)
    : transport_(transport), options_(std::move(options)), admit_(std::move(admit)) {}

Result<Ref<Entrance>> Entrance::open(Transport& transport, std::string_view address,
                                     EntranceOptions options, Admit admit) {
  auto made = Ref<Entrance>::adopt(new Entrance(transport, std::move(options), std::move(admit)));
  // The listener goes at close(), so it may point here.
  MILLRACE_TRY(made->listener_, transport.listen(address, [entrance = made.get()](auto stream) {
    entrance->take(std::move(stream));
  }));
  made->address_ = made->listener_->address();
  return made;
}

Future<void> Entrance::close() {
  listener_.reset();
  Future<void> closed = scope_.close();
  for (Stranger& stranger : strangers_) stranger.connection->abandon("the entrance was closed");
  if (closed.ready()) admit_ = nullptr;
  return closed.then(inline_executor(),
                     [self = Ref<Entrance>::share(this)](Result<void>) { self->admit_ = nullptr; });
}

void Entrance::take(std::unique_ptr<ByteStream> stream) {
  Scope::Hold hold = scope_.hold();
  if (!hold) return;
  ++counts_.came;
  if (options_.secret) return take_stranger(std::move(stream), std::move(hold));
  if (!same_user(stream->peer())) {
    ++counts_.other_user;
    return;
  }
  take_member(std::move(stream));
}

void Entrance::take_member(std::unique_ptr<ByteStream> stream) {
  ++counts_.admitted;
  auto connection = Connection::make(std::move(stream), transport_, options_.member);
  connection->start(admit_(connection));
}

void Entrance::take_stranger(std::unique_ptr<ByteStream> stream, Scope::Hold hold) {
  if (strangers_.size() >= options_.places) {
    // Places of those who were refused already are about to be free.
    for (Stranger& oldest : strangers_) {
      if (oldest.why != nullptr) continue;
      refuse(oldest, counts_.crowded, "others wait too");
      break;
    }
  }
  auto connection =
      Connection::make(std::move(stream), transport_, of_stranger(options_.member, kStrangerBytes));
  strangers_.push_back({connection,
                        Handshake::make_acceptor(*options_.secret, options_.job, draw_nonce()),
                        {},
                        nullptr,
                        false,
                        std::move(hold)});
  const auto place = std::prev(strangers_.end());
  auto self = Ref<Entrance>::share(this);
  // A stranger's place stays until take_end(), which comes after every call of these.
  place->timer = transport_.timers().schedule(
      transport_.timers().clock().now() + options_.patience,
      [this, place] { refuse(*place, counts_.silent, "it took too long"); });
  connection->start([this, place](const Frame& frame) { return hear(place, frame); });
  connection->end()
      .then(transport_.home(),
            [self, place](const Result<ConnectionEnd>& end) { self->take_end(place, *end); })
      .ignore();
}

Future<void> Entrance::hear(Strangers::iterator place, const Frame& frame) {
  const Ref<Connection> connection = place->connection;
  auto answer = place->handshake.take(frame);
  if (!answer) {
    place->why = &counts_.no_proof;
    const auto* fault = answer.error().detail<HandshakeFault>();
    if (*fault == HandshakeFault::kUnexpected) place->why = &counts_.garbage;
    connection->send(Handshake::refusal(answer.error()))
        .then(transport_.home(), [connection](Result<void>) { connection->abandon("refused"); })
        .ignore();
    return {};
  }
  if (*answer) connection->send(*std::move(*answer)).ignore();
  if (!place->handshake.done()) return {};
  if (scope_.closing()) return fail(ErrorCode::kUnavailable, "the entrance is closed");
  ++counts_.admitted;
  place->in = true;
  transport_.timers().cancel(place->timer);
  connection->set_limits(options_.member.max_payload, options_.member.most_queued);
  connection->set_identity(place->handshake.other());
  connection->set_sink(admit_(connection));
  place->hold.reset();
  members_.splice(members_.end(), strangers_, place);
  return {};
}

void Entrance::refuse(Stranger& stranger, std::uint64_t& why, std::string_view words) {
  if (stranger.why == nullptr) stranger.why = &why;
  stranger.connection->abandon(words);
}

void Entrance::take_end(Strangers::iterator place, const ConnectionEnd& end) {
  if (!place->in) {
    transport_.timers().cancel(place->timer);
    const bool garbage = end.cause == EndCause::kProtocolError;
    if (place->why == nullptr) place->why = garbage ? &counts_.garbage : &counts_.left;
    ++*place->why;
  }
  const Scope::Hold hold = std::move(place->hold);
  (place->in ? members_ : strangers_).erase(place);
}

namespace {

// One enter() that shakes hands. States: connects -> shakes hands -> complete. Kept by what it
// waits for: the connection's sink, until that is in or ends. Thread-safety: confined to home.
class Entering final : public RefCounted {
 public:
  Entering(Transport& transport, EnterOptions options, Admit admit)
      : transport_(transport), options_(std::move(options)), admit_(std::move(admit)) {}

  Future<Ref<Connection>> future() { return promise_.future(); }

  void take(Result<std::unique_ptr<ByteStream>> stream, CallOptions call,
            const Future<Ref<Connection>>& result) {
    if (!stream) return promise_.set_error(stream.error());
    const Peer peer = (*stream)->peer();
    if (peer.uid && !same_user(peer)) {
      return promise_.set_error(Error(ErrorCode::kPermissionDenied,
                                      "entering at " + peer.address + ": another user, uid " +
                                          std::to_string(*peer.uid) + ", listens there"));
    }
    if (!options_.secret) {
      auto connection = Connection::make(*std::move(stream), transport_, options_.member);
      connection->start(admit_(connection));
      return promise_.set(std::move(connection));
    }
    shake(*std::move(stream));
    call.deadline = std::min(call.deadline, transport_.timers().clock().now() + options_.patience);
    detail::limit_wait(call, &transport_.timers(), Ref<AsyncValue>(result.cell()),
                       Ref<RefCounted>::share(this), [](RefCounted& target, detail::WaitEnd end) {
                         static_cast<Entering&>(target).give_up(end);
                       });
  }

 private:
  void shake(std::unique_ptr<ByteStream> stream) {
    handshake_.emplace(
        Handshake::make_connector(*options_.secret, options_.job, options_.self, draw_nonce()));
    connection_ = Connection::make(std::move(stream), transport_,
                                   of_stranger(options_.member, kStrangerBytes));
    const auto self = Ref<Entering>::share(this);
    connection_->end()
        .then(transport_.home(), [self](const Result<ConnectionEnd>& end) { self->take_end(*end); })
        .ignore();
    connection_->start([self](const Frame& frame) { return self->hear(frame); });
    connection_->send(handshake_->hello()).ignore();
  }

  Future<void> hear(const Frame& frame) {
    auto answer = handshake_->take(frame);
    if (!answer) {
      failure_ = answer.error();
      connection_->abandon(answer.error().message());
      return {};
    }
    if (*answer) connection_->send(*std::move(*answer)).ignore();
    if (!handshake_->done()) return {};
    const Ref<Connection> connection = std::exchange(connection_, {});
    connection->set_limits(options_.member.max_payload, options_.member.most_queued);
    connection->set_sink(admit_(connection));
    promise_.set(connection);
    return {};
  }

  void give_up(detail::WaitEnd end) {
    post(transport_.home(), [self = Ref<Entering>::share(this), end] {
      if (!self->connection_) return;
      self->failure_ =
          detail::wait_error(end, "while it shook hands with " + self->connection_->peer().address);
      self->connection_->abandon("given up");
    });
  }

  void take_end(const ConnectionEnd& end) {
    const Ref<Connection> connection = std::exchange(connection_, {});
    if (!connection) return;  // it was in
    promise_.set_error(failure_ ? *failure_ : end.error(connection->peer()));
  }

  Transport& transport_;
  const EnterOptions options_;
  const Admit admit_;
  std::optional<Handshake> handshake_;
  Ref<Connection> connection_;  // while it shakes hands
  std::optional<Error> failure_;
  Promise<Ref<Connection>> promise_;
};

}  // namespace

Future<Ref<Connection>> enter(Transport& transport, std::string_view address, EnterOptions options,
                              Admit admit, CallOptions call) {
  auto entering = make_ref<Entering>(transport, std::move(options), std::move(admit));
  Future<Ref<Connection>> result = entering->future();
  transport.connect(address, call)
      .then(transport.home(),
            [entering, call, result](Result<std::unique_ptr<ByteStream>> stream) {
              entering->take(std::move(stream), call, result);
            })
      .ignore();
  return result;
}

}  // namespace millrace::net
