#include "millrace/transfer/loader_schedule.h"

#include <algorithm>

#include "millrace/core/base/check.h"

namespace millrace::transfer {

const char* to_string(LoadStage stage) {
  constexpr const char* kWords[] = {"staging", "read", "decode", "transfer"};
  return kWords[static_cast<std::size_t>(stage)];
}

LoaderSchedule::LoaderSchedule(const Options& options)
    : options_(options),
      end_sequence_(options.end_epoch == kEndless ? kEndless
                                                  : options.end_epoch * options.steps_per_epoch),
      queues_(static_cast<std::size_t>(options.devices)) {
  MILLRACE_CHECK(host_batch_bytes() <= options.host_budget &&
                     options.device_batch_bytes <= options.device_budget,
                 "one batch fits the budgets");
  const std::uint64_t first = options.first_epoch * options.steps_per_epoch + options.first_step;
  for (int device = 0; device < options.devices; ++device) {
    DeviceQueue& queue = of(device);
    queue.head = queue.next_read = queue.next_transfer = first;
    queue.epoch = options.first_epoch;
    offer_reserve(device);
  }
}

LoaderSchedule::Slot& LoaderSchedule::slot(const BatchId& batch) {
  DeviceQueue& queue = of(batch.device);
  return queue.slots[batch.sequence - queue.head];
}

void LoaderSchedule::advance(Slot& slot, Slot to) {
  const bool next = static_cast<int>(to) == static_cast<int>(slot) + 1;
  MILLRACE_CHECK(slot != Slot::kDead && (next || to == Slot::kDead),
                 "a slot takes its states in their order");
  slot = to;
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
  const std::uint64_t next = queue.head + queue.slots.size();
  if (queue.queued_to_reserve || next >= end_sequence_) return;
  if (!options_.across_epochs && next / options_.steps_per_epoch > queue.epoch) return;
  if (queue.use.host_bytes + host_batch_bytes() > options_.host_budget) return;
  queue.queued_to_reserve = true;
  reserve_.push({next, device});
}

// Lets the device's next batches be read that have their memory (LS-4).
void LoaderSchedule::offer_reads(int device) {
  DeviceQueue& queue = of(device);
  while (queue.next_read < queue.head + queue.slots.size() &&
         slot({queue.next_read, device}) == Slot::kStaged) {
    staged_.push({queue.next_read++, device});
  }
}

// Begins the device's next transfers as they are decoded and have room on the device (LS-4).
void LoaderSchedule::offer_transfers(int device) {
  DeviceQueue& queue = of(device);
  while (queue.next_transfer < queue.head + queue.slots.size()) {
    const BatchId batch{queue.next_transfer, device};
    Slot& state = slot(batch);
    if (state != Slot::kDecoded || !wanted(batch)) return;
    if (queue.use.device_bytes + options_.device_batch_bytes > options_.device_budget) return;
    charge_device(queue);
    advance(state, Slot::kTransferring);
    ++queue.next_transfer;
    ++running_;
    transfers_.push_back(batch);
  }
}

std::optional<LoaderSchedule::Start> LoaderSchedule::start() {
  if (!transfers_.empty()) {
    const BatchId batch = transfers_.front();
    transfers_.pop_front();
    return Start{LoadStage::kTransfer, batch};
  }
  if (decodes_ < options_.decodes) {
    if (const auto batch = pop_wanted(read_)) {
      advance(slot(*batch), Slot::kDecoding);
      ++decodes_;
      ++running_;
      return Start{LoadStage::kDecode, *batch};
    }
  }
  if (reads_ < options_.reads) {
    if (const auto batch = pop_wanted(staged_)) {
      advance(slot(*batch), Slot::kReading);
      ++reads_;
      ++running_;
      return Start{LoadStage::kRead, *batch};
    }
  }
  if (const auto batch = pop_wanted(reserve_)) {
    DeviceQueue& queue = of(batch->device);
    queue.queued_to_reserve = false;
    queue.slots.push_back(Slot::kStaging);
    charge_host(queue);
    ++running_;
    offer_reserve(batch->device);
    return Start{LoadStage::kStaging, *batch};
  }
  return std::nullopt;
}

void LoaderSchedule::end_stage(const Start& stage) {
  --running_;
  if (stage.stage == LoadStage::kRead) --reads_;
  if (stage.stage == LoadStage::kDecode) --decodes_;
}

bool LoaderSchedule::finish(const Start& stage) {
  if (!wanted(stage.batch)) {
    finish_unwanted(stage);
    return false;
  }
  end_stage(stage);
  DeviceQueue& queue = of(stage.batch.device);
  Slot& state = slot(stage.batch);
  switch (stage.stage) {
    case LoadStage::kStaging:
      advance(state, Slot::kStaged);
      offer_reads(stage.batch.device);
      break;
    case LoadStage::kRead:
      advance(state, Slot::kRead);
      read_.push(stage.batch);
      break;
    case LoadStage::kDecode:
      advance(state, Slot::kDecoded);
      uncharge_host(queue, options_.raw_bytes);
      offer_transfers(stage.batch.device);
      offer_reserve(stage.batch.device);
      break;
    case LoadStage::kTransfer:
      advance(state, Slot::kReady);
      ++queue.use.ready;
      break;
  }
  return true;
}

void LoaderSchedule::finish_unwanted(const Start& stage) {
  end_stage(stage);
  DeviceQueue& queue = of(stage.batch.device);
  advance(slot(stage.batch), Slot::kDead);
  if (stage.stage == LoadStage::kTransfer) {
    uncharge_device(queue);  // its staging block comes back by release_staging()
  } else {
    uncharge_host(queue, host_batch_bytes());
  }
}

bool LoaderSchedule::fail(const Start& stage) {
  const bool first = wanted(stage.batch);
  if (first) failure_ = stage.batch;
  finish_unwanted(stage);
  return first;
}

std::vector<BatchId> LoaderSchedule::drop_unwanted() {
  std::vector<BatchId> dropped;
  for (int device = 0; device < options_.devices; ++device) {
    DeviceQueue& queue = of(device);
    for (std::size_t i = 0; i < queue.slots.size(); ++i) {
      const BatchId batch{queue.head + i, device};
      Slot& state = queue.slots[i];
      if (wanted(batch)) continue;
      if (state == Slot::kStaged || state == Slot::kRead) {
        uncharge_host(queue, host_batch_bytes());
      } else if (state == Slot::kDecoded) {
        uncharge_host(queue, options_.staging_bytes);
      } else if (state == Slot::kReady) {
        --queue.use.ready;
        uncharge_device(queue);
      } else {
        continue;
      }
      advance(state, Slot::kDead);
      dropped.push_back(batch);
    }
  }
  return dropped;
}

void LoaderSchedule::release_staging(int device) {
  uncharge_host(of(device), options_.staging_bytes);
  offer_reserve(device);
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
  const bool ready = !queue.slots.empty() && queue.slots.front() == Slot::kReady;
  return ready ? Next::kBatch : Next::kPending;
}

LoaderSchedule::Next LoaderSchedule::take(int device, BatchId* batch) {
  DeviceQueue& queue = of(device);
  const Next next = peek(device);
  if (next == Next::kEndOfEpoch &&
      queue.head < end_sequence_) {  // the last end is met again and again
    ++queue.epoch;
    offer_reserve(device);
  }
  if (next == Next::kBatch) {
    *batch = {queue.head, device};
    queue.slots.pop_front();
    ++queue.head;
    --queue.use.ready;
    uncharge_device(queue);
    offer_transfers(device);
    offer_reserve(device);
  }
  return next;
}

void LoaderSchedule::charge_host(DeviceQueue& queue) {
  queue.use.host_bytes += host_batch_bytes();
  host_bytes_ += host_batch_bytes();
  queue.use.peak_host_bytes = std::max(queue.use.peak_host_bytes, queue.use.host_bytes);
  peak_host_bytes_ = std::max(peak_host_bytes_, host_bytes_);
}

void LoaderSchedule::uncharge_host(DeviceQueue& queue, std::size_t bytes) {
  MILLRACE_DCHECK(queue.use.host_bytes >= bytes,
                  "no more host memory is released than was charged");
  queue.use.host_bytes -= bytes;
  host_bytes_ -= bytes;
}

void LoaderSchedule::charge_device(DeviceQueue& queue) {
  queue.use.device_bytes += options_.device_batch_bytes;
  device_bytes_ += options_.device_batch_bytes;
  queue.use.peak_device_bytes = std::max(queue.use.peak_device_bytes, queue.use.device_bytes);
  peak_device_bytes_ = std::max(peak_device_bytes_, device_bytes_);
}

void LoaderSchedule::uncharge_device(DeviceQueue& queue) {
  queue.use.device_bytes -= options_.device_batch_bytes;
  device_bytes_ -= options_.device_batch_bytes;
}

LoaderSchedule::DeviceUse LoaderSchedule::use(int device) const {
  const DeviceQueue& queue = of(device);
  DeviceUse use = queue.use;
  use.begun = queue.slots.size();
  return use;
}

}  // namespace millrace::transfer
