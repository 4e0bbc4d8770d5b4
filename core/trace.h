// TraceRecorder: what happened when, in bounded rings, one per thread. A lane is a row of the
// timeline (a device, a loader stage, a collective); a name says what happened; a flow number ties
// the events of one batch together. Who gets no recorder (nullptr) records nothing and pays a
// branch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/clock.h"
#include "millrace/core/mutex.h"

namespace millrace {

enum class TraceLane : std::uint32_t {};
enum class TraceName : std::uint32_t {};

struct TraceEvent {
  TraceLane lane{};
  TraceName name{};
  TimePoint begin{};
  TimePoint end{};
  std::uint64_t flow = 0;  // batches: their sequence number and 1; 0 is none
  std::int64_t value = 0;  // bytes, an output's index, ...: what the name says
};

// Thread-safety: thread-safe. Outlives everything that records into it.
class TraceRecorder {
 public:
  static constexpr std::size_t kDefaultEventsPerThread = std::size_t{1} << 16;
  explicit TraceRecorder(const Clock& clock,
                         std::size_t events_per_thread = kDefaultEventsPerThread);
  ~TraceRecorder();
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  // The number of a lane or name, made on first use. Takes a lock: ask once, keep the answer.
  TraceLane lane(std::string_view text);
  TraceName name(std::string_view text);
  std::string lane_text(TraceLane lane) const;
  std::string name_text(TraceName name) const;

  TimePoint now() const { return clock_.now(); }
  // The oldest events of this thread make room once its ring is full.
  void record(const TraceEvent& event);
  // All events that are still there, by begin, then lane.
  std::vector<TraceEvent> events() const;
  // Events that made room for newer ones.
  std::uint64_t lost() const;
  // What ended after it is still there, of every thread; the least TimePoint if nothing was lost.
  TimePoint complete_since() const;

 private:
  struct Ring;
  Ring& ring();

  const Clock& clock_;
  const std::size_t capacity_;
  const std::uint64_t
      id_;  // of all recorders ever, so that a thread's note of its ring cannot be stale
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Ring>> rings_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<std::string> lanes_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<std::string> names_ MILLRACE_GUARDED_BY(mutex_);
};

// Records from construction to destruction.
class TraceScope {
 public:
  TraceScope(TraceRecorder* recorder, TraceLane lane, TraceName name, std::uint64_t flow = 0)
      : recorder_(recorder) {
    if (recorder_ != nullptr) event_ = {lane, name, recorder_->now(), {}, flow, 0};
  }
  ~TraceScope() {
    if (recorder_ == nullptr) return;
    event_.end = recorder_->now();
    recorder_->record(event_);
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  void set_value(std::int64_t value) { event_.value = value; }

 private:
  TraceRecorder* const recorder_;
  TraceEvent event_;
};

}  // namespace millrace
