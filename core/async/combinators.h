// Combinators: futures made of futures. None runs user code, so none takes an executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <stop_token>
#include <string_view>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/function_ref.h"

namespace millrace {

namespace detail {
using ValueAt = FunctionRef<AsyncValue*(std::size_t)>;  // nullptr: of an empty future
Future<void> when_all_of(std::size_t count, ValueAt value);
Future<std::size_t> when_any_of(std::size_t count, ValueAt value);
inline AsyncValue* value_of(const Ref<AsyncValue>& value) { return value.get(); }
template <class T>
AsyncValue* value_of(const Future<T>& future) {
  return future.cell().get();
}
}  // namespace detail

// Completes when every input has. The error of the lowest index wins, in any order of completion;
// kInvalidArgument at once if an input is empty. One pooled block (up to some 1600 inputs).
template <std::ranges::random_access_range Inputs>
Future<void> when_all(const Inputs& inputs) {
  return detail::when_all_of(std::ranges::size(inputs),
                             [&](std::size_t i) { return detail::value_of(inputs[i]); });
}
template <class... Ts>
Future<void> when_all(const Future<Ts>&... futures) {
  const Ref<AsyncValue> cells[] = {Ref<AsyncValue>(futures.cell())...};
  return when_all(cells);
}

// The index of the first input to complete, with a value or an error. kInvalidArgument if there is
// no input, or one is empty.
template <std::ranges::random_access_range Inputs>
Future<std::size_t> when_any(const Inputs& inputs) {
  return detail::when_any_of(std::ranges::size(inputs),
                             [&](std::size_t i) { return detail::value_of(inputs[i]); });
}

namespace detail {

// What ends a wait before its value comes.
enum class WaitEnd : std::uint8_t {
  kStopped,  // a stop was requested: kCancelled
  kDue,      // the deadline came: kDeadlineExceeded
  kClosed,   // the timers closed before it: kAborted
};
// "stopped on request" and so on, then what: "before the result came".
Error wait_error(WaitEnd end, std::string_view what);
// Calls ended(target, end) once options end the wait for `until`, unless `until` completes first;
// keeps target until then. May call on this thread. timers: needed for a deadline.
void limit_wait(const CallOptions& options, TimerQueue* timers, Ref<AsyncValue> until,
                Ref<RefCounted> target, void (*ended)(RefCounted&, WaitEnd),
                TimerQueue::Kind limited = TimerQueue::Kind::kWait);

// A cell that the awaited future and the end of the wait for it try to complete.
template <class T>
class RaceCell final : public Cell<T>, public Waiter {
 public:
  void on_complete(AsyncValue& value) noexcept override {
    this->try_set(static_cast<Cell<T>&>(value).take());
    this->release();
  }
};

template <class T>
Future<T> limited(const Future<T>& future, const CallOptions& options, TimerQueue* timers,
                  TimerQueue::Kind kind = TimerQueue::Kind::kWait) {
  if ((!options.stop.stop_possible() && options.deadline == kNoDeadline) || future.ready())
    return future;
  auto race = make_ref<RaceCell<T>>();
  race->add_ref();  // for the wait on the future
  future.cell()->add_waiter(race.get());
  limit_wait(
      options, timers, Ref<AsyncValue>(race), Ref<RefCounted>(race),
      [](RefCounted& target, WaitEnd end) {
        static_cast<RaceCell<T>&>(target).try_set(
            std::unexpected(wait_error(end, "before the result was there")));
      },
      kind);
  return Future<T>(Ref<Cell<T>>(race));
}

}  // namespace detail

// future, or kCancelled once stop is requested. The work behind future runs on, and keeps a small
// record of the wait until it completes.
template <class T>
Future<T> with_stop(const Future<T>& future, std::stop_token stop) {
  return detail::limited(future, {.stop = std::move(stop)}, nullptr);
}

// future, or kDeadlineExceeded when deadline comes first by timers' clock; kAborted if they close,
// or drop what is of that kind.
template <class T>
Future<T> with_deadline(const Future<T>& future, TimePoint deadline, TimerQueue& timers,
                        TimerQueue::Kind kind = TimerQueue::Kind::kWait) {
  return detail::limited(future, {.deadline = deadline}, &timers, kind);
}

// Both, as CallOptions has them.
template <class T>
Future<T> with_options(const Future<T>& future, const CallOptions& options, TimerQueue& timers) {
  return detail::limited(future, options, &timers);
}

// Completes at the deadline, or with kCancelled on stop; kAborted if the timers close before.
Future<void> sleep_until(TimePoint deadline, TimerQueue& timers, std::stop_token stop = {});

}  // namespace millrace
