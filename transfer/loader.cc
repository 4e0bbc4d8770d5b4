// LoaderCore: the way of a batch. Read next: loader_consumer.cc, then loader_schedule.h.
#include "millrace/transfer/loader_core.h"

#include <algorithm>
#include <string>

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
      queues_(devices_.size()) {
  const std::uint64_t first = schedule.first_epoch * schedule.steps_per_epoch + schedule.first_step;
  for (DeviceQueue& queue : queues_) queue.head = first;
  if (options_.trace == nullptr) return;
  trace_name_ = options_.trace->name("batch");
  for (int i = 0; i < kLoadStages; ++i) {
    const char* stage = to_string(static_cast<LoadStage>(i));
    trace_lanes_[static_cast<std::size_t>(i)] =
        options_.trace->lane(std::string("loader ") + stage);
  }
}

LoaderCore::BatchRef& LoaderCore::batch_at(const BatchId& id) {
  DeviceQueue& queue = of(id.device);
  return queue.batches[id.sequence - queue.head];
}

LoaderCore::BatchRef LoaderCore::new_batch(const BatchId& id) {
  auto batch = make_ref<LoadingBatch>();
  batch->id = id;
  batch->charge = make_ref<StagingCharge>(id.device);
  SourceBatch& source = *batch->source;
  source.epoch = id.sequence / plan_.steps_per_epoch();
  source.step = id.sequence % plan_.steps_per_epoch();
  source.shard = options_.shard_of_device[static_cast<std::size_t>(id.device)];
  batch->shard = plan_.shard(source.step, source.shard);
  batch->first_item = plan_.epoch(source.epoch).item(batch->shard.first);
  batch->ended = environment_.clock->now();
  of(id.device).batches.push_back(batch);
  return batch;
}

void LoaderCore::pump() {
  for (;;) {
    BatchRef batch;
    std::optional<Promise<void>> turn;
    AfterUnlock after;
    bool wanted = false;
    {
      MutexLock lock(mutex_);
      const std::optional<Start> start = schedule_.start();
      if (!start) return;
      batch =
          start->stage == LoadStage::kStaging ? new_batch(start->batch) : batch_at(start->batch);
      wanted = schedule_.wanted(start->batch);
      if (wanted) {
        turn = std::exchange(batch->turn, std::nullopt);
        begin(*batch, start->stage);
      } else {
        schedule_.finish_unwanted(*start);
        uncharge(*batch->charge);
        drop(start->batch, after);
        finish_close(after);
      }
    }
    if (!wanted) {
      carry_out(std::move(after));
    } else if (turn) {
      turn->set_value();
    } else {
      launch(batch);
    }
  }
}

void LoaderCore::begin(LoadingBatch& batch, LoadStage stage) {
  batch.stage = stage;
  batch.begun = environment_.clock->now();
  batch.running = true;
  StageStats& stats = stages_[static_cast<std::size_t>(stage)];
  stats.peak_running = std::max(stats.peak_running, ++stats.running);
}

void LoaderCore::launch(const BatchRef& batch) {
  // The block is asked for, and taken where it is there, here: so the requests, and the reads, keep
  // the order of the batches (LS-4).
  Future<void> turn = options_.pool->acquire(staging_bytes_, {.stop = stop_.get_token()})
                          .then(inline_executor(),
                                [self = Ref<LoaderCore>::share(this),
                                 batch](Result<StagingBlock> block) -> Future<void> {
                                  return self->ended(*batch, self->place(*batch, std::move(block)));
                                });
  spawn(*environment_.compute, load(batch, std::move(turn)))
      .then(inline_executor(),
            [self = Ref<LoaderCore>::share(this), batch](const Status& status) {
              // An executor has closed: the stage that it dropped ends with that error.
              if (!status) static_cast<void>(self->ended(*batch, status));
            })
      .ignore();
}

Task<void> LoaderCore::load(BatchRef batch, Future<void> turn) {
  // Continuations: they turn an exception of the source into an error.
  const auto read = [this, batch](const Status& mine) -> Future<void> {
    if (!mine) return mine.error();
    return ask_source(*batch, LoadStage::kRead);
  };
  const Status was_read = co_await std::move(turn).then(*environment_.blocking, read);
  turn = ended(*batch, was_read);
  if (!co_await std::move(turn)) co_return;

  const auto decode = [this, batch](const Status&) {
    return ask_source(*batch, LoadStage::kDecode);
  };
  const Status decoded = co_await make_ready().then(inline_executor(), decode);
  batch->source->raw.reset();
  turn = ended(*batch, decoded);
  if (!co_await std::move(turn)) co_return;

  const PooledVector<Future<PutResult>> puts = put(*batch);
  const Status handles = co_await when_all(puts);
  const Status arrived = co_await arrival(*batch, handles, puts);
  static_cast<void>(ended(*batch, arrived));
}

