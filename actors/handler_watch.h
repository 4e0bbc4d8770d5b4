// HandlerWatch: logs every handler and hook that does not end, with its age and the queue behind
// it, within a second of its limit. Twice a second it reads the marks that actors set anyway, on
// the thread that drives the timers: so it reports also when every thread that runs actors is
// stuck. Read next: ActorSystem::overdue.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "millrace/actors/system.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/metrics.h"

namespace millrace::actors {

struct OverdueHandler {
  ActorSnapshot actor = {};              // as it was then, its queue included
  ActorSnapshot::Handling handler = {};  // the one that does not end
  Duration limit{};

  std::size_t queued() const;  // messages that wait for it; those outside are bytes only
  std::string to_string() const;
};

struct HandlerWatchOptions {
  Duration limit = std::chrono::seconds(10);
  // Called when a handler is past its limit, and again each time its age has doubled, after the
  // line on the log. On the thread that drives the timers: must be short.
  std::function<void(const OverdueHandler&)> on_overdue = {};
  Counter* overdue = nullptr;  // handlers that were named, each once
};

// Owned by the runtime (or the test) that assembles the rooms; close() must have completed before
// it is destroyed, and the system outlives it. Thread-safety: thread-safe.
class HandlerWatch {
 public:
  static constexpr Duration kPeriod = std::chrono::milliseconds(500);

  HandlerWatch(const ActorSystem& system, const Environment& environment,
               HandlerWatchOptions options = {});
  HandlerWatch(const HandlerWatch&) = delete;
  HandlerWatch& operator=(const HandlerWatch&) = delete;

  // Ends the checks; completes when the last one has ended.
  Future<void> close();

 private:
  struct Named {
    TimePoint since;
    Duration next_age{};
  };
  void schedule(Scope::Hold hold);
  void look();

  const ActorSystem& system_;
  const Environment environment_;
  const HandlerWatchOptions options_;
  std::unordered_map<ActorId, Named> named_;  // the timer's: one look at a time
  Scope scope_{"the watch over handlers"};    // held by the timer
  Mutex mutex_;
  TimerQueue::Id timer_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::actors
