#include "millrace/transfer/loader_schedule.h"

#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::transfer {
namespace {

void charge(ByteBudget& device, ByteBudget& all, std::size_t bytes) {
  device.take(bytes);
  all.take(bytes);
}

void uncharge(ByteBudget& device, ByteBudget& all, std::size_t bytes) {
  device.release(bytes);
  all.release(bytes);
}

}  // namespace

const char* to_string(LoadStage stage) {
  constexpr const char* kWords[] = {"staging", "read", "decode", "transfer"};
  return kWords[static_cast<std::size_t>(stage)];
}

LoaderSchedule::LoaderSchedule(const Options& options)
    : options_(options),
      end_sequence_(options.end_epoch == kEndless ? kEndless
                                                  : options.end_epoch * options.steps_per_epoch),
      host_(std::numeric_limits<std::size_t>::max()),
      device_(host_.limit()) {
  MILLRACE_CHECK(
      batch_bytes() <= options.host_budget && options.device_batch_bytes <= options.device_budget,
      "one batch fits the budgets");
  const std::uint64_t first = options.first_epoch * options.steps_per_epoch + options.first_step;
  for (int device = 0; device < options.devices; ++device) {
    queues_.push_back({.head = first,
                       .next_read = first,
                       .next_transfer = first,
                       .epoch = options.first_epoch,
                       .host = ByteBudget(options.host_budget),
                       .device = ByteBudget(options.device_budget)});
    offer_reserve(device);
  }
}

bool LoaderSchedule::may_move(State from, State to) {
  const bool next = static_cast<int>(to) == static_cast<int>(from) + 1;
  return from < State::kTaken && (next || to == State::kDropped);
}

// The only change of a state, after the first: it books what the batch has from now on.
void LoaderSchedule::move(LoadPlace& batch, State to) {
  const State from = std::exchange(batch.state, to);
  MILLRACE_CHECK(may_move(from, to), "a batch takes its states in their order");
  DeviceQueue& queue = of(batch.id.device);
  const auto change = [&](State state) { return (to == state) - (from == state); };
  reads_ += change(State::kReading);
  decodes_ += change(State::kDecoding);
  queue.ready += change(State::kReady);
  if (from < State::kDecoded && to >= State::kDecoded)
    uncharge(queue.host, host_, options_.raw_bytes);
  if (from < State::kTransferring && to == State::kDropped) release_staging(batch);
  if (to == State::kTransferring) charge(queue.device, device_, options_.device_batch_bytes);
  if (from >= State::kTransferring && to > State::kReady)
    uncharge(queue.device, device_, options_.device_batch_bytes);
}

std::optional<BatchId> LoaderSchedule::pop_wanted(Heap& heap) {
  if (heap.empty()) return std::nullopt;
  const BatchId batch = heap.top();
  // The heap is in order, so what follows an unwanted batch is unwanted as well.
  if (!wanted(batch)) return std::nullopt;
  heap.pop();
  return batch;
}

// Puts the device's next batch into reserve_ if its budget and the epoch allow it.
void LoaderSchedule::offer_reserve(int device) {
  DeviceQueue& queue = of(device);
  const std::uint64_t next = queue.head + queue.batches.size();
  if (queue.reserves || next >= end_sequence_ || !queue.host.fits(batch_bytes())) return;
  if (!options_.across_epochs && next / options_.steps_per_epoch > queue.epoch) return;
  queue.reserves = true;
  reserve_.push({next, device});
}

// Lets the device's next batches be read that have their memory (LS-4).
void LoaderSchedule::offer_reads(int device) {
  DeviceQueue& queue = of(device);
  while (queue.next_read < queue.head + queue.batches.size() &&
         at({queue.next_read, device})->state == State::kStaged) {
    staged_.push({queue.next_read++, device});
  }
}

// The device's next batch is decoded and has room on the device (LS-4).
bool LoaderSchedule::may_transfer(int device) const {
  const DeviceQueue& queue = of(device);
  const BatchId next{queue.next_transfer, device};
  return next.sequence < queue.head + queue.batches.size() && at(next)->state == State::kDecoded &&
         wanted(next) && queue.device.fits(options_.device_batch_bytes);
}

void LoaderSchedule::offer_transfer(int device) {
  if (of(device).transfers || !may_transfer(device)) return;
  of(device).transfers = true;
  transfer_.push_back(device);
}

