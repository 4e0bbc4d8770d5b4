// Which threads run a loop. Nothing may block such a thread: wait_blocking() ends the process there
// with a sentence. Where the loop is the user's, devices run their work on threads of their own.
#pragma once

#include <atomic>

#include "millrace/core/base/ref.h"

namespace millrace {

// True once the calling thread has made a bridge (completion_queue.h) or drained it first, until
// the bridge closes or another thread drains it, whose loop it then is.
bool on_bridged_thread();

class EventLoop;
// The loop (event_loop.h) that the calling thread is running, the innermost; nullptr: none.
const EventLoop* running_loop();

namespace detail {

// How many bridges call a thread their loop's. Shared by both. Thread-safety: thread-safe.
class ThreadMark final : public RefCounted {
 public:
  // Made on the first call of a thread.
  static const Ref<ThreadMark>& of_this_thread();
  // nullptr where no bridge was ever made or drained.
  static ThreadMark* existing();

  void add(int bridges) { bridges_.fetch_add(bridges); }
  void clear() { bridges_.store(0); }
  bool bridged() const { return bridges_.load() > 0; }

 private:
  std::atomic<int> bridges_{0};
};

// Counts the forks between this process and the first that asked: an object that keeps the number
// of its making knows whether it was inherited. In the child no thread counts as bridged.
unsigned fork_generation();

}  // namespace detail

// While it lives, the calling thread counts as one that runs a loop: for entry points that promise
// to return at once to any caller. Thread-safety: confined to its thread.
class BridgedThreadScope {
 public:
  BridgedThreadScope() : mark_(detail::ThreadMark::of_this_thread()) { mark_->add(1); }
  BridgedThreadScope(BridgedThreadScope&& other) noexcept = default;
  BridgedThreadScope& operator=(BridgedThreadScope&& other) = delete;
  ~BridgedThreadScope() {
    if (mark_) mark_->add(-1);
  }

 private:
  Ref<detail::ThreadMark> mark_;  // empty once moved from
};

// While it lives, the calling thread runs that loop. Thread-safety: confined to its thread.
class RunningLoopScope {
 public:
  explicit RunningLoopScope(const EventLoop& loop);
  RunningLoopScope(const RunningLoopScope&) = delete;
  RunningLoopScope& operator=(const RunningLoopScope&) = delete;
  ~RunningLoopScope();

 private:
  const EventLoop* const outer_;
};

}  // namespace millrace
