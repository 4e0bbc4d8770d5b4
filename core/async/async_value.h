// AsyncValue: the cell under every Future. One pooled, ref-counted object holds state, waiters and
// payload. Read next: future.h, the typed handle that users see.
//
// Invariants, asserted where they could break:
//  - AV-1 a cell completes exactly once; the second attempt loses (try_) or is a CHECK.
//  - AV-2 the payload is written before the state says so, and stays while waiters may read it.
//  - AV-3 every waiter is notified exactly once, in the order in which it was added, on the
//    completing thread (or at once on the adding thread, when the cell is complete already), but
//    for AV-5.
//  - AV-4 notification never nests deeper than kMaxInlineDepth: others run after the outermost.
//  - AV-5 within a ForeignThreadScope only brief waiters are notified; others are on its executor,
//    in their order.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/intrusive_stack.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"

namespace millrace {

class AsyncValue;
class Executor;
struct Notifier;
namespace detail {
Error exception_to_error(std::exception_ptr exception);
}

// The callback on a cell's completion. It is part of the waiting object: a wait allocates nothing.
class Waiter {
 public:
  // Called once per add_waiter. May destroy this. Must be short: it runs on the completer's thread.
  virtual void on_complete(AsyncValue& value) noexcept = 0;
  // The same, and takes a reference to value over: the completer's own, given to the last waiter,
  // so that one which holds a reference besides need not drop two.
  virtual void on_complete_last(AsyncValue& value) noexcept;
  // on_complete is as short as a wake-up, and neither runs nor ends what is a user's (AV-5).
  virtual bool is_brief() const { return false; }

 protected:
  ~Waiter() = default;

 private:
  friend class AsyncValue;
  friend struct Notifier;
  Waiter* next_ = nullptr;
  AsyncValue* completed_ = nullptr;  // while deferred: the cell to report, with a reference for us
};

// While it lives, the calling thread is one of a foreign library, which may hold locks: what
// completes here wakes who waits without another thread between, and no continuation runs here.
// Thread-safety: confined to its thread.
class ForeignThreadScope {
 public:
  // others: for waiters that are not brief; outlives what is submitted to it.
  explicit ForeignThreadScope(Executor& others);
  ForeignThreadScope(const ForeignThreadScope&) = delete;
  ForeignThreadScope& operator=(const ForeignThreadScope&) = delete;
  ~ForeignThreadScope();
  static bool here();  // one lives on this thread

 private:
  Executor* const outer_;
};

// Thread-safety: thread-safe.
class AsyncValue : public RefCounted, public Pooled {
 public:
  enum class State : std::uint8_t {
    kPending,  // -> kValue or kError
    kValue,    // final
    kError,    // final
  };
  static constexpr int kMaxInlineDepth = 16;

  State state() const { return complete() ? final_state_ : State::kPending; }
  bool complete() const { return waiters_.word() == kComplete; }
  // The error of a cell in kError, nullptr otherwise. Counts as looking at it.
  const Error* error() const;
  // An error of this cell needs no report, also if it is never looked at.
  void ignore_error() const { mark_observed(); }
  // This thread notifies waiters: of what completes on it meanwhile, some are notified only once
  // that is over (AV-4), or elsewhere (AV-5).
  static bool is_notifying_here();
  // Why the calling thread, if it waited here, would wait for its own end; nullptr: it would not.
  virtual const char* waits_for_this_thread() const { return nullptr; }
  // Whose work it comes of: a thread that blocks for it may run some meanwhile
  // (Executor::run_some); nullptr: it only waits.
  virtual Executor* completes_on() const { return nullptr; }
  // Notifies waiter when the cell completes (AV-3). waiter must live until then.
  void add_waiter(Waiter* waiter) {
    mark_observed();
    watch(waiter);
  }
  // The same for one that does not look at the error, which is still reported.
  void watch(Waiter* waiter);

