#include "millrace/transfer/batch_work.h"

#include <algorithm>
#include <array>

namespace millrace::transfer {

using devices::HostBufferSemantics;
using devices::Shape;

namespace {

Shape batch_shape(std::int64_t rows, const Shape& item) {
  std::array<std::int64_t, devices::kMaxRank + 1> dims{rows};
  std::ranges::copy(item.dims(), dims.begin() + 1);
  return Shape(item.dtype(), std::span(dims).first(item.dims().size() + 1));
}

}  // namespace

std::size_t BatchWork::bytes(std::int64_t rows) const {
  std::size_t bytes = 0;
  for (const Field& field : parts_.source->fields())
    bytes += static_cast<std::size_t>(rows) * field.item.size_bytes();
  return bytes;
}

DeviceBatch BatchWork::planned(const BatchId& id) const {
  const std::uint64_t epoch = id.sequence / plan().steps_per_epoch();
  const std::uint64_t step = id.sequence % plan().steps_per_epoch();
  const Shard shard = plan().shard(epoch, step, shard_of(id.device));
  return {.rows = shard.rows,
          .valid = shard.valid,
          .epoch = epoch,
          .step = step,
          .sequence = id.sequence,
          .first_item = plan().epoch(epoch).item(shard.first),
          .device = id.device};
}

Future<StagingBlock> BatchWork::reserve() const {
  return options().pool->acquire(parts_.staging_bytes, {.stop = stop_.get_token()});
}

Ref<SourceBatch> BatchWork::place(const DeviceBatch& batch, const StagingBlock& block) const {
  block.map_for(device_of(batch));
  auto source = make_ref<SourceBatch>();
  source->epoch = batch.epoch;
  source->step = batch.step;
  source->shard = shard_of(batch.device);
  const std::uint64_t first = plan().shard(batch.epoch, batch.step, source->shard).first;
  const BatchPlan::Epoch order = plan().epoch(batch.epoch);
  source->items.reserve(static_cast<std::size_t>(batch.rows));
  for (std::int64_t row = 0; row < batch.rows; ++row)
    source->items.push_back(order.item(first + static_cast<std::uint64_t>(row)));
  const std::span<const Field> fields = parts_.source->fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::size_t bytes = source->items.size() * fields[f].item.size_bytes();
    source->fields.push_back(block.bytes().subspan(parts_.field_offsets[f], bytes));
  }
  source->memory = block.owner();
  return source;
}

// A shard without rows (Remainder::kUneven) has nothing to read.
Future<void> BatchWork::read(const Ref<SourceBatch>& batch) const {
  batch->working_on.reset();
  return batch->items.empty() ? make_ready() : parts_.source->read(batch, stop_.get_token());
}

Future<void> BatchWork::decode(const Ref<SourceBatch>& batch) const {
  batch->working_on.reset();
  return batch->items.empty() ? make_ready() : parts_.source->decode(batch, stop_.get_token());
}

BatchWork::Puts BatchWork::put(SourceBatch& source, const DeviceBatch& batch) const {
  source.working_on.reset();
  const HostBufferSemantics semantics = options().zero_copy
                                            ? HostBufferSemantics::kImmutableZeroCopy
                                            : HostBufferSemantics::kImmutableUntilTransferCompletes;
  devices::PutOptions put;
  put.call.stop = stop_.get_token();
  const std::span<const Field> fields = parts_.source->fields();
  Puts puts;
  puts.reserve(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    devices::HostView view;
    view.data = source.fields[f].data();
    view.shape = batch_shape(batch.rows, fields[f].item);
    view.owner = source.memory;
    puts.push_back(device_of(batch).put_borrowed(std::move(view), semantics, put));
  }
  source.fields.clear();
  source.memory.reset();
  return puts;
}

}  // namespace millrace::transfer
