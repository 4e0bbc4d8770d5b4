// Combinators: futures made of futures. None of them runs user code, so none takes an executor.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "millrace/core/call_options.h"
#include "millrace/core/function_ref.h"
#include "millrace/core/future.h"

namespace millrace {

class TimerQueue;

namespace detail {
using ValueAt = FunctionRef<AsyncValue&(std::size_t)>;
Future<void> when_all_of(std::size_t count, ValueAt value);
Future<std::size_t> when_any_of(std::size_t count, ValueAt value);
}  // namespace detail

// Completes when every input has. The error of the lowest index wins, whatever came first. One
// pooled block, whatever the number of inputs (up to some 1600).
inline Future<void> when_all(std::span<const Ref<AsyncValue>> values) {
  return detail::when_all_of(values.size(),
                             [&](std::size_t i) -> AsyncValue& { return *values[i]; });
}
template <class T>
Future<void> when_all(std::span<const Future<T>> futures) {
  return detail::when_all_of(futures.size(),
                             [&](std::size_t i) -> AsyncValue& { return *futures[i].cell(); });
}
template <class T, class A>
Future<void> when_all(const std::vector<Future<T>, A>& futures) {
  return when_all(std::span<const Future<T>>(futures));
}
template <class... Ts>
Future<void> when_all(const Future<Ts>&... futures) {
  const Ref<AsyncValue> cells[] = {Ref<AsyncValue>(futures.cell())...};
  return when_all(cells);
}

// The index of the first input to complete, with a value or an error. kInvalidArgument if there is
// none.
inline Future<std::size_t> when_any(std::span<const Ref<AsyncValue>> values) {
  return detail::when_any_of(values.size(),
                             [&](std::size_t i) -> AsyncValue& { return *values[i]; });
}
template <class T, class A>
Future<std::size_t> when_any(const std::vector<Future<T>, A>& futures) {
  return detail::when_any_of(futures.size(),
                             [&](std::size_t i) -> AsyncValue& { return *futures[i].cell(); });
}

namespace detail {

// A cell that several may try to complete: the awaited future, a stop request, a timer.
template <class T>
class RaceCell final : public Cell<T>, public Waiter {
 public:
  void on_complete(AsyncValue& value) noexcept override {
    this->try_set(static_cast<Cell<T>&>(value).take());
    this->release();
  }
};

template <class T>
Ref<RaceCell<T>> make_race(const Future<T>& future) {
  auto race = make_ref<RaceCell<T>>();
  race->add_ref();  // for the wait on the future
  future.cell()->add_waiter(race.get());
  return race;
}

// Keeps something (a stop callback, a timer) until a future completes, then destroys it.
template <class Guard>
class GuardWaiter final : public Waiter, public Pooled {
 public:
  std::optional<Guard> guard;
  void on_complete(AsyncValue&) noexcept override { delete this; }
};

// Arms: calls expire() when the deadline has come, unless the future completed before.
void arm_deadline(TimerQueue& timers, TimePoint deadline, Ref<AsyncValue> until,
                  Ref<RefCounted> target, void (*expire)(RefCounted&));

}  // namespace detail

// future, or kCancelled once stop is requested. It goes on, and lists the wait until it completes.
template <class T>
Future<T> with_stop(const Future<T>& future, std::stop_token stop) {
  if (!stop.stop_possible() || future.ready()) return future;
  auto race = detail::make_race(future);
  struct Cancel {
    Ref<detail::RaceCell<T>> race;
    void operator()() const {
      race->try_set(fail(ErrorCode::kCancelled, "stopped on request before the result was there"));
    }
  };
  auto* waiter = new detail::GuardWaiter<std::stop_callback<Cancel>>;
  waiter->guard.emplace(std::move(stop), Cancel{race});
  race->add_waiter(waiter);
  return Future<T>(Ref<Cell<T>>(race));
}

// future, or kDeadlineExceeded when deadline comes first by the clock of timers.
template <class T>
Future<T> with_deadline(const Future<T>& future, TimePoint deadline, TimerQueue& timers) {
  if (deadline == kNoDeadline || future.ready()) return future;
  auto race = detail::make_race(future);
  detail::arm_deadline(
      timers, deadline, Ref<AsyncValue>(race), Ref<RefCounted>(race), [](RefCounted& target) {
        static_cast<detail::RaceCell<T>&>(target).try_set(
            fail(ErrorCode::kDeadlineExceeded, "the deadline came before the result"));
      });
  return Future<T>(Ref<Cell<T>>(race));
}

// Both, as CallOptions has them.
template <class T>
Future<T> with_options(const Future<T>& future, const CallOptions& options, TimerQueue& timers) {
  return with_deadline(with_stop(future, options.stop), options.deadline, timers);
}

// Completes at the deadline, or with kCancelled on stop.
Future<void> sleep_until(TimePoint deadline, TimerQueue& timers, std::stop_token stop = {});

}  // namespace millrace
