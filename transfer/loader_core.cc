// LoaderCore: how stages begin and end. Read next: loader_consumer.cc, then loader_schedule.h.
#include "millrace/transfer/loader_core.h"

#include <algorithm>
#include <string>

#include "millrace/core/combinators.h"

namespace millrace::transfer {

using devices::HostBufferSemantics;
using devices::PutResult;
using devices::Shape;

namespace {

Shape batch_shape(std::int64_t rows, const Shape& item) {
  std::array<std::int64_t, devices::kMaxRank + 1> dims{rows};
  std::ranges::copy(item.dims(), dims.begin() + 1);
  return Shape(item.dtype(), std::span(dims).first(item.dims().size() + 1));
}

}  // namespace

std::string to_string(const StageInFlight& stage) {
  return std::string(to_string(stage.stage)) + " of epoch " + std::to_string(stage.epoch) +
         ", step " + std::to_string(stage.step) + ", device " + std::to_string(stage.device) +
         " (from item " + std::to_string(stage.first_item) + ")";
}

LoaderCore::LoaderCore(const Environment& environment, std::shared_ptr<ItemSource> source,
                       std::vector<devices::Device> devices, LoaderOptions options,
                       const BatchPlan& plan, const LoaderSchedule::Options& schedule,
                       std::vector<std::size_t> field_offsets, std::size_t staging_bytes)
    : environment_(environment),
      source_(std::move(source)),
      devices_(std::move(devices)),
      options_(std::move(options)),
      plan_(plan),
      field_offsets_(std::move(field_offsets)),
      staging_bytes_(staging_bytes),
      schedule_(schedule),
      lanes_(devices_.size()) {
  const std::uint64_t first = schedule.first_epoch * schedule.steps_per_epoch + schedule.first_step;
  for (Lane& lane : lanes_) lane.head = first;
  if (options_.trace == nullptr) return;
  trace_name_ = options_.trace->name("batch");
  for (int i = 0; i < kLoadStages; ++i) {
    const char* stage = to_string(static_cast<LoadStage>(i));
    trace_lanes_[static_cast<std::size_t>(i)] =
        options_.trace->lane(std::string("loader ") + stage);
  }
}

LoaderCore::BatchRef LoaderCore::batch_to_start(const Start& start) {
  Lane& lane = lanes_[static_cast<std::size_t>(start.batch.device)];
  if (start.stage != LoadStage::kStaging) return lane.batches[start.batch.sequence - lane.head];
  auto batch = make_ref<LoadingBatch>();
  batch->id = start.batch;
  batch->charge = make_ref<StagingCharge>(start.batch.device);
  SourceBatch& source = *batch->source;
  source.epoch = start.batch.sequence / plan_.steps_per_epoch();
  source.step = start.batch.sequence % plan_.steps_per_epoch();
  source.shard = options_.shard_of_device[static_cast<std::size_t>(start.batch.device)];
  batch->shard = plan_.shard(source.step, source.shard);
  batch->first_item = plan_.epoch(source.epoch).item(batch->shard.first);
  batch->ended = environment_.clock->now();
  lane.batches.push_back(batch);
  return batch;
}

void LoaderCore::pump() {
  for (;;) {
    Start start;
    BatchRef batch;
    bool wanted = false;
    Outcome outcome;
    {
      MutexLock lock(mutex_);
      const std::optional<Start> next = schedule_.start();
      if (!next) return;
      start = *next;
      batch = batch_to_start(start);
      wanted = schedule_.wanted(start.batch);
      if (wanted) {
        batch->stage = start.stage;
        batch->begun = environment_.clock->now();
        batch->running = true;
        StageStats& stats = stages_[static_cast<std::size_t>(start.stage)];
        stats.peak_running = std::max(stats.peak_running, ++stats.running);
      } else {
        schedule_.finish_unwanted(start);
        uncharge(*batch->charge);
        drop(*batch, outcome);
        finish_close(outcome);
      }
    }
    if (wanted) {
      begin(start, batch);
    } else {
      carry_out(std::move(outcome));
    }
  }
}

void LoaderCore::begin(const Start& start, const BatchRef& batch) {
  switch (start.stage) {
    case LoadStage::kStaging:
      return begin_staging(start, batch);
    case LoadStage::kRead:
    case LoadStage::kDecode:
      return begin_source(start, batch);
    case LoadStage::kTransfer:
      return begin_transfer(start, batch);
  }
}

void LoaderCore::begin_staging(const Start& start, const BatchRef& batch) {
  SourceBatch& source = *batch->source;
  const BatchPlan::Epoch order = plan_.epoch(source.epoch);
  source.items.reserve(static_cast<std::size_t>(batch->shard.rows));
  for (std::int64_t row = 0; row < batch->shard.rows; ++row) {
    source.items.push_back(order.item(batch->shard.first + static_cast<std::uint64_t>(row)));
  }
  Future<StagingBlock> block = options_.pool->acquire(staging_bytes_, {.stop = stop_.get_token()});
  if (block.ready()) {  // without a detour, so that batches reach their reads in order
    settle(start, batch, place(*batch, block.take()));
    return;
  }
  auto wait = [self = Ref<LoaderCore>::share(this), start, batch](Result<StagingBlock> block) {
    self->ended(start, batch, self->place(*batch, std::move(block)));
  };
  static_cast<void>(block.then(*environment_.compute, std::move(wait)));
}

Status LoaderCore::place(LoadingBatch& batch, Result<StagingBlock> block) const {
  if (!block) return std::unexpected(block.error());
  block->map_for(devices_[static_cast<std::size_t>(batch.id.device)]);
  SourceBatch& source = *batch.source;
  const std::span<const Field> fields = source_->fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::size_t bytes = source.items.size() * fields[f].item.size_bytes();
    source.fields.push_back(block->bytes().subspan(field_offsets_[f], bytes));
  }
  source.memory = block->owner();
  return {};
}

