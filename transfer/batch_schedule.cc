#include "millrace/transfer/batch_schedule.h"

#include <algorithm>

#include "millrace/core/base/check.h"

namespace millrace::transfer {
namespace {

using State = BatchPlace::State;

// What a batch is charged before any of its size was measured.
constexpr Duration kUnmeasured = std::chrono::milliseconds(1);
// A batch is launched behind another one so long before the end of that, or half of its time: the
// device does not wait for it, and requests that come until then may still go first.
constexpr Duration kAhead = std::chrono::milliseconds(1);
// A measured time moves by this part of the difference to a new one.
constexpr int kSmoothing = 4;

std::int64_t smallest_that_holds(std::span<const std::int64_t> sizes, std::int64_t rows) {
  const auto found = std::ranges::lower_bound(sizes, rows);
  MILLRACE_CHECK(found != sizes.end(), "a request has no more rows than the largest batch");
  return *found;
}

// The largest size below `rows`; 0: there is none.
std::int64_t largest_below(std::span<const std::int64_t> sizes, std::int64_t rows) {
  const auto found = std::ranges::lower_bound(sizes, rows);
  return found == sizes.begin() ? 0 : *std::prev(found);
}

double nanoseconds(Duration time) { return static_cast<double>(time.count()); }

TimePoint earlier_by(TimePoint point, Duration by) {
  return point == kNoDeadline ? kNoDeadline : point - by;
}

}  // namespace

BatchSchedule::BatchSchedule(const Options& options)
    : options_(options), devices_(options.devices) {}

void BatchSchedule::add_queue(std::size_t index, QueueOptions options) {
  if (index >= queues_.size()) queues_.resize(index + 1);
  Queue& queue = queues_[index];
  MILLRACE_CHECK(queue.buckets.empty() && !options.sizes.empty(), "a queue is added once");
  queue.buckets = std::vector<Bucket>(options.sizes.size());
  queue.served = now_served_;
  queue.options = std::move(options);
}

void BatchSchedule::set_queue(std::size_t index, QueueOptions options) {
  Queue& queue = queues_[index];
  MILLRACE_CHECK(
      options.sizes.size() == queue.buckets.size() && options.most_rows >= queue.options.most_rows,
      "what is queued fits the new version");
  queue.options = std::move(options);
  for (Bucket& bucket : queue.buckets) bucket.measured.clear();
}

bool BatchSchedule::may_move(State from, State to) {
  switch (from) {
    case State::kOutside:
      return to == State::kQueued;
    case State::kQueued:
      return to == State::kLaunched || to == State::kEnded;
    case State::kLaunched:
      return to == State::kEnded || to == State::kAbandoned || to == State::kQueued;
    case State::kAbandoned:
      return to == State::kEnded;
    case State::kEnded:
      return false;
  }
  return false;
}

void BatchSchedule::move(BatchPlace& place, State to) {
  MILLRACE_CHECK(may_move(place.state, to), "a request goes from state to state as listed");
  place.state = to;
}

void BatchSchedule::insert(const Place& place) {
  move(*place, State::kQueued);
  Queue& queue = queues_[place->facts.queue];
  if (queue.places == 0) queue.served = std::max(queue.served, now_served_);
  Bucket& bucket = queue.buckets[place->facts.bucket];
  bucket.line.insert(place);
  bucket.due.emplace(place->due, place->number);
  bucket.rows += place->facts.rows;
  ++queue.places;
}

void BatchSchedule::erase(const Place& place) {
  Queue& queue = queues_[place->facts.queue];
  Bucket& bucket = queue.buckets[place->facts.bucket];
  bucket.due.erase({place->due, place->number});
  bucket.rows -= place->facts.rows;
  --queue.places;
  bucket.line.erase(place);  // last: place may be the element itself
}

void BatchSchedule::enter(const Place& place, TimePoint now) {
  const Queue& queue = queues_[place->facts.queue];
  MILLRACE_CHECK(place->facts.rows >= 1 && place->facts.rows <= queue.options.most_rows,
                 "a request has no more rows than a batch");
  place->arrived = now;
  place->rank = now + options_.priority_step * place->facts.priority;
  place->number = next_number_++;
  const std::int64_t size =
      smallest_that_holds(queue.options.sizes[place->facts.bucket], place->facts.rows);
  // Twice the time of its own batch: one may be on the device before it.
  const TimePoint latest = earlier_by(place->facts.deadline,
                                      2 * measured(place->facts.queue, place->facts.bucket, size));
  place->due = std::clamp(latest, now, now + queue.options.most_delay);
  insert(place);
}

bool BatchSchedule::withdraw(BatchPlace& place) {
  switch (place.state) {
    case State::kQueued:
      erase(Place::share(&place));
      move(place, State::kEnded);
      return true;
    case State::kLaunched:
      move(place, State::kAbandoned);
      return false;
    default:
      return false;
  }
}

bool BatchSchedule::is_due(const Queue& queue, const Bucket& bucket, TimePoint now) const {
  if (bucket.line.empty()) return false;
  return draining_ || bucket.rows >= queue.options.most_rows || bucket.due.begin()->first <= now;
}

TimePoint BatchSchedule::takes_next(const Device& device) const {
  if (!device.alive || device.batches >= options_.batches_per_device) return kNoDeadline;
  if (device.batches == 0) return TimePoint();
  const Duration one = device.outstanding / device.batches;
  return device.busy_since + one - std::max(kAhead, one / 2);
}

std::optional<std::size_t> BatchSchedule::free_device(TimePoint now) const {
  std::optional<std::size_t> best;
  const auto load = [&](std::size_t d) {
    return std::pair(devices_[d].outstanding, devices_[d].batches);
  };
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (takes_next(devices_[d]) > now) continue;
    if (!best || load(d) < load(*best)) best = d;
  }
  return best;
}

