// CompletionQueue: the common part of all bridges: an Executor whose work runs on a thread that
// belongs to a user's event loop. Any thread pushes; the loop is woken once and drains, a
// bounded part at a time. What differs from loop to loop is a LoopPort. Users see uv_bridge.h,
// event_bridge.h, asio_bridge.h and completion_fd.h.
//
//   future.then(bridge, f)           any thread        the loop's thread
//     value pending       -> LoopWait (in a list)
//     value arrives       -> push ---- wake, if asleep ----> drain: run, run, run ... asleep
//
//  - CQ-1 work runs only inside drain(), on the loop's thread, in the order of pushing; never
//    inside the call that submitted it.
//  - CQ-2 one word says what pushers must know: closed, asleep, awake, or the newest entry. Only
//    the push that finds the queue asleep wakes the loop, and what comes before it has: the loop
//    does not end between the two.
//  - CQ-3 a drain ends after so many pieces of work or so much time, whatever comes first, and asks
//    to be called again if something is left.
//  - CQ-4 the loop is kept alive while a piece of work or a LoopWait is there, and only then. The
//    loop's thread alone changes that (before the loop runs: the thread that made the bridge). Work
//    that another thread enters into an idle bridge while its loop does not run is a wake-up for
//    the next turn; a run that finds nothing else to stay for may end before that turn.
//  - CQ-5 close() gives kCancelled to every LoopWait, on the loop's thread, runs what was pushed
//    until then, drops the rest, releases the loop and completes. Nothing runs afterwards.
//  - CQ-6 after a fork the child's copy refuses everything with kFailedPrecondition and touches
//    neither the loop nor its descriptors, which it shares with the parent. A loop that runs on in
//    the child is revived first (uv_loop_fork, event_reinit, notify_fork), or its turns change what
//    the parent's loop waits for. The bridge's part of that loop is no longer heard after its first
//    turn, but stays there with its descriptor, and keeps the loop alive if it did so at the fork:
//    the child's loop is stopped, not run until it is empty.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/loop_wait.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/intrusive_stack.h"

namespace millrace {

// How much one turn of the loop may run: the loop's own descriptors wait meanwhile.
struct DrainLimits {
  std::size_t max = 256;
  Duration budget = std::chrono::milliseconds(1);
};

struct BridgeOptions {
  DrainLimits limits = {};
  const Clock* clock = &steady_clock();  // of limits.budget
};

// Counts since the bridge was made, a snapshot.
struct BridgeStats {
  std::uint64_t wake_ups = 0;  // asked of the loop
  std::uint64_t drains = 0;    // turns of the loop
  std::uint64_t ran = 0;       // pieces of work
  std::size_t waiting = 0;     // continuations whose value is pending
};

// What a CompletionQueue asks of a loop. Owned by its queue.
class LoopPort {
 public:
  virtual ~LoopPort() = default;
  // Has the loop call drain() soon, on its thread and not inside this call. Thread-safe.
  virtual void wake() noexcept = 0;
  // Whether the bridge alone keeps the loop running. On the loop's thread.
  virtual void keep_alive(bool on) noexcept = 0;
  // Releases the loop, then calls queue->detached(). On the loop's thread, once, after it nothing
  // but wake() (which may have been on its way).
  virtual void detach(Ref<CompletionQueue> queue) noexcept = 0;
  // The process is a fork's child: the loop must not see this port again.
  virtual void leave_in_child() noexcept = 0;
  // True: one thread runs the loop, always the same. False: every thread that drains is its thread.
  virtual bool one_thread() const { return true; }
  // Whether the thread that makes the bridge counts as the loop's until a drain shows which is.
  // True where it may be a callback of the loop, which cannot be found out.
  virtual bool made_on_loop() const { return true; }
};

// Shared by its bridge, by every LoopWait and by the port while it detaches. Thread-safety: submit,
// close and stats are thread-safe, the rest is confined to the loop's thread.
class CompletionQueue final : public RefCounted, public Executor {
 public:
  CompletionQueue(std::unique_ptr<LoopPort> port, const BridgeOptions& options);

  void submit(Work* work) noexcept override;
  Error drop_error(const char* what) const override;

