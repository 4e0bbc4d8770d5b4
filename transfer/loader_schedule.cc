#include "millrace/transfer/loader_schedule.h"

#include <algorithm>

#include "millrace/core/check.h"

namespace millrace::transfer {

const char* to_string(LoadStage stage) {
  switch (stage) {
    case LoadStage::kStaging:
      return "staging";
    case LoadStage::kRead:
      return "read";
    case LoadStage::kDecode:
      return "decode";
    case LoadStage::kTransfer:
      return "transfer";
  }
  return "?";
}

LoaderSchedule::LoaderSchedule(const Options& options)
    : options_(options),
      end_sequence_(options.end_epoch == kEndless ? kEndless
                                                  : options.end_epoch * options.steps_per_epoch),
      lanes_(static_cast<std::size_t>(options.devices)) {
  MILLRACE_CHECK(host_batch_bytes() <= options.host_budget &&
                     options.device_batch_bytes <= options.device_budget,
                 "one batch fits the budgets");
  const std::uint64_t first = options.first_epoch * options.steps_per_epoch + options.first_step;
  for (int device = 0; device < options.devices; ++device) {
    Lane& lane = lanes_[static_cast<std::size_t>(device)];
    lane.head = lane.next_read = lane.next_transfer = first;
    lane.epoch = options.first_epoch;
    offer_reserve(device);
  }
}

LoaderSchedule::Slot& LoaderSchedule::slot(const BatchId& batch) {
  Lane& lane = lanes_[static_cast<std::size_t>(batch.device)];
  return lane.slots[batch.sequence - lane.head];
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
  Lane& lane = lanes_[static_cast<std::size_t>(device)];
  const std::uint64_t next = lane.head + lane.slots.size();
  if (lane.queued_to_reserve || next >= end_sequence_) return;
  if (!options_.across_epochs && next / options_.steps_per_epoch > lane.epoch) return;
  if (lane.use.host_bytes + host_batch_bytes() > options_.host_budget) return;
  lane.queued_to_reserve = true;
  reserve_.push({next, device});
}

// Lets the device's next batches be read that have their memory (LS-4).
void LoaderSchedule::offer_reads(int device) {
  Lane& lane = lanes_[static_cast<std::size_t>(device)];
  while (lane.next_read < lane.head + lane.slots.size() &&
         slot({lane.next_read, device}) == Slot::kStaged) {
    staged_.push({lane.next_read++, device});
  }
}

// Begins the device's next transfers as they are decoded and have room on the device (LS-4).
void LoaderSchedule::offer_transfers(int device) {
  Lane& lane = lanes_[static_cast<std::size_t>(device)];
  while (lane.next_transfer < lane.head + lane.slots.size()) {
    const BatchId batch{lane.next_transfer, device};
    Slot& state = slot(batch);
    if (state != Slot::kDecoded || !wanted(batch)) return;
    if (lane.use.device_bytes + options_.device_batch_bytes > options_.device_budget) return;
    charge_device(lane);
    state = Slot::kTransferring;
    ++lane.next_transfer;
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
      slot(*batch) = Slot::kDecoding;
      ++decodes_;
      ++running_;
      return Start{LoadStage::kDecode, *batch};
    }
  }
  if (reads_ < options_.reads) {
    if (const auto batch = pop_wanted(staged_)) {
      slot(*batch) = Slot::kReading;
      ++reads_;
      ++running_;
      return Start{LoadStage::kRead, *batch};
    }
  }
  if (const auto batch = pop_wanted(reserve_)) {
    Lane& lane = lanes_[static_cast<std::size_t>(batch->device)];
    lane.queued_to_reserve = false;
    lane.slots.push_back(Slot::kStaging);
    charge_host(lane);
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
  Lane& lane = lanes_[static_cast<std::size_t>(stage.batch.device)];
  Slot& state = slot(stage.batch);
  switch (stage.stage) {
    case LoadStage::kStaging:
      state = Slot::kStaged;
      offer_reads(stage.batch.device);
      break;
    case LoadStage::kRead:
      state = Slot::kRead;
      read_.push(stage.batch);
      break;
    case LoadStage::kDecode:
      state = Slot::kDecoded;
      uncharge_host(lane, options_.raw_bytes);
      offer_transfers(stage.batch.device);
      offer_reserve(stage.batch.device);
      break;
    case LoadStage::kTransfer:
      state = Slot::kReady;
      ++lane.use.ready;
      break;
  }
  return true;
}

void LoaderSchedule::finish_unwanted(const Start& stage) {
  end_stage(stage);
  Lane& lane = lanes_[static_cast<std::size_t>(stage.batch.device)];
  slot(stage.batch) = Slot::kDead;
  if (stage.stage == LoadStage::kTransfer) {
    uncharge_device(lane);  // its staging block comes back by release_staging()
  } else {
    uncharge_host(lane, host_batch_bytes());
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
    Lane& lane = lanes_[static_cast<std::size_t>(device)];
    for (std::size_t i = 0; i < lane.slots.size(); ++i) {
      const BatchId batch{lane.head + i, device};
      Slot& state = lane.slots[i];
      if (wanted(batch)) continue;
      if (state == Slot::kStaged || state == Slot::kRead) {
        uncharge_host(lane, host_batch_bytes());
      } else if (state == Slot::kDecoded) {
        uncharge_host(lane, options_.staging_bytes);
      } else if (state == Slot::kReady) {
        --lane.use.ready;
        uncharge_device(lane);
      } else {
        continue;
      }
      state = Slot::kDead;
      dropped.push_back(batch);
    }
  }
  return dropped;
}

void LoaderSchedule::release_staging(int device) {
  uncharge_host(lanes_[static_cast<std::size_t>(device)], options_.staging_bytes);
  offer_reserve(device);
}

bool LoaderSchedule::at_end_of_epoch(const Lane& lane) const {
  return lane.head >= end_sequence_ || lane.head / options_.steps_per_epoch > lane.epoch;
}

LoaderSchedule::Next LoaderSchedule::peek(int device) const {
  const Lane& lane = lanes_[static_cast<std::size_t>(device)];
  if (stopped_) return Next::kStopped;
  if (at_end_of_epoch(lane)) {
    // The end of an epoch comes after the batches of every device, so a failure of any of them is
    // before it.
    const bool reached = !failure_ || failure_->sequence / options_.steps_per_epoch > lane.epoch;
    return reached ? Next::kEndOfEpoch : Next::kFailed;
  }
  if (!wanted({lane.head, device})) return Next::kFailed;
  const bool ready = !lane.slots.empty() && lane.slots.front() == Slot::kReady;
  return ready ? Next::kBatch : Next::kPending;
}

LoaderSchedule::Next LoaderSchedule::take(int device, BatchId* batch) {
  Lane& lane = lanes_[static_cast<std::size_t>(device)];
  const Next next = peek(device);
  if (next == Next::kEndOfEpoch &&
      lane.head < end_sequence_) {  // the last end is met again and again
    ++lane.epoch;
    offer_reserve(device);
  }
  if (next == Next::kBatch) {
    *batch = {lane.head, device};
    lane.slots.pop_front();
    ++lane.head;
    --lane.use.ready;
    uncharge_device(lane);
    offer_transfers(device);
    offer_reserve(device);
  }
  return next;
}

void LoaderSchedule::charge_host(Lane& lane) {
  lane.use.host_bytes += host_batch_bytes();
  host_bytes_ += host_batch_bytes();
  lane.use.peak_host_bytes = std::max(lane.use.peak_host_bytes, lane.use.host_bytes);
  peak_host_bytes_ = std::max(peak_host_bytes_, host_bytes_);
}

void LoaderSchedule::uncharge_host(Lane& lane, std::size_t bytes) {
  MILLRACE_DCHECK(lane.use.host_bytes >= bytes,
                  "no more host memory is given back than was charged");
  lane.use.host_bytes -= bytes;
  host_bytes_ -= bytes;
}

void LoaderSchedule::charge_device(Lane& lane) {
  lane.use.device_bytes += options_.device_batch_bytes;
  device_bytes_ += options_.device_batch_bytes;
  lane.use.peak_device_bytes = std::max(lane.use.peak_device_bytes, lane.use.device_bytes);
  peak_device_bytes_ = std::max(peak_device_bytes_, device_bytes_);
}

void LoaderSchedule::uncharge_device(Lane& lane) {
  lane.use.device_bytes -= options_.device_batch_bytes;
  device_bytes_ -= options_.device_batch_bytes;
}

void LoaderSchedule::stop() { stopped_ = true; }

LoaderSchedule::DeviceUse LoaderSchedule::use(int device) const {
  const Lane& lane = lanes_[static_cast<std::size_t>(device)];
  DeviceUse use = lane.use;
  use.begun = lane.slots.size();
  return use;
}

}  // namespace millrace::transfer
