#include "millrace/transfer/array_source.h"

#include <cstring>

namespace millrace::transfer {

Result<std::shared_ptr<ArraySource>> ArraySource::create(
    std::vector<std::pair<std::string, devices::HostArray>> arrays) {
  std::shared_ptr<ArraySource> source(new ArraySource);
  if (arrays.empty())
    return fail(ErrorCode::kInvalidArgument, "making a source: there is no array");
  for (auto& [name, array] : arrays) {
    const devices::Shape& shape = array.shape();
    if (shape.rank() == 0) {
      return fail(
          ErrorCode::kInvalidArgument,
          "making a source: array '" + name + "' is a scalar and has no dimension for the items");
    }
    const auto items = static_cast<std::uint64_t>(shape.dim(0));
    if (!source->fields_.empty() && items != source->items_) {
      return fail(ErrorCode::kInvalidArgument, "making a source: array '" + name + "' has " +
                                                   std::to_string(items) + " items where '" +
                                                   source->fields_.front().name + "' has " +
                                                   std::to_string(source->items_));
    }
    source->items_ = items;
    source->fields_.push_back({name, devices::Shape(shape.dtype(), shape.dims().subspan(1))});
    source->arrays_.push_back(std::move(array));
  }
  return source;
}

std::string ArraySource::fingerprint() const {
  std::string text = size_text();
  const char* between = "; crc32 of ";
  for (const bool scalars : {true, false}) {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if ((fields_[f].item.rank() == 0) != scalars) continue;
      const std::span<const std::byte> bytes = arrays_[f].bytes();
      // Scalars as one row: all of them.
      const std::size_t row = scalars ? bytes.size() : fields_[f].item.size_bytes();
      text += std::exchange(between, ", of ") + std::string(scalars ? "" : "sampled ");
      text += fields_[f].name + " " + sampled_crc32(bytes, row);
    }
  }
  return text;
}

Future<void> ArraySource::read(const Ref<SourceBatch>& batch, std::stop_token stop) {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const std::size_t bytes = fields_[f].item.size_bytes();
    if (bytes == 0) continue;
    std::byte* out = batch->fields[f].data();
    for (const std::uint64_t item : batch->items) {
      if (stop.stop_requested())
        return fail(ErrorCode::kCancelled, "stopped on request while copying rows");
      std::memcpy(out, arrays_[f].bytes().data() + item * bytes, bytes);
      out += bytes;
    }
  }
  return make_ready();
}

}  // namespace millrace::transfer
