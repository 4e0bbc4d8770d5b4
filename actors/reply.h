// Reply<R>: the duty to answer an ask, for handlers that answer later or let another actor answer.
#pragma once

#include <utility>

#include "millrace/actors/actor_cell.h"

namespace millrace::actors {
namespace detail {
// kAborted or kUnavailable: names the actor that was asked, the message, and the actor that let the
// reply fall.
Error dropped_reply_error(const ActorCell& asked, const MessageType& type);
}  // namespace detail

// Movable, also into a message to another actor. Dropped without an answer, also with the actor
// that holds it, it fails the ask and names who held it. Thread-safety: external.
template <class R>
class Reply {
 public:
  Reply() = default;
  // cell may be empty: the message was told, nobody waits.
  Reply(Ref<Cell<R>> cell, ActorCell& asked, const MessageType& type)
      : cell_(std::move(cell)), asked_(Ref<ActorCell>::share(&asked)), type_(&type) {}
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&& other) noexcept {
    abandon();
    cell_ = std::move(other.cell_);
    asked_ = std::move(other.asked_);
    type_ = other.type_;
    return *this;
  }
  ~Reply() { abandon(); }

  // True as long as somebody waits for the answer.
  bool wanted() const { return cell_ && !cell_->complete() && !cell_->unique(); }
  void set(Result<R> result) {
    if (Ref<Cell<R>> cell = std::exchange(cell_, {})) cell->try_set(std::move(result));
    asked_ = nullptr;
  }

 private:
  void abandon() {
    if (!cell_) return;
    if (cell_->unique()) cell_->ignore_error();
    if (!cell_->complete()) set(std::unexpected(detail::dropped_reply_error(*asked_, *type_)));
  }

  Ref<Cell<R>> cell_;
  Ref<ActorCell> asked_;
  const MessageType* type_ = nullptr;
};

}  // namespace millrace::actors
