// LoopWait: one continuation on a user's loop that waits for its value. It stands between the value
// and the continuation: the bridge so counts what waits, keeps the loop alive meanwhile, and can
// cancel the wait before the value comes. Made by future.then
// and co_await. Read next: completion_queue.h, which owns them; its .cc has their functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "millrace/core/async/async_value.h"
#include "millrace/core/async/executor.h"

namespace millrace::detail {

// References: one of the value (then of the queue that holds it as work), one of the list of its
// CompletionQueue. Thread-safety: thread-safe, but run and cancel belong to the loop's thread.
class LoopWait : public RefCounted, public Waiter, public Work, public Pooled {
 public:
  // Enters the list of the executor's queue; nullopt, or why not (it closes, a fork).
  std::optional<Error> enter();
  // The value has come: from now on this is work of the loop.
  void on_complete(AsyncValue& value) noexcept final;
  void run() noexcept final;
  void drop() noexcept final;
  // Completes the continuation's value with error. False: the value came before; run() is next.
  bool cancel(const Error& error);

 protected:
  explicit LoopWait(Executor& executor);
  ~LoopWait() override;
  virtual void pass_on() = 0;
  virtual void fail(Error error) = 0;

 private:
  friend class ::millrace::CompletionQueue;
  enum class State : std::uint8_t {
    kWaiting,    // -> kTaken, kCancelled
    kTaken,      // the value came first; final
    kCancelled,  // the loop closed first; final
  };

  Ref<CompletionQueue> queue_;  // until cancelled
  std::atomic<State> state_{State::kWaiting};
  // For the loop's thread; but until linked_, after_ is the next older arrival.
  bool linked_ = false;
  LoopWait* before_ = nullptr;
  LoopWait* after_ = nullptr;
};

template <class T>
class TypedLoopWait final : public LoopWait {
 public:
  TypedLoopWait(Executor& executor, Ref<Cell<T>> source)
      : LoopWait(executor), source_(std::move(source)), guard_(make_ref<Cell<T>>()) {}
  const Ref<Cell<T>>& guard() const { return guard_; }

 protected:
  void pass_on() override { std::exchange(guard_, {})->set(std::exchange(source_, {})->take()); }
  void fail(Error error) override {
    std::exchange(guard_, {})->set(std::unexpected(std::move(error)));
  }

 private:
  Ref<Cell<T>> source_;
  Ref<Cell<T>> guard_;
};

// What source becomes, seen from the loop of executor: the same, or kCancelled once its bridge
// closes. Completes on the loop's thread.
template <class T>
Ref<Cell<T>> wait_on_loop(const Ref<Cell<T>>& source, Executor& executor) {
  auto wait = make_ref<TypedLoopWait<T>>(executor, source);
  Ref<Cell<T>> guard = wait->guard();
  if (std::optional<Error> refused = wait->enter()) {
    guard->set(std::unexpected(*std::move(refused)));
  } else {
    source->add_waiter(wait.detach());  // its reference is that of the value
  }
  return guard;
}

}  // namespace millrace::detail
