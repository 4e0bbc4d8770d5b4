// PendingCall: a call to another process whose answer has not come. Read next: caller.h, which
// keeps them by their numbers.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "millrace/actors/message.h"
#include "millrace/actors/remote/wire_type.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/net/frame.h"

namespace millrace::actors {

// Shared by its Caller and by the limits of the call. Thread-safety: thread-safe.
class PendingCall : public RefCounted, public Pooled {
 public:
  // Completes the call, on any thread, without a lock of the caller; loses quietly to an earlier
  // end.
  virtual void take(const Result<net::Bytes>& answer) noexcept = 0;
  // For errors: "Get to actor 'store'".
  virtual std::string what() const = 0;
  // No answer is wanted any more.
  virtual bool ended() const = 0;
};

// An ask, whose answer is an R.
template <class R>
class AskCall final : public PendingCall {
 public:
  AskCall(const MessageType& type, std::string actor) : type_(type), actor_(std::move(actor)) {}

  void take(const Result<net::Bytes>& answer) noexcept override {
    if (cell->unique()) cell->ignore_error();  // the asker has released the future
    if (!answer) {
      cell->try_set(std::unexpected(answer.error()));
    } else if constexpr (std::is_void_v<R>) {
      cell->try_set({});
    } else {
      cell->try_set(from_wire<R>(*answer, "the answer to " + std::string(type_.name)));
    }
  }
  std::string what() const override {
    return std::string(type_.name) + " to actor '" + actor_ + "'";
  }
  bool ended() const override { return cell->complete(); }

  const Ref<Cell<R>> cell = make_ref<Cell<R>>();

 private:
  const MessageType& type_;
  const std::string actor_;
};

}  // namespace millrace::actors
