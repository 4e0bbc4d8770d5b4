// ChildRef<A>: the reference on a supervisor's child that follows its restarts. An ActorRef ends
// with its incarnation; this one sends to the incarnation that runs. Made by Supervisor::child.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "millrace/actors/actor_ref.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/mutex.h"

namespace millrace::actors {

namespace detail {

// Where a child is: running, between two incarnations, or over. Shared by its supervisor, which
// alone changes it, and by its ChildRefs. Thread-safety: thread-safe, save as said.
class ChildSlot final : public RefCounted {
 public:
  using Incarnation = Ref<ActorCell>;

  // In names, for errors: "child 'cache' of supervisor 'root'". Senders that would have more than
  // limit_bytes wait between two incarnations are refused.
  ChildSlot(std::string described, std::size_t limit_bytes, const Environment& environment)
      : described_(std::move(described)), limit_bytes_(limit_bytes), environment_(environment) {}

  const std::string& described() const { return described_; }

  // The supervisor's slice. A new incarnation: waiting senders get it first, in order. True: more
  // have come meanwhile, and another turn of the supervisor must call serve().
  bool start(const Incarnation& cell);
  // Serves the senders that wait now; true as above.
  bool serve();
  // No incarnation follows: why is the error of all senders that wait or come later.
  void end(const Error& why);

  // The incarnation that takes messages, now or next, or the error of the stop or deadline of a
  // message. kResourceExhausted: more than limit_bytes would wait for the next one.
  Future<Incarnation> current(std::size_t bytes, const CallOptions& options);
  // The same if there is one now; else kUnavailable.
  Result<Incarnation> now() const;
  // The first one whose id is above `after`; without it, the one after the newest.
  Future<Incarnation> next(std::optional<ActorId> after);

 private:
  struct Waiting {
    Promise<Incarnation> promise;
    std::size_t bytes = 0;
  };
  bool takes_messages() const MILLRACE_REQUIRES(mutex_) {
    return cell_ && !serving_ && !cell_->refuses();
  }
  using WaitingList = std::map<std::uint64_t, Waiting>;  // by the order in which they came
  WaitingList take_waiting() MILLRACE_REQUIRES(mutex_);
  void give_up(std::uint64_t number);

  const std::string described_;
  const std::size_t limit_bytes_;
  const Environment environment_;
  mutable Mutex mutex_;
  Incarnation cell_ MILLRACE_GUARDED_BY(mutex_);  // the newest
  std::optional<Error> over_ MILLRACE_GUARDED_BY(mutex_);
  bool serving_ MILLRACE_GUARDED_BY(mutex_) = false;  // waiting senders come first
  WaitingList waiting_ MILLRACE_GUARDED_BY(mutex_);
  std::uint64_t next_number_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::size_t waiting_bytes_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::optional<Promise<Incarnation>> next_ MILLRACE_GUARDED_BY(mutex_);  // once asked for
};

}  // namespace detail

// Value handle, may be empty: its calls are kInvalidArgument then. A message goes to the
// incarnation that runs. Between two of them it waits for the next, within its stop and deadline;
// messages of one thread keep their order. A message that an incarnation had taken when it ended
// fails with ActorGone and is not sent again: it may have been handled. Once the child is gone for
// good, or its supervisor ends, all fail with kUnavailable. The handle keeps neither of the two
// running. Thread-safety: external for the handle, thread-safe for what it points to.
template <class A>
class ChildRef {
  using Incarnation = Ref<ActorCell>;

 public:
  ChildRef() = default;
  explicit ChildRef(Ref<detail::ChildSlot> slot) : slot_(std::move(slot)) {}

  explicit operator bool() const { return static_cast<bool>(slot_); }

  // As ActorRef's. kResourceExhausted also where more than ActorOptions::waiting_bytes of messages
  // wait for the next incarnation.
  template <class M>
  Future<void> tell(M message, const CallOptions& options = {}) const {
    return send<void>(sizeof(M), options,
                      [message = std::move(message), options](const ActorRef<A>& child) mutable {
                        return child.tell(std::move(message), options);
                      });
  }
  // Never waits: kUnavailable between two incarnations.
  template <class M>
  Status try_tell(M message) const {
    MILLRACE_TRY(const ActorRef<A> child, now());
    return child.try_tell(std::move(message));
  }
  template <class M>
  [[nodiscard]] Future<AnswerTo<A, M>> ask(M message, const CallOptions& options = {}) const {
    return send<AnswerTo<A, M>>(
        sizeof(M), options,
        [message = std::move(message), options](const ActorRef<A>& child) mutable {
          return child.ask(std::move(message), options);
        });
  }

  // The incarnation that runs; kUnavailable between two of them, or the error of the child's end.
  Result<ActorRef<A>> now() const {
    if (!slot_) return std::unexpected(empty());
    MILLRACE_TRY(const Ref<ActorCell> cell, slot_->now());
    return ActorRef<A>(cell);
  }
  // Completes with the next incarnation when the child has been restarted: the one after that which
  // runs or ran last, or after the given one, as ActorGone::id or ActorRef::id() names it (at once
  // if it runs). An error when none follows: the child is gone for good, or its supervisor has
  // failed or ends.
  Future<ActorRef<A>> next_incarnation(std::optional<ActorId> after = {}) const {
    if (!slot_) return empty();
    return slot_->next(after).then(inline_executor(),
                                   [](Result<Incarnation> cell) -> Result<ActorRef<A>> {
                                     if (!cell) return std::unexpected(std::move(cell).error());
                                     return ActorRef<A>(*std::move(cell));
                                   });
  }

 private:
  template <class R, class Send>
  Future<R> send(std::size_t bytes, const CallOptions& options, Send send) const {
    if (!slot_) return empty();
    const Future<Incarnation> running = slot_->current(bytes, options);
    if (running.ready() && running.result()) return send(ActorRef<A>(*running.result()));
    return running.then(
        inline_executor(),
        [slot = slot_, send = std::move(send)](Result<Incarnation> cell) mutable -> Future<R> {
          if (!cell) return cell.error().with_context("a message to " + slot->described());
          return send(ActorRef<A>(*std::move(cell)));
        });
  }

  static Error empty() {
    return Error(ErrorCode::kInvalidArgument,
                 "a call on an empty ChildRef; Supervisor::child gives one");
  }

  Ref<detail::ChildSlot> slot_;
};

}  // namespace millrace::actors
