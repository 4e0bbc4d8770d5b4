// PendingCall: one caller that waits in somebody's queue for a T, until it is served, stopped or
// too late. Whoever serves claims the call first, so what it would have got is never lost to a
// caller that has left.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "millrace/core/call_options.h"
#include "millrace/core/future.h"
#include "millrace/core/timer_queue.h"

namespace millrace::transfer {

// Held by the queue; the caller holds the future. Thread-safety: thread-safe.
template <class T>
class PendingCall final : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  // what: for messages, "the next batch of device 1". timers outlives the call.
  static Ref<PendingCall> make(const CallOptions& options, TimerQueue& timers, const char* what) {
    auto call = Ref<PendingCall>::adopt(new PendingCall(timers, what));
    call->arm(options);
    return call;
  }

  Future<T> future() const { return future_; }
  // True for one: that one completes the call. False: it was served, or its caller has left.
  bool claim() { return !claimed_.exchange(true); }
  bool claimed() const { return claimed_.load(); }
  // After claim(), without locks held: the caller's continuations may begin.
  void complete(Result<T> result) {
    disarm();
    promise_.set(std::move(result));
  }

 private:
  struct OnStop {
    PendingCall* call;  // alive: its destructor waits for a running callback
    void operator()() const { call->give_up(ErrorCode::kCancelled, "stopped on request"); }
  };

  PendingCall(TimerQueue& timers, const char* what) : timers_(timers), what_(what) {}
  ~PendingCall() override = default;

  void arm(const CallOptions& options) {
    if (options.deadline != kNoDeadline) {
      timer_ = timers_.schedule(options.deadline, [self = Ref<PendingCall>::share(this)] {
        self->give_up(ErrorCode::kDeadlineExceeded, "the deadline came");
      });
    }
    if (options.stop.stop_possible()) stop_.emplace(options.stop, OnStop{this});
  }
  void disarm() {
    if (timer_) timers_.cancel(*timer_);
    stop_.reset();
  }
  void give_up(ErrorCode code, const char* why) {
    if (!claim()) return;
    Promise<T> promise = std::move(promise_);
    std::string message = std::string(why) + " while waiting for " + what_;
    // This may drop the last reference to this call.
    if (code == ErrorCode::kCancelled && timer_) timers_.cancel(*timer_);
    promise.set(fail(code, std::move(message)));
  }

  TimerQueue& timers_;
  const char* what_;
  Promise<T> promise_;
  Future<T> future_ = promise_.future();
  std::atomic<bool> claimed_{false};
  std::optional<TimerQueue::Id> timer_;
  std::optional<std::stop_callback<OnStop>>
      stop_;  // last: destroyed first, while the rest is whole
};

}  // namespace millrace::transfer
