#include "millrace/core/observe/trace.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>
#include <tuple>

#include "millrace/core/observe/log.h"

namespace millrace {

// One thread writes, any thread reads, and neither waits: a reader takes copies and skips
// those that the writer may have been about to overwrite. Its memory is touched as it fills.
//
//  TR-1 `begun` is raised before the slot of an event is written and `written` after: the words of
//  a slot are stored with release and loaded with acquire, so a reader that has seen a word of a
//  newer event sees its `begun` too.
struct TraceRecorder::Ring {
  using Word = std::uint64_t;
  static constexpr std::size_t kWords = sizeof(Stamped) / sizeof(Word);
  using Words = std::array<Word, kWords>;

  explicit Ring(std::size_t events)
      : capacity(events), words(static_cast<Word*>(std::calloc(events, sizeof(Stamped)))) {
    if (words == nullptr) throw std::bad_alloc();
  }
  ~Ring() { std::free(words); }

  void write(const Stamped& event) {
    const Words from = std::bit_cast<Words>(event);
    const std::uint64_t n = begun.load(std::memory_order_relaxed);  // its own thread's
    begun.store(n + 1, std::memory_order_relaxed);                  // TR-1
    Word* const to = words + slot * kWords;
    for (std::size_t w = 0; w < kWords; ++w)
      std::atomic_ref(to[w]).store(from[w], std::memory_order_release);
    slot = slot + 1 == capacity ? 0 : slot + 1;
    written.store(n + 1, std::memory_order_release);
  }
  // Event number i, or false if it is gone.
  bool read(std::uint64_t i, Stamped& event) const {
    Words to;
    Word* const from = words + (i % capacity) * kWords;
    for (std::size_t w = 0; w < kWords; ++w)
      to[w] = std::atomic_ref(from[w]).load(std::memory_order_acquire);
    event = std::bit_cast<Stamped>(to);
    return begun.load(std::memory_order_relaxed) <= i + capacity;  // TR-1
  }

