// TraceRecorder: what happened when, in bounded rings, one per thread. A lane is a row of the
// timeline (a device, a loader stage, a collective); a name says what happened; a flow number ties
// the events of one batch together. Who gets no recorder (nullptr) records nothing and pays a
// branch. Writing it to a file is tools/trace's part.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/ticks.h"

namespace millrace {

enum class TraceLane : std::uint32_t {};
enum class TraceName : std::uint32_t {};

struct TraceEvent {
  TraceLane lane{};
  TraceName name{};
  TimePoint begin{};
  TimePoint end{};
  std::uint64_t flow = 0;   // the batch that this was done for; 0 is none. Below 2^48
  std::int64_t value = 0;   // bytes, an output's index, ...: what the name says
  std::uint16_t flows = 1;  // batches that meet here: flow and the numbers that follow it
};

// Where a reader of a recorder has come to; starts at the oldest event. Value type.
class TraceCursor {
 private:
  friend class TraceRecorder;
  std::vector<std::uint64_t> next_;  // by ring
};

// A part of what was recorded.
struct TraceBatch {
  std::vector<TraceEvent> events = {};  // by begin, then lane
  std::uint64_t lost = 0;               // made room for newer ones before this reader came
};

// Thread-safety: thread-safe. Outlives everything that records into it.
class TraceRecorder {
 public:
  static constexpr std::size_t kDefaultEventsPerThread = std::size_t{1} << 16;
  // Scopes of the machine's own clock are stamped with the processor's ticks where that is sound.
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
  // The oldest of this thread make room once its ring is full. Only a thread's first takes a lock.
  void record(const TraceEvent& event);
  // All events that are still there, by begin, then lane.
  std::vector<TraceEvent> events() const;
  // What was recorded since the cursor's last call.
  TraceBatch events_since(TraceCursor& cursor) const;
  // Events that made room for newer ones.
  std::uint64_t lost() const;
  // What ended after it is still there, of threads that record in that order; the least: all is.
  TimePoint complete_since() const;

 private:
  friend class TraceScope;
  struct Ring;
  struct Stamped {  // an event as it lies in a ring
    std::uint64_t lane_and_name;
    std::uint64_t begin;  // a stamp
    std::uint64_t end;
    std::uint64_t flow_and_count;
    std::int64_t value;
  };
  // A stamp is a time of the clock in nanoseconds, or ticks, which have the highest bit set.
  static constexpr std::uint64_t kIsTicks = std::uint64_t{1} << 63;
  static std::uint64_t stamp(TimePoint time) {
    return static_cast<std::uint64_t>(Duration(time.time_since_epoch()).count()) & ~kIsTicks;
  }
  std::uint64_t stamp_now() const { return ticks_ ? read_ticks() | kIsTicks : stamp(clock_.now()); }
  static std::uint64_t pack(TraceLane lane, TraceName name) {
    return static_cast<std::uint64_t>(lane) << 32 | static_cast<std::uint64_t>(name);
  }
  void keep(const Stamped& event);
  Ring* find_ring();
  TimePoint time_of(std::uint64_t stamp) const MILLRACE_REQUIRES(mutex_);
  TraceEvent unpack(const Stamped& event) const MILLRACE_REQUIRES(mutex_);

  const Clock& clock_;
  const bool ticks_;
  const std::size_t capacity_;
  const std::uint64_t
      id_;  // of all recorders ever, so that a thread's note of its ring cannot be stale
  mutable Mutex mutex_;
  mutable TickScale scale_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Ring>> rings_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<std::string> lanes_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<std::string> names_ MILLRACE_GUARDED_BY(mutex_);
};

// Records from construction to destruction.
class TraceScope {
 public:
  TraceScope(TraceRecorder* recorder, TraceLane lane, TraceName name, std::uint64_t flow = 0)
      : recorder_(recorder) {
    if (recorder_ == nullptr) return;
    event_.lane_and_name = TraceRecorder::pack(lane, name);
    event_.flow_and_count = flow << 16 | 1;
    event_.value = 0;
    event_.begin = recorder_->stamp_now();
  }
  ~TraceScope() {
    if (recorder_ == nullptr) return;
    event_.end = recorder_->stamp_now();
    recorder_->keep(event_);
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  void set_value(std::int64_t value) { event_.value = value; }

 private:
  TraceRecorder* const recorder_;
  TraceRecorder::Stamped event_;  // unset without a recorder
};

}  // namespace millrace
