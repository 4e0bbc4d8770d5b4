// ItemSource: where the items of a data set come from. Implemented by users and by array_source.h
// (arrays in memory, IDX files) and fake_source.h (generated). The loader calls it
// from many tasks at once. Read next: device_loader.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/async/future.h"
#include "millrace/devices/buffer.h"

namespace millrace::transfer {

// One array that every item has: {"images", tensor<28x28x1xui8>}. A batch has its rows in front.
struct Field {
  std::string name = {};
  devices::Shape item = {};
};

// One batch on its way through read and decode. Every call that works on it shares it: one that the
// loader gave up still writes into valid memory. Thread-safety: confined to one stage at a time.
struct SourceBatch : RefCounted, Pooled {
  PooledVector<std::uint64_t> items = {};  // one index per row, padding rows included
  // Per field: rows * item bytes, dense; read or decode fills them.
  PooledVector<std::span<std::byte>> fields = {};
  std::shared_ptr<void> raw = {};  // from read to decode: the source's own
  // The item in work: a source that sets it need not attach FailedItem, nor catch what its calls
  // throws. The loader empties it between the stages.
  std::optional<std::uint64_t> working_on = {};
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  int shard = 0;
  devices::Owner memory = {};  // of fields
};

// Attached by a source to an error that one item caused.
struct FailedItem {
  std::uint64_t item = 0;
};

// Thread-safety: thread-safe; calls for different batches run at the same time. Lives until the
// last of its calls has ended, which may be after the loader was closed.
class ItemSource {
 public:
  virtual ~ItemSource() = default;

  virtual std::uint64_t items() const = 0;
  virtual std::span<const Field> fields() const = 0;
  // Identifies this data, in words that people can compare: a training that resumes a checkpoint
  // must have the same. This default distinguishes data by numbers and sizes alone. May read the
  // data: called on the blocking executor.
  virtual std::string fingerprint() const { return size_text(); }
  // The most bytes per item that `raw` holds between read and decode, for the loader's budget.
  virtual std::size_t raw_item_bytes() const { return 0; }

  // First stage: runs on the blocking executor. May complete later; should heed stop.
  virtual Future<void> read(const Ref<SourceBatch>& batch, std::stop_token stop) = 0;
  // Second stage: runs on the compute executor and must not block it. A source may leave it out.
  virtual Future<void> decode(const Ref<SourceBatch>& batch, std::stop_token stop);

 protected:
  // "60000 items of images 28x28xui8, labels ui8".
  std::string size_text() const;
};

inline Future<void> ItemSource::decode(const Ref<SourceBatch>&, std::stop_token) {
  return make_ready();
}

// The CRC-32 of rows that lie one after the other, as eight hexadecimal digits: of all bytes up to
// 1 MiB of them, else of rows that are spread evenly over them, first and last included: 1 MiB or
// 16 rows, whichever is more. Data that differs in other rows only passes for the same.
std::string sampled_crc32(std::span<const std::byte> bytes, std::size_t row_bytes);

}  // namespace millrace::transfer
