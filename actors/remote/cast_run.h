// CastRun: one process's part of a cast: the answers of the parts below it and its own, on their
// way to one. Read next: cast_plan.h, the tree; remote_node.cc, which begins it.
//
//  - CS-1 it ends once: with the reduced answer when all have come, or with the first error.
//  - CS-2 a rank whose answer is missing is named: by its loss, by its own error, or at the
//  deadline,
//    which is the earlier the deeper a process lies, so that the one that knows reports it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/actors/remote/caller.h"
#include "millrace/actors/remote/cast_plan.h"
#include "millrace/actors/remote/remote_class.h"
#include "millrace/actors/remote/server.h"

namespace millrace::actors {

// States: open -> ended. Owned by what it waits for. Thread-safety: thread-safe.
class CastRun final : public ServedCall {
 public:
  using Done = std::move_only_function<void(const Result<net::Bytes>&)>;

  // done: called once, without a lock.
  CastRun(const RemoteMessage& message, std::string actor, Done done)
      : message_(message), actor_(std::move(actor)), done_(std::move(done)) {}

  // Before start(): a place for the answers of these ranks; they are in the order of the calls.
  std::size_t add(const CastRanks& ranks);
  // All have their places: the answers may come.
  void start(TimerQueue& timers, TimePoint deadline);
  // The call that gives the answer of a place.
  Ref<PendingCall> call(std::size_t place);
  void sent(const Ref<Caller>& caller, std::uint64_t number);
  // The answer of this process's own actor, once the cell is complete.
  void watch_own(std::size_t place, const Ref<AsyncValue>& answer, const net::JobMember& self);
  void take(std::size_t place, const Result<net::Bytes>& answer);
  void cancel(const Error& why) override;
  bool ended();

  const RemoteMessage& message() const { return message_; }

 private:
  class Part;
  class OwnAnswer;
  struct Place {
    CastRanks ranks;
    std::optional<net::Bytes> answer = {};
  };
  void expire();
  void end(Result<net::Bytes> result, net::Later& later) MILLRACE_REQUIRES(mutex_);

  const RemoteMessage& message_;
  const std::string actor_;

  Mutex mutex_;
  Done done_ MILLRACE_GUARDED_BY(mutex_);  // empty: ended
  std::vector<Place> places_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t missing_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::vector<std::pair<Ref<Caller>, std::uint64_t>> calls_ MILLRACE_GUARDED_BY(mutex_);
  TimerQueue* timers_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
  std::optional<TimerQueue::Id> timer_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::actors