  // Runs what is there, within limits (of the options, or given); returns how many pieces ran.
  std::size_t drain() { return drain(options_.limits); }
  std::size_t drain(const DrainLimits& limits);
  // Thread-safe; every call gives the same future. It completes on the running loop's thread.
  Future<void> close();
  // Close without the loop: drops what is there, runs nothing. On the loop's thread, or while the
  // loop does not run. Nothing if it is closed.
  void close_now();
  // By the port: the loop is released.
  void detached();
  // True in the child of a fork that came after this was made.
  bool forked() const { return detail::fork_generation() != generation_; }
  Error fork_error() const;
  BridgeStats stats() const;

 private:
  friend class detail::LoopWait;
  enum class State : std::uint8_t {
    kOpen,     // -> kClosing, kClosed (close_now)
    kClosing,  // waits are cancelled, what was pushed runs -> kClosed
    kClosed,   // final
  };
  using Pushed = IntrusiveStack<Work, &Work::next>;
  using Arrivals = IntrusiveStack<detail::LoopWait, &detail::LoopWait::after_>;
  static constexpr Pushed::Word kAwake = 0;   // nothing there, but a drain will look again
  static constexpr Pushed::Word kAsleep = 1;  // nothing there: wake the loop
  static constexpr Pushed::Word kEnded = 2;   // final; of arrivals_ too

  ~CompletionQueue() override;

  std::optional<Error> enter(detail::LoopWait& wait);  // any thread
  void pass_on(detail::LoopWait& wait);
  void link_arrivals(Arrivals::Word arrivals);
  void unlink(detail::LoopWait& wait);
  void cancel_waits(const char* why);
  Work* next();
  void wake();
  bool may_end() const;
  void end();
  void adopt_thread();
  void mark_thread(const Ref<detail::ThreadMark>& here);
  void release_threads();
  bool on_own_thread() const;
  void set_keep_alive(bool on);

  const BridgeOptions options_;
  const unsigned generation_ = detail::fork_generation();
  const std::unique_ptr<LoopPort> port_;
  const bool one_thread_;
  Pushed pushed_{kAsleep};
  std::atomic<bool> close_asked_{false};
  Arrivals arrivals_;  // the LoopWaits that are not linked yet
  std::atomic<std::size_t> waiting_{0};
  // How often the queue has gone to sleep, or was about to; and for which of these times the loop
  // was woken, or is kept alive. The latter may come late: that costs wake-ups, and loses none.
  std::atomic<std::uint64_t> sleeps_{0};
  std::atomic<std::uint64_t> stays_for_{0};
  std::atomic<std::uint64_t> wake_ups_{0};
  std::atomic<std::uint64_t> drains_{0};
  std::atomic<std::uint64_t> ran_{0};
  // The mark of the thread that drained last; compared by others, never followed.
  std::atomic<const detail::ThreadMark*> own_thread_{nullptr};

  // The loop's thread only.
  detail::LoopWait* first_wait_ = nullptr;
  Work* continuation_ = nullptr;  // of the LoopWait that passes its value on
  bool passing_on_ = false;
  WorkQueue local_;  // taken from the word, oldest first
  State state_ = State::kOpen;
  bool draining_ = false;
  bool last_round_ = false;  // closing: what comes now is dropped
  bool kept_alive_ = true;   // until the first drain knows better
  // The marks of threads that have drained, or made this; one, usually.
  std::vector<Ref<detail::ThreadMark>> marks_;
  Promise<void> closed_promise_;
  const Future<void> closed_ = closed_promise_.future();
};

// The handle that every bridge is: an Executor by conversion, closed by close(). Destroyed without
// it, whatever is there is dropped (its futures give kAborted) and nothing runs afterwards.
// Destroyed on the loop's thread or while the loop does not run, and before the loop.
// Thread-safety: external for the handle; executor(), close() and stats() are thread-safe.
class LoopBridge {
 public:
  LoopBridge(LoopBridge&& other) noexcept = default;
  LoopBridge& operator=(LoopBridge&& other) noexcept;
  ~LoopBridge();

  // What then(), spawn() and post() take; lives as long as a continuation waits through it.
  operator Executor&() const { return *queue_; }  // NOLINT(google-explicit-constructor)
  Executor& executor() const { return *queue_; }
  // Every continuation and co_await that waits on this loop gets kCancelled, there; then this
  // completes, there too, and nothing runs any more. From any thread; the loop runs until then.
  Future<void> close() const { return queue_->close(); }
  BridgeStats stats() const { return queue_->stats(); }

 protected:
  explicit LoopBridge(Ref<CompletionQueue> queue) : queue_(std::move(queue)) {}
  const Ref<CompletionQueue>& queue() const { return queue_; }

 private:
  Ref<CompletionQueue> queue_;
};

}  // namespace millrace
