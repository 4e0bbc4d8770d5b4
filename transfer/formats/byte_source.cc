#include "millrace/transfer/formats/byte_source.h"

#include <algorithm>
#include <cstring>

namespace millrace::transfer {

Error file_error(ErrorCode code, const FilePosition& position, std::string_view message,
                 std::source_location where) {
  std::string text = "reading " + position.file + " at byte " + std::to_string(position.offset);
  if (position.decompressed) text += " of its decompressed content";
  text += ": ";
  text += message;
  return Error(code, std::move(text), where).with_detail(position);
}

Result<std::size_t> MemorySource::read(std::span<std::byte> out) {
  const std::size_t count = std::min(out.size(), bytes_.size() - next_);
  if (count > 0) std::memcpy(out.data(), bytes_.data() + next_, count);
  next_ += count;
  return count;
}

}  // namespace millrace::transfer
