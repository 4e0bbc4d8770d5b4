#include "millrace/core/trace.h"

#include <algorithm>
#include <atomic>
#include <tuple>

namespace millrace {

// Written by one thread, read by events(): its lock is almost never contended.
struct TraceRecorder::Ring {
  Mutex mutex;
  std::vector<TraceEvent> events MILLRACE_GUARDED_BY(mutex);
  std::size_t next MILLRACE_GUARDED_BY(mutex) = 0;  // where the next one goes, once full
  std::uint64_t lost MILLRACE_GUARDED_BY(mutex) = 0;
};

namespace {

std::atomic<std::uint64_t> next_recorder{1};

// The ring that this thread used last: nearly always the one that it needs.
struct LastRing {
  std::uint64_t recorder = 0;
  void* ring = nullptr;
};
struct ThreadRings {
  LastRing last;
  std::vector<LastRing> all;
};
thread_local ThreadRings thread_rings;

std::uint32_t intern(std::vector<std::string>& texts, std::string_view text) {
  const auto found = std::ranges::find(texts, text);
  if (found != texts.end()) return static_cast<std::uint32_t>(found - texts.begin());
  texts.emplace_back(text);
  return static_cast<std::uint32_t>(texts.size() - 1);
}

}  // namespace

TraceRecorder::TraceRecorder(const Clock& clock, std::size_t events_per_thread)
    : clock_(clock),
      capacity_(std::max<std::size_t>(events_per_thread, 1)),
      id_(next_recorder.fetch_add(1)) {}

TraceRecorder::~TraceRecorder() = default;

TraceLane TraceRecorder::lane(std::string_view text) {
  MutexLock lock(mutex_);
  return TraceLane{intern(lanes_, text)};
}

TraceName TraceRecorder::name(std::string_view text) {
  MutexLock lock(mutex_);
  return TraceName{intern(names_, text)};
}

std::string TraceRecorder::lane_text(TraceLane lane) const {
  MutexLock lock(mutex_);
  return lanes_.at(static_cast<std::size_t>(lane));
}

std::string TraceRecorder::name_text(TraceName name) const {
  MutexLock lock(mutex_);
  return names_.at(static_cast<std::size_t>(name));
}

TraceRecorder::Ring& TraceRecorder::ring() {
  ThreadRings& rings = thread_rings;
  if (rings.last.recorder == id_) return *static_cast<Ring*>(rings.last.ring);
  const auto known = std::ranges::find(rings.all, id_, &LastRing::recorder);
  if (known != rings.all.end()) {
    rings.last = *known;
  } else {
    auto fresh = std::make_unique<Ring>();
    rings.last = {id_, fresh.get()};
    rings.all.push_back(rings.last);
    MutexLock lock(mutex_);
    rings_.push_back(std::move(fresh));
  }
  return *static_cast<Ring*>(rings.last.ring);
}

void TraceRecorder::record(const TraceEvent& event) {
  Ring& mine = ring();
  MutexLock lock(mine.mutex);
  if (mine.events.size() < capacity_) {
    mine.events.push_back(event);
    return;
  }
  mine.events[mine.next] = event;
  mine.next = (mine.next + 1) % capacity_;
  ++mine.lost;
}

std::vector<TraceEvent> TraceRecorder::events() const {
  std::vector<TraceEvent> all;
  MutexLock lock(mutex_);
  for (const auto& ring : rings_) {
    MutexLock ring_lock(ring->mutex);
    all.insert(all.end(), ring->events.begin(), ring->events.end());
  }
  std::ranges::stable_sort(all, {}, [](const TraceEvent& e) {
    return std::tuple(e.begin, static_cast<std::uint32_t>(e.lane));
  });
  return all;
}

TimePoint TraceRecorder::complete_since() const {
  TimePoint since = TimePoint::min();
  MutexLock lock(mutex_);
  for (const auto& ring : rings_) {
    MutexLock ring_lock(ring->mutex);
    if (ring->lost > 0) since = std::max(since, ring->events[ring->next].end);
  }
  return since;
}

std::uint64_t TraceRecorder::lost() const {
  std::uint64_t total = 0;
  MutexLock lock(mutex_);
  for (const auto& ring : rings_) {
    MutexLock ring_lock(ring->mutex);
    total += ring->lost;
  }
  return total;
}

}  // namespace millrace
