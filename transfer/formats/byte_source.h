// ByteSource: where the parsers of this folder get their bytes from, and how their errors name the
// place. A file, a block of memory, or the inflated content of another source (gzip.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"

namespace millrace::transfer {

// Attached to every error of a reader as a typed detail.
struct FilePosition {
  std::string file;
  std::uint64_t offset = 0;   // in bytes
  bool decompressed = false;  // offset counts the inflated bytes, not those on disk
};

// "reading FILE at byte N: message", with FilePosition attached.
Error file_error(ErrorCode code, const FilePosition& position, std::string_view message,
                 std::source_location where = std::source_location::current());

// A stream of bytes with a name, read once from front to back. Thread-safety: confined.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills the front of out and says how many bytes; fewer than out.size() only at the end.
  virtual Result<std::size_t> read(std::span<std::byte> out) = 0;
  // The position of byte `offset` of this stream.
  virtual FilePosition position(std::uint64_t offset) const = 0;
  // No more than this many bytes can come, as far as is known without reading them.
  virtual std::optional<std::uint64_t> size_limit() const = 0;
};

// fail() at byte `offset` of source.
std::unexpected<Error> fail_at(const ByteSource& source, std::uint64_t offset, ErrorCode code,
                               std::string_view message,
                               std::source_location where = std::source_location::current());
// The elements of shape, which end source, of which the header was read: kDataLoss if there are
// fewer or more. Takes memory only where source can be that long.
Result<devices::HostArray> read_elements(ByteSource& source, std::uint64_t header_bytes,
                                         const devices::Shape& shape);
// Reverses the bytes of every element of that width.
void swap_bytes(std::span<std::byte> bytes, std::size_t width);

// A view of memory that outlives the source.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::span<const std::byte> bytes)
      : name_(std::move(name)), bytes_(bytes) {}

  Result<std::size_t> read(std::span<std::byte> out) override;
  FilePosition position(std::uint64_t offset) const override { return {name_, offset, false}; }
  std::optional<std::uint64_t> size_limit() const override { return bytes_.size(); }

 private:
  std::string name_;
  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
};

}  // namespace millrace::transfer