  const std::size_t capacity;
  Word* const words;
  std::size_t slot = 0;                   // the writer's: where the next event goes
  std::atomic<std::uint64_t> begun{0};    // events
  std::atomic<std::uint64_t> written{0};  // events
  std::atomic<bool> owned{true};          // by a thread that lives
};

namespace {

std::atomic<std::uint64_t> next_recorder{1};

// The ring that this thread used last: nearly always the one that it needs.
struct LastRing {
  std::uint64_t recorder = 0;
  void* ring = nullptr;
};
constinit thread_local LastRing last_ring;
constinit thread_local bool thread_ends = false;  // its rings are released already

// Gives the rings of a thread back when it ends, for threads to come.
struct ThreadRing {
  std::uint64_t recorder;
  std::shared_ptr<void> ring;
  std::atomic<bool>* owned;  // in the ring
};
struct ThreadRings {
  ~ThreadRings() {
    last_ring = {};
    thread_ends = true;
    for (const ThreadRing& one : all) one.owned->store(false, std::memory_order_release);
  }
  std::vector<ThreadRing> all;
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
      ticks_(&clock == &steady_clock() && ticks_usable()),
      capacity_(std::max<std::size_t>(events_per_thread, 1)),
      id_(next_recorder.fetch_add(1)),
      scale_(clock) {}

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

// nullptr for what other thread_local objects record when their thread ends, and where there is no
// memory: the traced program runs on without it.
TraceRecorder::Ring* TraceRecorder::find_ring() try {
  if (thread_ends) return nullptr;
  std::vector<ThreadRing>& mine = thread_rings.all;
  auto known = std::ranges::find(mine, id_, &ThreadRing::recorder);
  if (known == mine.end()) {
    // Rings that only this thread holds are those of recorders that are gone.
    std::erase_if(mine, [](const ThreadRing& one) { return one.ring.use_count() == 1; });
    mine.reserve(mine.size() + 1);
    std::shared_ptr<Ring> ring;
    MutexLock lock(mutex_);
    for (const std::shared_ptr<Ring>& left : rings_) {
      // acquire: pairs with the release of the thread that has left it
      bool owned = false;
      if (left->owned.compare_exchange_strong(owned, true, std::memory_order_acquire)) {
        ring = left;
        break;
      }
    }
    if (ring == nullptr) {
      ring = std::make_shared<Ring>(capacity_);
      rings_.push_back(ring);
    }
    mine.push_back({id_, ring, &ring->owned});
    known = mine.end() - 1;
  }
  last_ring = {id_, known->ring.get()};
  return static_cast<Ring*>(last_ring.ring);
} catch (const std::bad_alloc&) {
  static std::atomic<bool> reported{false};
  if (!reported.exchange(true)) {
    MILLRACE_LOG(kWarning, "core",
                 "the timeline lacks the events of a thread: there is no memory for its ring");
  }
  return nullptr;
}

void TraceRecorder::keep(const Stamped& event) {
  const bool known = last_ring.recorder == id_;
  Ring* const ring = known ? static_cast<Ring*>(last_ring.ring) : find_ring();
  if (ring != nullptr) ring->write(event);
}

void TraceRecorder::record(const TraceEvent& event) {
  keep(Stamped{.lane_and_name = pack(event.lane, event.name),
               .begin = stamp(event.begin),
               .end = stamp(event.end),
               .flow_and_count = event.flow << 16 | event.flows,
               .value = event.value});
}

TimePoint TraceRecorder::time_of(std::uint64_t stamp) const {
  if ((stamp & kIsTicks) != 0) return scale_.at(stamp & ~kIsTicks);
  return TimePoint(Duration(static_cast<Duration::rep>(stamp)));
}

TraceEvent TraceRecorder::unpack(const Stamped& event) const {
  return {.lane = TraceLane{static_cast<std::uint32_t>(event.lane_and_name >> 32)},
          .name = TraceName{static_cast<std::uint32_t>(event.lane_and_name)},
          .begin = time_of(event.begin),
          .end = time_of(event.end),
          .flow = event.flow_and_count >> 16,
          .value = event.value,
          .flows = static_cast<std::uint16_t>(event.flow_and_count)};
}

TraceBatch TraceRecorder::events_since(TraceCursor& cursor) const {
  TraceBatch batch;
  MutexLock lock(mutex_);
  cursor.next_.resize(rings_.size());
  std::vector<Stamped> found;
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    const Ring& ring = *rings_[r];
    std::uint64_t& next = cursor.next_[r];
    const std::uint64_t written = ring.written.load(std::memory_order_acquire);
    const std::uint64_t oldest = written > capacity_ ? written - capacity_ : 0;
    batch.lost += std::max(next, oldest) - next;
    for (next = std::max(next, oldest); next < written; ++next) {
      Stamped event;
      if (ring.read(next, event)) {
        found.push_back(event);
      } else {
        ++batch.lost;
      }
    }
  }
  if (ticks_) scale_.anchor();  // after the last event, so that none lies beyond it
  batch.events.reserve(found.size());
  for (const Stamped& event : found) batch.events.push_back(unpack(event));
  std::ranges::stable_sort(batch.events, {}, [](const TraceEvent& e) {
    return std::tuple(e.begin, static_cast<std::uint32_t>(e.lane));
  });
  return batch;
}

std::vector<TraceEvent> TraceRecorder::events() const {
  TraceCursor all;
  return events_since(all).events;
}

TimePoint TraceRecorder::complete_since() const {
  TimePoint since = TimePoint::min();
  MutexLock lock(mutex_);
  if (ticks_) scale_.anchor();
  for (const auto& ring : rings_) {
    for (;;) {  // until the oldest is not overwritten while it is read
      const std::uint64_t written = ring->written.load(std::memory_order_acquire);
      if (written <= capacity_) break;
      Stamped oldest;
      if (!ring->read(written - capacity_, oldest)) continue;
      since = std::max(since, time_of(oldest.end));
      break;
    }
  }
  return since;
}

std::uint64_t TraceRecorder::lost() const {
  std::uint64_t total = 0;
  MutexLock lock(mutex_);
  for (const auto& ring : rings_) {
    const std::uint64_t written = ring->written.load();
    total += written > capacity_ ? written - capacity_ : 0;
  }
  return total;
}

}  // namespace millrace
