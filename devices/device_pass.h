// Pass: the right of a thread to enter a device and to call its client for itself; one thread at a
// time has it. Calls are shorter than the wake-up of a thread that has queued behind one, so a
// thread waits for its pass. Read device_actor.h first.
//
//  - DA-3 a thread waits for its pass only while calls return: 0.5 ms for one, 20 ms for all of
//    them. Else it queues, and so do its next 8 calls at once. A thread that has other work never
//    waits: that of a loop, a pool or an actor, and one inside another call.
#pragma once

#include <atomic>
#include <cstdint>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/base/clock.h"
#include "millrace/devices/device_scope.h"

namespace millrace::devices {

// Work of a device on this thread would hold up a user's loop, or another call.
inline bool is_bridged_or_inside_call() {
  return on_bridged_thread() || DeviceScope::current() != nullptr;
}

// A device has one. Thread-safety: thread-safe, but set_busy and call_returned are the actor's.
class PassGate {
 public:
  // The clock, for the waits, outlives this; nullptr: no thread waits.
  explicit PassGate(const Clock* clock) : clock_(clock) {}
  PassGate(const PassGate&) = delete;
  PassGate& operator=(const PassGate&) = delete;

  bool enter() { return try_enter() || wait(); }
  // release: pairs with the next try_enter(), whose thread finds the actor idle.
  void leave() { passing_.store(false, std::memory_order_release); }

  // A call holds the seat, and is waited for. relaxed, as below: a thread that waits to enter only
  // wants to see it change.
  void set_busy(bool busy) { busy_.store(busy, std::memory_order_relaxed); }
  void call_returned() {
    returned_.store(returned_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  bool try_enter() {
    return !busy_.load(std::memory_order_relaxed) && !passing_.load(std::memory_order_relaxed) &&
           !passing_.exchange(true);
  }
  bool wait();

  const Clock* const clock_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> passing_{false};
  std::atomic<std::uint64_t> returned_{0};  // calls of the client
};

// Held by a thread while it enters and calls, where it need not queue. A call with a deadline or a
// stop takes none, and so never waits.
class Pass {
 public:
  explicit Pass(PassGate& gate) : gate_(gate.enter() ? &gate : nullptr) {}
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  ~Pass() {
    if (gate_ != nullptr) gate_->leave();
  }

 private:
  PassGate* const gate_;
};

}  // namespace millrace::devices
