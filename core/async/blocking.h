// wait_blocking, and wait_until with a limit: for main functions, tools and tests. Work of an
// executor never calls them: they would hold a worker. A wait_blocking that would stop a loop, or
// wait for the end of its own thread, ends the process with a sentence (CHECK).
#pragma once

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"

namespace millrace {

namespace detail {

// What source becomes. References: the futures', and one of the wait.
template <class T>
class CompletedOnCell final : public Cell<T>, public Waiter {
 public:
  CompletedOnCell(Executor& executor, Ref<Cell<T>> source)
      : Cell<T>(2), executor_(executor), source_(std::move(source)) {}

  Executor* completes_on() const override { return &executor_; }
  void on_complete(AsyncValue& /*value*/) noexcept override {
    this->set_alone(std::exchange(source_, {})->take());
  }
  // Who waits for it is asked in turn.
  bool is_brief() const override { return true; }

 private:
  Executor& executor_;
  Ref<Cell<T>> source_;
};

}  // namespace detail

// Blocks the calling thread until value completes. Any thread may call it for a complete value.
// Otherwise not on the thread of a bridge's loop (on_bridged_thread), not inside run() of an
// EventLoop, not for Runtime::close() on a thread of that runtime (CHECKed, as is an empty future).
void wait_blocking(AsyncValue& value);
template <class T>
Result<T> wait_blocking(const Future<T>& future) {
  if (!future.ready()) wait_blocking(*future.cell());
  return future.take();
}

// The same value, which comes of work of the executor: a thread in wait_blocking() for it may run
// some of that. Nothing of users that the executor runs may need what such a thread holds.
template <class T>
Future<T> completed_on(Executor& executor, const Future<T>& future) {
  if (future.ready()) return future;
  auto cell = make_ref<detail::CompletedOnCell<T>>(executor, future.cell());
  future.cell()->add_waiter(cell.get());
  return Future<T>(Ref<Cell<T>>(std::move(cell)));
}

// For an end that a foreign library may never reach: blocks the calling thread until end completes
// with a value or an error (true), a stop is requested or steady_clock() reaches the deadline. It
// needs no timers, so it works after the timers have closed.
bool wait_until(const Future<void>& end, const CallOptions& call);
// The same for so much time of the machine.
bool wait_until(const Future<void>& end, Duration limit);

}  // namespace millrace