  // Leak accounting for tests: cells made while counting is on, that are alive / not complete yet.
  struct Counts {
    std::int64_t alive = 0;
    std::int64_t pending = 0;
  };
  static void set_counting(bool on);
  static Counts counts();

 protected:
  // kPending, or complete already, with a payload that is in place.
  explicit AsyncValue(std::uint32_t references = 1, State state = State::kPending);
  ~AsyncValue() override;

  // The right to complete: true for exactly one caller (AV-1).
  bool claim() { return !claimed_.exchange(true); }
  // The same for a caller that has that right alone, without a locked instruction.
  bool claim_alone() {
    return !claimed_.load(std::memory_order_relaxed) &&
           (claimed_.store(true, std::memory_order_relaxed), true);
  }
  // The payload is in place: publishes it and notifies the waiters. After a claim only. given: with
  // the caller's reference, which it loses.
  void publish(State final_state, bool given = false);
  // relaxed: a hint for logging.
  void mark_observed() const { observed_.store(true, std::memory_order_relaxed); }
  bool observed() const { return observed_.load(std::memory_order_relaxed); }
  virtual const Error* stored_error() const = 0;

 private:
  using Waiters = IntrusiveStack<Waiter, &Waiter::next_>;
  static constexpr Waiters::Word kComplete = 1;

  Waiters waiters_;
  std::atomic<bool> claimed_;
  mutable std::atomic<bool> observed_{false};
  State final_state_;  // written before waiters_ becomes kComplete
  bool counted_ = false;
};

// Called once for each error that was never looked at (cancellations excepted), however many
// futures carry it. Default: a warning on the log.
using UnobservedErrorHandler = void (*)(const Error&);
void set_unobserved_error_handler(UnobservedErrorHandler handler);
void report_unobserved_error(const Error& error);

// A cell with its payload. T is void, or any movable type.
template <class T>
class Cell : public AsyncValue {
 public:
  ~Cell() override {
    if (payload_ && !payload_->has_value() && !observed())
      report_unobserved_error(payload_->error());
  }
  explicit Cell(std::uint32_t references = 1) : AsyncValue(references) {}
  // Complete already.
  explicit Cell(Result<T> result)
      : AsyncValue(1, result ? State::kValue : State::kError),
        payload_(std::in_place, std::move(result)) {}
  // Completes with a value or an error. CHECKs that it is the first.
  void set(Result<T> result) {
    const bool first = try_set(std::move(result));
    MILLRACE_CHECK(first, "a future completes exactly once (AV-1)");
  }
  // The same for the only caller that ever completes this cell; takes its reference: cheaper.
  void set_alone(Result<T> result) {
    MILLRACE_CHECK(claim_alone(), "a future completes exactly once (AV-1)");
    payload_.emplace(std::move(result));
    publish(payload_->has_value() ? State::kValue : State::kError, true);
  }
  // The same, but loses quietly to an earlier attempt; false then.
  bool try_set(Result<T> result) {
    if (!claim()) return false;
    payload_.emplace(std::move(result));
    publish(payload_->has_value() ? State::kValue : State::kError);
    return true;
  }
  // For a complete cell.
  const Result<T>& result() const {
    MILLRACE_DCHECK(complete(), "result() of a pending cell");
    mark_observed();
    return *payload_;
  }
  // Moves a move-only payload out (it has one consumer), copies any other: what that throws is an
  // error.
  Result<T> take() {
    MILLRACE_DCHECK(complete(), "take() of a pending cell");
    mark_observed();
    if constexpr (std::is_void_v<T> || std::is_copy_constructible_v<T>) {
      try {
        return *payload_;
      } catch (...) {
        return std::unexpected(detail::exception_to_error(std::current_exception()));
      }
    } else {
      return std::move(*payload_);
    }
  }

 protected:
  const Error* stored_error() const override { return &payload_->error(); }

 private:
  std::optional<Result<T>> payload_;
};

}  // namespace millrace
