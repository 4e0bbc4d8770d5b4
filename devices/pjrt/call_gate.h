// CallGate: whether a client's plugin is called, and by which thread. It knows what is under way,
// keeps what threads that must not block want to be called, and closes for good when the client is
// given up. Internal to client_core.h.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/core/async/scope.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/mutex.h"
#include "millrace/devices/client.h"
#include "millrace/devices/device_scope.h"
#include "millrace/devices/pjrt/client_options.h"
#include "millrace/devices/pjrt/deferred_frees.h"

namespace millrace::devices::pjrt {

// Thread-safety: thread-safe.
class CallGate {
 public:
  // For calls of the client; both outlive this.
  CallGate(const Client& client, const PjrtClientOptions& options)
      : client_(client), options_(options) {}

  // Makes the call, on this thread if it may block in the plugin (a device actor's), else before
  // the next put, copy, fetch or launch, or on the thread for what frees, within 20 ms. After the
  // close, at once: there, or here where there is no such thread. So one that does not return may
  // hold up its device: were all of them made on the thread for what frees, each launch would wake
  // that (longer than a small one takes), and memory would not be free before it is asked for.
  template <class F>
  void hand_over(F call) {
    if (may_call_here()) return call();
    if (deferred_->add(std::move(call))) see_to_deferred();
  }
  // What was handed over before a call comes before it.
  void make_handed_over() const { deferred_->drain(); }
  // For the close, which waits for what is handed over.
  void hurry();
  bool nothing_left() const { return deferred_->empty(); }

  bool may_call_here() const {
    return freer() == nullptr || deferred_->draining_here() || in_actor();
  }
  // This thread is that of one of the client's device actors.
  bool in_actor() const {
    const DeviceScope* const scope = DeviceScope::current();
    return scope != nullptr && &scope->client() == &client_;
  }
  // Where calls that free are made; nullptr: wherever they are wanted.
  Executor* freer() const { return options_.frees != nullptr ? options_.frees : options_.driver; }

  // What is under way; closed by the client's close().
  StripedScope& scope() { return scope_; }
  const StripedScope& scope() const { return scope_; }

  // True the first time: nothing is called any more.
  bool give_up() { return !given_up_.exchange(true); }
  bool given_up() const { return given_up_.load(); }

 private:
  void see_to_deferred();
  void post_drain(StripedScope::Hold hold);
  std::optional<TimerQueue::Id> take_timer();

  const Client& client_;
  const PjrtClientOptions& options_;
  // Shared with whatever thread is to make them, which may come when this is gone and nothing is
  // left.
  const std::shared_ptr<DeferredFrees> deferred_ = std::make_shared<DeferredFrees>();
  std::atomic<bool> timer_set_{false};  // written under the lock, read without it
  Mutex timer_mutex_;
  std::optional<TimerQueue::Id> timer_ MILLRACE_GUARDED_BY(timer_mutex_);
  std::atomic<bool> given_up_{false};
  StripedScope scope_{"the PJRT client"};
};

}  // namespace millrace::devices::pjrt