LoaderSchedule::Place LoaderSchedule::start(FunctionRef<Place(const BatchId&)> make) {
  while (!transfer_.empty()) {
    const int device = transfer_.front();
    transfer_.pop_front();
    of(device).transfers = false;
    if (!may_transfer(device)) continue;  // unwanted by now
    Place batch = at({of(device).next_transfer++, device});
    move(*batch, State::kTransferring);
    offer_transfer(device);
    return batch;
  }
  const auto begin = [this](const BatchId& id, State state) {
    move(*at(id), state);
    return at(id);
  };
  if (decodes_ < options_.decodes) {
    if (const auto id = pop_wanted(read_)) return begin(*id, State::kDecoding);
  }
  if (reads_ < options_.reads) {
    if (const auto id = pop_wanted(staged_)) return begin(*id, State::kReading);
  }
  const auto id = pop_wanted(reserve_);
  if (!id) return {};
  DeviceQueue& queue = of(id->device);
  queue.reserves = false;
  queue.batches.push_back(make(*id));
  charge(queue.host, host_, batch_bytes());
  offer_reserve(id->device);
  return at(*id);
}

bool LoaderSchedule::finish(LoadPlace& batch) {
  MILLRACE_CHECK(batch.running(), "a stage ends that runs");
  const bool go_on = wanted(batch.id);
  const State ended = static_cast<State>(static_cast<int>(batch.state) + 1);
  move(batch, go_on ? ended : State::kDropped);
  if (batch.state == State::kStaged) offer_reads(batch.id.device);
  if (batch.state == State::kRead) read_.push(batch.id);
  if (batch.state == State::kDecoded) {
    offer_transfer(batch.id.device);
    offer_reserve(batch.id.device);
  }
  return go_on;
}

LoaderSchedule::Places LoaderSchedule::fail(LoadPlace& batch) {
  if (wanted(batch.id)) failure_ = batch.id;
  move(batch, State::kDropped);
  Places dropped = drop_unwanted();
  dropped.push_back(Place::share(&batch));
  return dropped;
}

LoaderSchedule::Places LoaderSchedule::stop() {
  stopped_ = true;
  return drop_unwanted();
}

LoaderSchedule::Places LoaderSchedule::drop_unwanted() {
  Places dropped;
  for (const DeviceQueue& queue : queues_) {
    for (const Place& batch : queue.batches) {
      if (batch->running() || batch->state == State::kDropped || wanted(batch->id)) continue;
      move(*batch, State::kDropped);
      dropped.push_back(batch);
    }
  }
  return dropped;
}

void LoaderSchedule::release_staging(LoadPlace& batch) {
  if (!std::exchange(batch.charged, false)) return;
  uncharge(of(batch.id.device).host, host_, options_.staging_bytes);
  offer_reserve(batch.id.device);
}

LoaderSchedule::Next LoaderSchedule::peek(int device) const {
  const DeviceQueue& queue = of(device);
  if (stopped_) return Next::kStopped;
  if (queue.head >= end_sequence_ || queue.head / options_.steps_per_epoch > queue.epoch) {
    // The end of an epoch comes after the batches of every device, so any failure is before it.
    const bool reached = !failure_ || failure_->sequence / options_.steps_per_epoch > queue.epoch;
    return reached ? Next::kEndOfEpoch : Next::kFailed;
  }
  if (!wanted({queue.head, device})) return Next::kFailed;
  const bool ready = !queue.batches.empty() && queue.batches.front()->state == State::kReady;
  return ready ? Next::kBatch : Next::kPending;
}

LoaderSchedule::Next LoaderSchedule::take(int device, Place* batch) {
  DeviceQueue& queue = of(device);
  const Next next = peek(device);
  if (next == Next::kEndOfEpoch &&
      queue.head < end_sequence_) {  // the last end is met again and again
    ++queue.epoch;
    offer_reserve(device);
  }
  if (next == Next::kBatch) {
    *batch = std::move(queue.batches.front());
    queue.batches.pop_front();
    ++queue.head;
    move(**batch, State::kTaken);
    offer_transfer(device);
    offer_reserve(device);
  }
  return next;
}

LoaderSchedule::DeviceUse LoaderSchedule::use(int device) const {
  const DeviceQueue& queue = of(device);
  return {.host_bytes = queue.host.used(),
          .peak_host_bytes = queue.host.peak(),
          .device_bytes = queue.device.used(),
          .peak_device_bytes = queue.device.peak(),
          .ready = static_cast<std::size_t>(queue.ready),
          .begun = queue.batches.size()};
}

}  // namespace millrace::transfer
