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

std::unexpected<Error> fail_at(const ByteSource& source, std::uint64_t offset, ErrorCode code,
                               std::string_view message, std::source_location where) {
  return std::unexpected(file_error(code, source.position(offset), message, where));
}

Result<devices::HostArray> read_elements(ByteSource& source, std::uint64_t header_bytes,
                                         const devices::Shape& shape) {
  const std::size_t size = shape.size_bytes();
  const std::uint64_t want = header_bytes + size;
  const std::string asked = "its header asks for " + std::to_string(want) + " bytes";
  if (const auto limit = source.size_limit(); limit && *limit < want) {
    if (!source.position(0).decompressed)
      return fail_at(source, *limit, ErrorCode::kDataLoss, "truncated: " + asked);
    return fail_at(source, header_bytes, ErrorCode::kDataLoss,
                   asked + ", more than so few compressed ones can give");
  }
  devices::HostArray array = devices::HostArray::make_unwritten(shape);
  MILLRACE_TRY(const std::size_t count, source.read(array.mutable_bytes()));
  if (count < size)
    return fail_at(source, header_bytes + count, ErrorCode::kDataLoss, "truncated: " + asked);
  std::byte beyond = {};
  MILLRACE_TRY(const std::size_t extra, source.read(std::span(&beyond, 1)));
  if (extra == 0) return array;
  return fail_at(source, want, ErrorCode::kDataLoss,
                 "oversized: bytes follow the last element that its header counts");
}

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  for (std::byte* p = bytes.data(); p != bytes.data() + bytes.size(); p += width)
    std::reverse(p, p + width);
}

Result<std::size_t> MemorySource::read(std::span<std::byte> out) {
  const std::size_t count = std::min(out.size(), bytes_.size() - next_);
  if (count > 0) std::memcpy(out.data(), bytes_.data() + next_, count);
  next_ += count;
  return count;
}

}  // namespace millrace::transfer
