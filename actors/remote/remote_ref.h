// RemoteRef<A>: the typed handle on an actor of another process. It has what ActorRef has, by the
// same rules; README.md lists them and what differs. Read next: remote_actors.h, which gives it.
#pragma once

#include <string>
#include <utility>

#include "millrace/actors/actor_ref.h"
#include "millrace/actors/remote/caller.h"
#include "millrace/actors/remote/remote_class.h"

namespace millrace::actors {

// May be empty, as ActorRef: then calls give kInvalidArgument, and id(), name() and where() are
// CHECKed. Lasts for an epoch of the mesh (RA-1). Thread-safety: external for the handle,
// thread-safe for what it points to.
template <class A>
class RemoteRef {
 public:
  RemoteRef() = default;
  explicit RemoteRef(Ref<RemoteTarget> target) : target_(std::move(target)) {}

  // Completes when the message may be on its way: at once while the actor's process has room for
  // it. kUnavailable if the actor is gone, or its process; kResourceExhausted if too much waits;
  // kFailedPrecondition if the message has other fields there: with both lists. On stop or deadline
  // a message that waits is withdrawn.
  template <class M>
  Future<void> tell(const M& message, const CallOptions& options = {}) const {
    if (!target_) return detail::empty_ref("tell");
    MILLRACE_TRY_STATUS(check<M>());
    return target_->caller().tell(*target_, frame(message), kMessageType<M>, options);
  }
  // Completes with the handler's answer, on the thread that reads it. kUnavailable if the actor is
  // gone first, or the process that holds the reply; kAborted if its holder drops it; what the
  // handler gives, and all that tell() gives. The errors of an ended process name rank, host and
  // pid, and have PeerLoss, PeerEnded or JobMember as detail.
  template <class M>
  [[nodiscard]] Future<AnswerTo<A, M>> ask(const M& message,
                                           const CallOptions& options = {}) const {
    if (!target_) return detail::empty_ref("ask");
    MILLRACE_TRY_STATUS(check<M>());
    Caller& caller = target_->caller();
    MILLRACE_TRY_STATUS(check_in_time(options, *caller.environment().clock, kMessageType<M>.name));
    auto call = make_ref<AskCall<AnswerTo<A, M>>>(kMessageType<M>, target_->name());
    Future<AnswerTo<A, M>> answer(call->cell);
    caller.ask(*target_, frame(message), call, call->cell, options);
    return answer;
  }
  // Completes with the reason when the actor is gone, or out of reach (kUnreachable).
  Future<Down> down() const {
    if (!target_) return detail::empty_ref("down");
    return target_->down();
  }

  explicit operator bool() const { return static_cast<bool>(target_); }
  // The same actor, found in the same epoch.
  bool operator==(const RemoteRef& other) const { return target_ == other.target_; }
  ActorId id() const { return there().id(); }  // in its own system
  const std::string& name() const { return there().name(); }
  const net::JobMember& where() const { return there().where(); }
  // "actor 'store' of rank 1 (host h, pid 4711)"
  std::string to_string() const { return target_ ? target_->to_string() : "no actor"; }
  const Ref<RemoteTarget>& target() const { return target_; }

 private:
  RemoteTarget& there() const {
    MILLRACE_CHECK(target_, "a RemoteRef that is empty was used");
    return *target_;
  }
  template <class M>
  static const MessageSchema& schema() {
    static_assert(HandlesRemotely<A, M>,
                  "the message is not in the actor's list of messages, A::Remote");
    return message_schema<M, AnswerTo<A, M>>();
  }
  template <class M>
  Status check() const {
    return target_->check_schema(A::Remote::template place<M>(), schema<M>());
  }
  template <class M>
  net::Frame frame(const M& message) const {
    return {{.kind = kActorMessage, .channel = target_->id(), .words = {schema<M>().fingerprint}},
            to_wire(message)};
  }

  Ref<RemoteTarget> target_;
};

// Delivers the Down of target to observer's on(const Down&), as monitor() of actor_ref.h does.
template <class A, class B>
void monitor(const ActorRef<A>& observer, const RemoteRef<B>& target) {
  static_assert(Handles<A, Down>, "an observer needs a handler `on(const Down&)`");
  MILLRACE_CHECK(observer && target, "monitor() takes references that are not empty");
  target.down()
      .then(inline_executor(),
            [observer](Result<Down> down) {
              if (down) observer.send_notice(*std::move(down));
            })
      .ignore();
}

namespace detail {
void link_remote(const Ref<ActorCell>& here, const Ref<RemoteTarget>& there);
}  // namespace detail

// As link() of actor_ref.h: the failure of either kills the other. That of a process is one of all
// its actors.
template <class A, class B>
void link(const ActorRef<A>& here, const RemoteRef<B>& there) {
  MILLRACE_CHECK(here && there, "link() takes references that are not empty");
  detail::link_remote(here.cell(), there.target());
}

}  // namespace millrace::actors