std::optional<std::pair<std::size_t, std::size_t>> BatchSchedule::due_bucket(TimePoint now) const {
  std::optional<std::pair<std::size_t, std::size_t>> best;
  double served = 0;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const Queue& queue = queues_[q];
    if (queue.places == 0 || (best && queue.served >= served)) continue;
    std::optional<std::size_t> first;  // of its buckets: the one whose head has come first
    for (std::size_t b = 0; b < queue.buckets.size(); ++b) {
      if (!is_due(queue, queue.buckets[b], now)) continue;
      if (!first ||
          InOrder()(*queue.buckets[b].line.begin(), *queue.buckets[*first].line.begin())) {
        first = b;
      }
    }
    if (!first) continue;
    best = {q, *first};
    served = queue.served;
  }
  return best;
}

Duration BatchSchedule::measured(std::size_t queue, std::size_t bucket, std::int64_t size) const {
  const auto& measured = queues_[queue].buckets[bucket].measured;
  const auto found = measured.find(size);
  return found == measured.end() ? Duration() : found->second;
}

Duration BatchSchedule::expected(const Bucket& bucket, std::int64_t size) const {
  const auto found = bucket.measured.find(size);
  if (found != bucket.measured.end()) return found->second;
  // The next smaller one is a better guess than none.
  const auto after = bucket.measured.upper_bound(size);
  return after == bucket.measured.begin() ? kUnmeasured : std::prev(after)->second;
}

// Whether rows take less time in a full batch of that size than in this one with its padding.
bool BatchSchedule::is_cheaper(const Bucket& bucket, std::int64_t size, const Batch& padded) {
  const auto full = bucket.measured.find(size), other = bucket.measured.find(padded.size);
  const auto end = bucket.measured.end();
  if (full == end || other == end) return padded.size > 2 * padded.rows;
  return full->second * padded.rows < other->second * size;
}

std::optional<BatchSchedule::Batch> BatchSchedule::form(std::size_t q, std::size_t b, TimePoint now,
                                                        Places* late) {
  Queue& queue = queues_[q];
  Bucket& bucket = queue.buckets[b];
  const std::span<const std::int64_t> sizes = queue.options.sizes[b];
  Batch batch{.queue = q, .bucket = b};
  // Those that fit, in their order.
  const auto take = [&](std::int64_t most) {
    batch.rows = 0;
    batch.places.clear();
    for (const Place& place : bucket.line) {
      if (batch.rows + place->facts.rows > most) break;
      batch.rows += place->facts.rows;
      batch.places.push_back(place);
    }
  };
  while (!bucket.line.empty() && (*bucket.line.begin())->facts.deadline <= now) {
    late->push_back(*bucket.line.begin());
    withdraw(*late->back());
  }
  take(queue.options.most_rows);
  for (std::size_t i = 0; i < batch.places.size(); ++i) {  // BS-4, behind the head
    if (batch.places[i]->facts.deadline > now) continue;
    late->push_back(batch.places[i]);
    withdraw(*batch.places[i]);
    take(queue.options.most_rows);
    i = 0;
  }
  if (batch.places.empty()) return std::nullopt;
  batch.size = smallest_that_holds(sizes, batch.rows);
  while (batch.size > batch.rows) {
    const std::int64_t cut = largest_below(sizes, batch.rows);
    if (cut < batch.places.front()->facts.rows || !is_cheaper(bucket, cut, batch)) break;
    if (++bucket.cuts % kCutsInARow == 0) break;
    take(cut);
    batch.size = smallest_that_holds(sizes, batch.rows);
  }
  for (const Place& place : batch.places) {
    erase(place);
    move(*place, State::kLaunched);
  }
  batch.begun = now;
  batch.expected = expected(bucket, batch.size);
  now_served_ = queue.served;
  queue.served += nanoseconds(batch.expected) / queue.options.weight;
  return batch;
}

