// EventLoop: one thread that waits for descriptors, timers and posted work at once. The interface;
// backends are event_loop_uv.cc (libuv) and event_loop_libevent.cc. Timers live in a TimerQueue: a
// backend only needs one next deadline. Read next: event_loop_thread.h, a loop on a thread of its
// own; completion_queue.h, for loops that belong to users.
#pragma once

#include <memory>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/clock.h"

namespace millrace {

// What a descriptor is watched for, and what was found; may be added up.
enum Readiness : unsigned {
  kReadable = 1,  // a read does not block: there are bytes, an end or an error
  kWritable = 2,
};

// Watches one descriptor, which it borrows and makes non-blocking. Thread-safety: confined to the
// loop's thread. Destroyed before its loop; a wait that is under way then gives kCancelled.
class DescriptorWatch {
 public:
  virtual ~DescriptorWatch() = default;
  // Completes on the loop's thread with what of `wanted` holds, soon if it holds already; or held a
  // moment ago: a read may find nothing. One wait at a time: kFailedPrecondition otherwise. A
  // hangup counts as both, a half-close as kReadable.
  virtual Future<unsigned> wait(unsigned wanted) = 0;
};

// Memory that other processes change: no descriptor shows it, the loop looks at it before it
// sleeps. Thread-safety: confined to the loop's thread.
class MemoryWatch {
 public:
  // Cheap: act() would complete something.
  virtual bool ready() const = 0;
  // May end this watch, and others.
  virtual void act() = 0;
  // The loop sleeps next: from now on a descriptor has to wake it. False: act() would complete
  // something.
  virtual bool may_sleep() = 0;

 protected:
  ~MemoryWatch() = default;
};

// The loop is an Executor: work that is posted runs on the thread that is in run(), in the order of
// posting. Wake-ups are coalesced: posting to a loop that is awake, or about to wake, costs no
// system call. A thread in run() looks for a short time before it sleeps (ShortWait): what comes
// within that costs no wake-up. While it looks at memory, a thread that waits for the loop
// (completed_on) may be the one that runs what comes, with running_loop() as here: no switch of
// threads then lies between a process's bytes and the caller who waits for them. Nothing waits in
// it (wait_blocking() there is CHECKed). Deleting it closes it and closes its descriptors; what is
// left are a few hundred bytes that refuse for ever (EX-3), its timers too. Thread-safety: submit,
// stop and timers() are thread-safe; the rest is confined.
class EventLoop : public Executor {
 public:
  // Runs until stop(); a stop from before counts. May be called again.
  virtual void run() = 0;
  // Runs what is ready, without waiting. False: nothing was.
  virtual bool poll() = 0;
  virtual void stop() = 0;
  // Its work runs on the thread of the loop, never before the deadline, by the loop's clock.
  virtual TimerQueue& timers() = 0;
  // kInvalidArgument for what cannot be watched (a closed descriptor, a regular file).
  virtual Result<std::unique_ptr<DescriptorWatch>> watch(int descriptor) = 0;
  // Until remove(), before the loop goes.
  virtual void add(MemoryWatch& watch) = 0;
  virtual void remove(MemoryWatch& watch) = 0;
  // Drops what was posted and what waits for a timer, and from now on what is posted and scheduled.
  // Not while run() runs. Its deletion does it too.
  virtual void close() = 0;
};

// A loop of its own (no default loop) over libuv or libevent. clock must advance with real time.
// kResourceExhausted: the process has no descriptors or no memory left.
Result<std::unique_ptr<EventLoop>> create_uv_event_loop(const Clock& clock = steady_clock());
Result<std::unique_ptr<EventLoop>> create_libevent_event_loop(const Clock& clock = steady_clock());

}  // namespace millrace
