// ActorRef<A>: the typed handle on an actor, the only way to reach it. Copy it freely; it neither
// keeps the actor running nor stops it. Read next: system.h.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "millrace/actors/call_limits.h"
#include "millrace/actors/message_envelope.h"
#include "millrace/core/base/check.h"

namespace millrace::actors {
// May be empty: then calls that give a Future or a Status give kInvalidArgument, and id(), name()
// and monitor() are CHECKed. Messages of one thread arrive in its order; all messages in one total
// order. Thread-safety: external for the handle, thread-safe for what it points to.
template <class A>
class ActorRef {
 public:
  ActorRef() = default;
  explicit ActorRef(Ref<ActorCell> cell) : cell_(std::move(cell)) {}
  // An actor on itself: ActorRef(this).
  explicit ActorRef(A* actor) : cell_(Ref<ActorCell>::share(&actor->cell())) {}

  // Completes when the message is in the mailbox; a full one lets the sender wait. kUnavailable if
  // the actor is gone; kResourceExhausted if more waits outside than ActorOptions::waiting_bytes.
  // On stop or deadline a message that waits is withdrawn. No allocation but the message, if it is
  // accepted at once. A handler must not await a tell to its own actor.
  template <class M>
  Future<void> tell(M message, const CallOptions& options = {}) const {
    if (!cell_) return detail::empty_ref("tell");
    return cell_->send(envelope<M>(std::move(message)), options);
  }
  // Never waits: kResourceExhausted if the message does not fit now.
  template <class M>
  Status try_tell(M message) const {
    if (!cell_) return detail::empty_ref("try_tell");
    return cell_->try_send(envelope<M>(std::move(message)));
  }
  // For a room's own protocols, whose messages must not be lost: asks for no room, so the sender
  // has bounded what is under way by itself. In the order of this thread's other messages, save of
  // those that still wait for room. Dropped if the actor is gone.
  template <class M>
  void send_notice(M message) const {
    there().send_notice(envelope<M>(std::move(message)));
  }
  // Completes with the handler's answer, on the thread that gives it. kUnavailable if the actor is
  // gone first, kAborted if the holder of the reply drops it; both name the actor and why.
  template <class M>
  [[nodiscard]] Future<AnswerTo<A, M>> ask(M message, const CallOptions& options = {}) const {
    using R = AnswerTo<A, M>;
    if (!cell_) return detail::empty_ref("ask");
    if (Status ok = detail::check_in_time(*cell_, kMessageType<M>, options); !ok) return ok.error();
    auto reply = make_ref<Cell<R>>();
    detail::limit_call<R>(reply, *cell_, kMessageType<M>, options);
    cell_->send_ask(envelope<M>(std::move(message), reply));
    return Future<R>(std::move(reply));
  }

  // Completes with the reason when the actor is gone; at once if it is.
  Future<Down> down() const {
    if (!cell_) return detail::empty_ref("down");
    return cell_->down();
  }
  // Ends the actor in good order; the future is down().
  Future<Down> stop(StopMode mode = StopMode::kNow) const {
    if (!cell_) return detail::empty_ref("stop");
    cell_->stop(Exit{ExitReason::kStopped, std::nullopt}, mode);
    return down();
  }
  // Declares it failed: queued messages and those in flight fail at once, with the error.
  Future<Down> kill(Error error) const {
    if (!cell_) return detail::empty_ref("kill");
    cell_->stop(Exit{ExitReason::kKilled, std::move(error)}, StopMode::kNow);
    return down();
  }

  explicit operator bool() const { return static_cast<bool>(cell_); }
  bool operator==(const ActorRef& other) const { return cell_ == other.cell_; }
  ActorId id() const { return there().id(); }
  const std::string& name() const { return there().name(); }
  const Ref<ActorCell>& cell() const { return cell_; }

 private:
  ActorCell& there() const {
    MILLRACE_CHECK(cell_, "an ActorRef that is empty was used");
    return *cell_;
  }
  template <class M>
  Envelope* envelope(M message, Ref<Cell<AnswerTo<A, M>>> reply = {}) const {
    static_assert(Handles<A, M>, "the actor has no handler `on` for this message");
    if constexpr (std::is_copy_constructible_v<M>) {  // no reply is in it: those only move
      return new MessageEnvelope<A, M>(std::move(message), std::move(reply));
    } else {
      const Recipient recipient(*cell_);
      return new MessageEnvelope<A, M>(std::move(message), std::move(reply));
    }
  }

  Ref<ActorCell> cell_;
};

// Delivers the Down of target to observer's on(const Down&), as a message that needs no room.
template <class A, class B>
void monitor(const ActorRef<A>& observer, const ActorRef<B>& target) {
  static_assert(Handles<A, Down>, "an observer needs a handler `on(const Down&)`");
  MILLRACE_CHECK(observer && target, "monitor() takes ActorRefs that are not empty");
  target.down()
      .then(inline_executor(),
            [observer](Result<Down> down) {
              if (down) observer.send_notice(*std::move(down));
            })
      .ignore();
}

// The failure of either kills the other; an end in good order leaves the other one alone.
template <class A, class B>
void link(const ActorRef<A>& one, const ActorRef<B>& other) {
  MILLRACE_CHECK(one && other, "link() takes ActorRefs that are not empty");
  const auto follow = [](const auto& leader, const auto& follower) {
    leader.down()
        .then(inline_executor(),
              [follower](const Result<Down>& down) {
                if (!down || !down->exit.failure()) return;
                const Error why = down->exit.error->with_context("it was linked to actor '" +
                                                                 down->name + "', which failed");
                follower.kill(why).ignore();
              })
        .ignore();
  };
  follow(one, other);
  follow(other, one);
}

}  // namespace millrace::actors