std::optional<BatchSchedule::Batch> BatchSchedule::next(TimePoint now, Places* late) {
  const std::optional<std::size_t> device = free_device(now);
  if (!device) return std::nullopt;
  while (const auto due = due_bucket(now)) {
    std::optional<Batch> batch = form(due->first, due->second, now, late);
    if (!batch) continue;  // all of them were late
    batch->device = *device;
    Device& there = devices_[*device];
    if (there.batches++ == 0) there.busy_since = now;
    there.outstanding += batch->expected;
    return batch;
  }
  return std::nullopt;
}

void BatchSchedule::release_device(const Batch& batch) {
  Device& device = devices_[batch.device];
  --device.batches;
  device.outstanding -= batch.expected;
}

BatchSchedule::Places BatchSchedule::finish(const Batch& batch, TimePoint now) {
  release_device(batch);
  Device& device = devices_[batch.device];
  Queue& queue = queues_[batch.queue];
  // A batch that began behind another one has had the device since the end of that.
  const Duration took = now - std::max(batch.begun, device.busy_since);
  device.busy_since = now;
  const auto [found, first] = queue.buckets[batch.bucket].measured.try_emplace(batch.size, took);
  if (!first) found->second += (took - found->second) / kSmoothing;
  queue.served += nanoseconds(took - batch.expected) / queue.options.weight;
  Places waiting;
  for (const Place& place : batch.places) {
    if (place->state == State::kLaunched) waiting.push_back(place);
    move(*place, State::kEnded);
  }
  return waiting;
}

void BatchSchedule::put_back(const Batch& batch) {
  release_device(batch);
  Queue& queue = queues_[batch.queue];
  queue.served -= nanoseconds(batch.expected) / queue.options.weight;
  for (const Place& place : batch.places) {
    if (place->state == State::kLaunched) {
      insert(place);
    } else {
      move(*place, State::kEnded);
    }
  }
}

bool BatchSchedule::fail_device(std::size_t device) {
  devices_[device].alive = false;
  return std::ranges::any_of(devices_, &Device::alive);
}

BatchSchedule::Places BatchSchedule::take_queued(std::optional<std::size_t> only) {
  Places taken;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    if (only && *only != q) continue;
    for (Bucket& bucket : queues_[q].buckets) {
      while (!bucket.line.empty()) {
        taken.push_back(*bucket.line.begin());
        withdraw(*taken.back());
      }
    }
  }
  return taken;
}

std::optional<TimePoint> BatchSchedule::next_time() const {
  TimePoint device = kNoDeadline;
  for (const Device& one : devices_) device = std::min(device, takes_next(one));
  if (device == kNoDeadline) return std::nullopt;
  std::optional<TimePoint> earliest;
  for (const Queue& queue : queues_) {
    for (const Bucket& bucket : queue.buckets) {
      if (bucket.due.empty()) continue;
      const bool is_complete = draining_ || bucket.rows >= queue.options.most_rows;
      const bool waits_for_device = is_complete && device != TimePoint();
      const TimePoint due = waits_for_device ? device : bucket.due.begin()->first;
      if (!earliest || due < *earliest) earliest = due;
    }
  }
  if (earliest) earliest = std::max(*earliest, device);
  return earliest;
}

Duration BatchSchedule::expected_wait(std::size_t index) const {
  std::int64_t alive = 0;
  Duration work{};
  for (const Device& device : devices_) {
    alive += device.alive ? 1 : 0;
    work += device.outstanding;
  }
  const Queue& queue = queues_[index];
  for (const Bucket& bucket : queue.buckets) {
    const std::int64_t batches =
        (bucket.rows + queue.options.most_rows - 1) / queue.options.most_rows;
    work += batches * expected(bucket, queue.options.most_rows);
  }
  return alive == 0 ? work : work / alive;
}

std::size_t BatchSchedule::queued(std::size_t queue) const { return queues_[queue].places; }

std::size_t BatchSchedule::queued() const {
  std::size_t sum = 0;
  for (const Queue& queue : queues_) sum += queue.places;
  return sum;
}

std::size_t BatchSchedule::in_flight() const {
  std::size_t sum = 0;
  for (const Device& device : devices_) sum += static_cast<std::size_t>(device.batches);
  return sum;
}

}  // namespace millrace::transfer