void LoaderCore::begin_source(const Start& start, const BatchRef& batch) {
  const bool read = start.stage == LoadStage::kRead;
  auto work = [self = Ref<LoaderCore>::share(this), batch, read](const Status&) -> Future<void> {
    self->mark_begun(*batch);
    // A shard without rows (Remainder::kUneven) has nothing to read.
    if (batch->source->items.empty()) return make_ready();
    const std::stop_token stop = self->stop_.get_token();
    return read ? self->source_->read(batch->source, stop)
                : self->source_->decode(batch->source, stop);
  };
  auto done = [self = Ref<LoaderCore>::share(this), start, batch, read](const Status& status) {
    if (!read) batch->source->raw.reset();
    self->ended(start, batch, status);
  };
  Executor& executor = read ? *environment_.blocking : *environment_.compute;
  // then() turns an exception of the source into an error.
  static_cast<void>(
      make_ready().then(executor, std::move(work)).then(*environment_.compute, std::move(done)));
}

void LoaderCore::begin_transfer(const Start& start, const BatchRef& batch) {
  SourceBatch& source = *batch->source;
  const devices::Device& device = devices_[static_cast<std::size_t>(start.batch.device)];
  devices::PutOptions put;
  put.semantics = options_.zero_copy ? HostBufferSemantics::kImmutableZeroCopy
                                     : HostBufferSemantics::kImmutableUntilTransferCompletes;
  put.call.stop = stop_.get_token();
  const std::span<const Field> fields = source_->fields();
  PooledVector<Future<PutResult>> puts;
  puts.reserve(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    devices::HostView view;
    view.data = source.fields[f].data();
    view.shape = batch_shape(batch->shard.rows, fields[f].item);
    view.owner = source.memory;
    puts.push_back(device.put_tracked(std::move(view), put));
  }
  // From here on the block is the device's: it goes back to the pool when the device lets go of it.
  source.fields.clear();
  source.memory.reset();
  auto all = when_all(puts);
  auto watch = [self = Ref<LoaderCore>::share(this), batch, puts = std::move(puts)](
                   const Status& status) { return self->watch_transfer(batch, status, puts); };
  auto done = [self = Ref<LoaderCore>::share(this), start, batch](const Status& status) {
    self->ended(start, batch, status);
  };
  static_cast<void>(all.then(*environment_.compute, std::move(watch))
                        .then(*environment_.compute, std::move(done)));
}