Status LoaderCore::place(LoadingBatch& batch, Result<StagingBlock> block) const {
  if (!block) return std::unexpected(block.error());
  block->map_for(devices_[static_cast<std::size_t>(batch.id.device)]);
  SourceBatch& source = *batch.source;
  const BatchPlan::Epoch order = plan_.epoch(source.epoch);
  source.items.reserve(static_cast<std::size_t>(batch.shard.rows));
  for (std::int64_t row = 0; row < batch.shard.rows; ++row) {
    source.items.push_back(order.item(batch.shard.first + static_cast<std::uint64_t>(row)));
  }
  const std::span<const Field> fields = source_->fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::size_t bytes = source.items.size() * fields[f].item.size_bytes();
    source.fields.push_back(block->bytes().subspan(field_offsets_[f], bytes));
  }
  source.memory = block->owner();
  return {};
}

Future<void> LoaderCore::ask_source(LoadingBatch& batch, LoadStage stage) {
  {
    MutexLock lock(mutex_);
    batch.begun = environment_.clock->now();
  }
  batch.source->working_on.reset();
  // A shard without rows (Remainder::kUneven) has nothing to read.
  if (batch.source->items.empty()) return make_ready();
  const std::stop_token stop = stop_.get_token();
  return stage == LoadStage::kRead ? source_->read(batch.source, stop)
                                   : source_->decode(batch.source, stop);
}

PooledVector<Future<PutResult>> LoaderCore::put(LoadingBatch& batch) const {
  SourceBatch& source = *batch.source;
  source.working_on.reset();
  const devices::Device& device = devices_[static_cast<std::size_t>(batch.id.device)];
  const HostBufferSemantics semantics = options_.zero_copy
                                            ? HostBufferSemantics::kImmutableZeroCopy
                                            : HostBufferSemantics::kImmutableUntilTransferCompletes;
  devices::PutOptions options;
  options.call.stop = stop_.get_token();
  const std::span<const Field> fields = source_->fields();
  PooledVector<Future<PutResult>> puts;
  puts.reserve(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    devices::HostView view;
    view.data = source.fields[f].data();
    view.shape = batch_shape(batch.shard.rows, fields[f].item);
    view.owner = source.memory;
    puts.push_back(device.put_borrowed(std::move(view), semantics, options));
  }
  // From here on the block is the device's: it returns to the pool when the device releases it.
  source.fields.clear();
  source.memory.reset();
  return puts;
}

// The handles are there, or one failed: completes when the bytes are, and frees the block in the
// budget when the device has.
Future<void> LoaderCore::arrival(LoadingBatch& batch, const Status& put,
                                 std::span<const Future<PutResult>> puts) {
  PooledVector<Future<void>> released;
  PooledVector<Future<void>> ready;
  for (const Future<PutResult>& future : puts) {
    const Result<PutResult>& result = future.result();
    if (!result) continue;
    released.push_back(result->source_released);
    ready.push_back(result->buffer.ready());
    batch.arrays.push_back(result->buffer);
  }
  auto free = [self = Ref<LoaderCore>::share(this), charge = batch.charge](const Status&) {
    {
      MutexLock lock(self->mutex_);
      self->uncharge(*charge);
    }
    self->pump();
  };
  static_cast<void>(when_all(released).then(*environment_.compute, std::move(free)));
  if (!put) return put.error();
  return when_all(ready);
}

Future<void> LoaderCore::ended(LoadingBatch& batch, const Status& status) {
  AfterUnlock after;
  Future<void> turn;
  {
    MutexLock lock(mutex_);
    if (!batch.running) return dropped_error();
    const Start stage{batch.stage, batch.id};
    account(batch);
    if (stage.stage != LoadStage::kTransfer) turn = batch.turn.emplace().future();
    if (!status) {
      if (schedule_.fail(stage)) set_failure(batch, status.error());
      drop(batch.id, after);
      drop_unwanted(after);
      for (int device = 0; device < static_cast<int>(queues_.size()); ++device)
        deliver(device, after);
    } else if (!schedule_.finish(stage)) {
      drop(batch.id, after);
    } else if (stage.stage == LoadStage::kTransfer) {
      deliver(batch.id.device, after);
    }
    finish_close(after);
  }
  carry_out(std::move(after));
  pump();
  return turn;
}

void LoaderCore::uncharge(StagingCharge& charge) {
  if (!std::exchange(charge.charged, false)) return;
  schedule_.release_staging(charge.device);
}

void LoaderCore::account(LoadingBatch& batch) {
  StageStats& stats = stages_[static_cast<std::size_t>(batch.stage)];
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
      batch.stage == LoadStage::kStaging
          ? 0
          : batch_flow(batch.id.sequence, static_cast<std::size_t>(batch.id.device),
                       devices_.size());
  options_.trace->record({.lane = trace_lanes_[static_cast<std::size_t>(batch.stage)],
                          .name = trace_name_,
                          .begin = batch.begun,
                          .end = now,
                          .flow = flow,
                          .value = static_cast<std::int64_t>(bytes)});
}

void LoaderCore::set_failure(const LoadingBatch& batch, const Error& error) {
  const FailedItem* named = error.detail<FailedItem>();
  const std::optional<std::uint64_t> item =
      named != nullptr ? std::optional(named->item) : batch.source->working_on;
  const LoadFailure failure{describe(batch), item};
  std::string context = "loading, " + to_string(failure);
  if (item) context += ", item " + std::to_string(*item);
  failure_ = error.with_context(context).with_detail(failure);
}

}  // namespace millrace::transfer
