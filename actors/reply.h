// Reply<R>: the duty to answer an ask, for handlers that answer later or let another actor answer.
#pragma once

#include <cstdint>
#include <utility>

#include "millrace/actors/actor_cell.h"
#include "millrace/actors/reply_tracker.h"

namespace millrace::actors {
namespace detail {
// kAborted or kUnavailable: names the actor that was asked, the message, and the reply's holder.
Error dropped_reply_error(const ActorCell& asked, const MessageType& type);
// In a message that is being made for another actor: that one holds it from now on (HR-1).
void follow_message(ReplyTracker& reply);

template <class R>
class TypedReply final : public ReplyTracker {
 public:
  TypedReply(Ref<Cell<R>> given, ActorCell& asked, const MessageType& type)
      : cell(std::move(given)), asked_(Ref<ActorCell>::share(&asked)), type_(type) {}
  void drop() noexcept override {
    if (cell->unique()) cell->ignore_error();  // the asker has released the future
    if (!cell->complete()) cell->try_set(std::unexpected(dropped_reply_error(*asked_, type_)));
  }

  // Around the handler that was asked, by its slice. What drops the reply meanwhile only says so:
  // if the handler throws, the answer is its exception, not that unwinding has dropped the reply.
  void begin_handler() { handler_ = Handler::kRuns; }
  bool end_handler() {  // true: dropped meanwhile, and not reported yet
    return std::exchange(handler_, Handler::kNone) == Handler::kHasDropped;
  }
  // Takes note if the handler itself drops it, which this thread knows: the rest is its slice's.
  bool dropped_in_handler() {
    const CurrentActor& current = current_actor();
    if (current.cell != asked_.get() || current.gone != nullptr || handler_ != Handler::kRuns)
      return false;
    handler_ = Handler::kHasDropped;
    return true;
  }

  const Ref<Cell<R>> cell;

 private:
  enum class Handler : std::uint8_t { kNone, kRuns, kHasDropped };

  const Ref<ActorCell> asked_;
  const MessageType& type_;
  Handler handler_ = Handler::kNone;
};
}  // namespace detail

// Movable, also into a message to another actor, as a member or in an optional: then that actor
// holds it (in a container, the sender still counts as its holder). A reply that is dropped without
// an answer, or whose holder fails, fails the ask and names the holder. Where the asked handler
// throws while it holds the reply, the ask gets the exception. Thread-safety: external.
template <class R>
class Reply {
 public:
  Reply() = default;
  // cell may be empty: the message came by tell, no asker waits.
  Reply(Ref<Cell<R>> cell, ActorCell& asked, const MessageType& type) {
    if (!cell) return;
    held_ = make_ref<detail::TypedReply<R>>(std::move(cell), asked, type);
    held_->move_to(asked.replies());
  }
  Reply(Reply&& other) noexcept : held_(std::move(other.held_)) { follow(); }
  Reply& operator=(Reply&& other) noexcept {
    drop();
    held_ = std::move(other.held_);
    follow();
    return *this;
  }
  ~Reply() { drop(); }

  // True as long as the asker waits for the answer.
  bool wanted() const { return held_ && !held_->cell->complete() && !held_->cell->unique(); }
  void set(Result<R> result) {
    const auto held = std::exchange(held_, {});
    if (!held) return;
    held->leave();
    held->cell->try_set(std::move(result));
  }
  // For the envelope. Empty: no asker waits.
  const Ref<detail::TypedReply<R>>& held() const { return held_; }

 private:
  void follow() {
    if (held_) detail::follow_message(*held_);
  }
  void drop() {
    const auto held = std::exchange(held_, {});
    if (!held) return;
    held->leave();
    if (!held->dropped_in_handler()) held->drop();
  }

  Ref<detail::TypedReply<R>> held_;
};

}  // namespace millrace::actors
