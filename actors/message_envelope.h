// MessageEnvelope<A, M>: a message M on its way to an actor of class A, and the answer.
#pragma once

#include <type_traits>
#include <utility>

#include "millrace/actors/actor_cell.h"
#include "millrace/actors/reply.h"

namespace millrace::actors {
namespace detail {

// void on(M, Reply<R>): found by the type of the one overload of on that fits.
template <class M>
struct ReplyHandler {
  template <class C, class R>
  static std::type_identity<R> probe(void (C::*)(M&&, Reply<R>));
  template <class C, class R>
  static std::type_identity<R> probe(void (C::*)(const M&, Reply<R>));
  template <class C, class R>
  static std::type_identity<R> probe(void (C::*)(M, Reply<R>));
};

template <class A, class M>
concept HandlesByReturn = requires(A& actor, M&& message) { actor.on(std::move(message)); };
template <class A, class M>
concept HandlesByReply = !HandlesByReturn<A, M> && requires { ReplyHandler<M>::probe(&A::on); };

template <class A, class M>
struct Handler;
template <class A, class M>
  requires HandlesByReturn<A, M>
struct Handler<A, M> {
  using Returned = decltype(std::declval<A&>().on(std::declval<M&&>()));
  using Answer = typename millrace::detail::Unwrapped<Returned>::type;
  static constexpr bool kReplies = false;
  static constexpr bool kLater = millrace::detail::kIsFuture<Returned>;
};
template <class A, class M>
  requires HandlesByReply<A, M>
struct Handler<A, M> {
  using Returned = void;
  using Answer = typename decltype(ReplyHandler<M>::probe(&A::on))::type;
  static constexpr bool kReplies = true;
  static constexpr bool kLater = false;
};

}  // namespace detail

// A has a handler for M.
template <class A, class M>
concept Handles = detail::HandlesByReturn<A, M> || detail::HandlesByReply<A, M>;
// What an ask of M gives.
template <class A, class M>
using AnswerTo = typename detail::Handler<A, M>::Answer;

template <class A, class M>
class MessageEnvelope final
    : public std::conditional_t<detail::Handler<A, M>::kLater, InFlight, Envelope> {
  using Handler = detail::Handler<A, M>;
  using Base = std::conditional_t<Handler::kLater, InFlight, Envelope>;

 public:
  using Answer = typename Handler::Answer;

  // reply is empty for a tell.
  MessageEnvelope(M message, Ref<Cell<Answer>> reply)
      : Base(kMessageType<M>, sizeof(MessageEnvelope) - sizeof(M) + message_bytes(message)),
        message_(std::move(message)),
        reply_(std::move(reply)) {}

  bool deliver(ActorCell& cell, Actor& actor) override {
    if (reply_ && reply_->complete())
      return false;  // stopped or past its deadline: the sender waits no more
    A& target = static_cast<A&>(actor);
    if constexpr (Handler::kReplies) {
      deliver_with_reply(cell, target);
    } else if constexpr (Handler::kLater) {
      return deliver_later(cell, target.on(std::move(message_)));
    } else if constexpr (std::is_void_v<typename Handler::Returned>) {
      target.on(std::move(message_));
      set({});
    } else {
      set(target.on(std::move(message_)));
    }
    return false;
  }

  void reject(const Error& error) noexcept override {
    if (reply_) {
      if (reply_->unique()) reply_->ignore_error();  // the asker has released the future
      reply_->try_set(std::unexpected(error));
    }
    if (this->accepted) this->accepted->try_set(std::unexpected(error));
  }

  bool withdrawn() const override {
    return (reply_ && reply_->complete()) || Envelope::withdrawn();
  }

  void answer(AsyncValue& value) noexcept override {
    set(static_cast<Cell<Answer>&>(value).take());
  }

 private:
  void deliver_with_reply(ActorCell& cell, A& target) {
    Reply<Answer> reply(std::move(reply_), cell, kMessageType<M>);
    const auto held = reply.held();
    if (!held) return target.on(std::move(message_), std::move(reply));
    held->begin_handler();
    try {
      target.on(std::move(message_), std::move(reply));
    } catch (...) {
      if (held->end_handler()) reply_ = held->cell;  // for reject, which knows the exception
      throw;
    }
    if (held->end_handler()) held->drop();
  }
  bool deliver_later(ActorCell& cell, Future<Answer> future) {
    if (!future.valid()) {
      set(fail(ErrorCode::kInternal, "the handler of " + std::string(kMessageType<M>.name) +
                                         " returned an empty future"));
      return false;
    }
    if (future.ready()) {
      set(future.take());
      return false;
    }
    if constexpr (Handler::kLater) {
      cell.begin_in_flight(*this, kMessageType<M>.concurrent);
      future.cell()->add_waiter(this);  // may complete on another thread before it returns
    }
    return true;
  }
  void set(Result<Answer> result) {
    if (reply_) {
      reply_->try_set(std::move(result));
    } else if (!result) {
      report_unobserved_error(result.error());  // of a tell: its sender gets no answer
    }
  }

  M message_;
  Ref<Cell<Answer>> reply_;
};

}  // namespace millrace::actors
