#include "millrace/transfer/idx_source.h"

#include <cstring>

namespace millrace::transfer {

using devices::DType;
using devices::Shape;

IdxSource::IdxSource(IdxDataset dataset)
    : dataset_(std::move(dataset)),
      fields_{Field{"images", dataset_.row_shape()}, Field{"labels", Shape(DType::kU8, {})}} {}

std::string IdxSource::fingerprint() const {
  const std::span<const std::byte> labels = dataset_.labels();  // as one row: all of them
  return size_text() + "; crc32 of labels " + sampled_crc32(labels, labels.size()) +
         ", of sampled images " + sampled_crc32(dataset_.images(), dataset_.row_bytes());
}

Future<void> IdxSource::read(const Ref<SourceBatch>& batch, std::stop_token stop) {
  std::byte* out = batch->fields[0].data();
  for (const std::uint64_t item : batch->items) {
    if (stop.stop_requested())
      return fail(ErrorCode::kCancelled, "stopped on request while reading images");
    const std::span<const std::byte> row = dataset_.row(static_cast<std::int64_t>(item));
    std::memcpy(out, row.data(), row.size());
    out += row.size();
  }
  return make_ready();
}

Future<void> IdxSource::decode(const Ref<SourceBatch>& batch, std::stop_token) {
  std::byte* out = batch->fields[1].data();
  for (const std::uint64_t item : batch->items) {
    *out++ = std::byte{dataset_.label(static_cast<std::int64_t>(item))};
  }
  return make_ready();
}

}  // namespace millrace::transfer
