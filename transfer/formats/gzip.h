// GzipSource: the inflated content of a gzip file (RFC 1952) as a stream, in bounded memory.
// Several members in a row are one content, as RFC 1952 has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "millrace/core/base/error.h"
#include "millrace/transfer/formats/byte_source.h"

namespace millrace::transfer {

// The two bytes that every gzip file starts with.
bool is_gzip(std::span<const std::byte> prefix);

// Errors are kDataLoss and name the byte on disk: the file ends inside a member (truncated), a
// checksum or a code is wrong (corrupt), or something that is no member follows the last one.
// Sticky: after an error every read gives it again. Memory: about 110 KB. Thread-safety: confined.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> compressed);
  ~GzipSource() override;

  // Bytes are given out before the checksum over them is known: a read of 0 has proved them all.
  Result<std::size_t> read(std::span<std::byte> out) override;
  // Offsets count inflated bytes.
  FilePosition position(std::uint64_t offset) const override;
  // From the size on disk: deflate makes at most 1032 bytes of one.
  std::optional<std::uint64_t> size_limit() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::transfer