// The handles are there, or one failed: waits for the bytes, and tells when the block is free.
Future<void> LoaderCore::watch_transfer(const BatchRef& batch, const Status& put,
                                        std::span<const Future<PutResult>> puts) {
  PooledVector<Future<void>> released;
  PooledVector<Future<void>> ready;
  for (const Future<PutResult>& future : puts) {
    const Result<PutResult>& result = future.result();
    if (!result) continue;
    released.push_back(result->source_released);
    ready.push_back(result->buffer.ready());
    batch->arrays.push_back(result->buffer);
  }
  auto free = [self = Ref<LoaderCore>::share(this), charge = batch->charge](const Status&) {
    self->staging_released(*charge);
  };
  static_cast<void>(when_all(released).then(*environment_.compute, std::move(free)));
  if (!put) return std::unexpected(put.error());
  return when_all(ready);
}

void LoaderCore::mark_begun(LoadingBatch& batch) {
  MutexLock lock(mutex_);
  batch.begun = environment_.clock->now();
}

void LoaderCore::ended(const Start& start, const BatchRef& batch, const Status& status) {
  settle(start, batch, status);
  pump();
}

void LoaderCore::settle(const Start& start, const BatchRef& batch, const Status& status) {
  Outcome outcome;
  {
    MutexLock lock(mutex_);
    account(start, *batch);
    if (!status) {
      if (schedule_.fail(start)) set_failure(start, *batch, status.error());
      drop(*batch, outcome);
      drop_unwanted(outcome);
      for (int device = 0; device < static_cast<int>(lanes_.size()); ++device)
        deliver(device, outcome);
    } else if (!schedule_.finish(start)) {
      drop(*batch, outcome);
    } else if (start.stage == LoadStage::kTransfer) {
      deliver(start.batch.device, outcome);
    }
    finish_close(outcome);
  }
  carry_out(std::move(outcome));
}

void LoaderCore::staging_released(StagingCharge& charge) {
  {
    MutexLock lock(mutex_);
    uncharge(charge);
  }
  pump();
}

void LoaderCore::uncharge(StagingCharge& charge) {
  if (!std::exchange(charge.charged, false)) return;
  schedule_.release_staging(charge.device);
}

void LoaderCore::account(const Start& start, LoadingBatch& batch) {
  StageStats& stats = stages_[static_cast<std::size_t>(start.stage)];
  const TimePoint now = environment_.clock->now();
  stats.busy += now - batch.begun;
  stats.waited += batch.begun - batch.ended;
  batch.ended = now;
  batch.running = false;
  --stats.running;
  ++stats.batches;
  std::size_t bytes = 0;
  for (const Field& field : source_->fields()) {
    bytes += static_cast<std::size_t>(batch.shard.rows) * field.item.size_bytes();
  }
  stats.bytes += bytes;
  if (options_.trace == nullptr) return;
  // Waiting for memory is not yet a part of the batch's way.
  const std::uint64_t flow =
      start.stage == LoadStage::kStaging
          ? 0
          : batch_flow(batch.id.sequence, static_cast<std::size_t>(batch.id.device),
                       devices_.size());
  options_.trace->record({.lane = trace_lanes_[static_cast<std::size_t>(start.stage)],
                          .name = trace_name_,
                          .begin = batch.begun,
                          .end = now,
                          .flow = flow,
                          .value = static_cast<std::int64_t>(bytes)});
}

void LoaderCore::set_failure(const Start& start, const LoadingBatch& batch, const Error& error) {
  const FailedItem* item = error.detail<FailedItem>();
  const StageInFlight stage = describe(start.stage, batch);
  LoadFailure failure{.stage = start.stage,
                      .epoch = stage.epoch,
                      .step = stage.step,
                      .device = stage.device,
                      .item = item != nullptr ? item->item : stage.first_item};
  std::string context = "loading, " + to_string(stage);
  if (item != nullptr) context += ", item " + std::to_string(item->item);
  failure_ = error.with_context(context).with_detail(failure);
}

}  // namespace millrace::transfer
