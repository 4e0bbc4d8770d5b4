// ByteCursor: bounds-checked steps over the bytes of MLIR bytecode. A step that fails throws an
// Error: read_bytecode.cc alone catches it, and nothing outside of this folder sees it. Read next:
// container.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::devices::stablehlo::bytecode {

// How deep attributes with their types and regions may nest, each; printed, such a program is still
// within what the reader of text allows.
inline constexpr int kMaxDepth = 60;

// A part of the file.
struct Range {
  std::size_t begin = 0;
  std::size_t size = 0;
};

// The bytes of a file, which outlive it, and what the errors of its reading have in common.
// Thread-safety: confined.
class File {
 public:
  explicit File(std::string_view bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size(); }
  std::string_view text(Range range) const { return bytes_.substr(range.begin, range.size); }
  // The operation that is being read, for messages.
  void set_op(std::string_view name) { op_ = name; }
  // Throws the error "byte N: [op: ]message".
  [[noreturn]] void fail(std::size_t offset, const std::string& message,
                         ErrorCode code = ErrorCode::kInvalidArgument) const;

 private:
  std::string_view bytes_;
  std::string_view op_;
};

// A number with a flag in its lowest bit.
struct Flagged {
  std::uint64_t number;
  bool flag;
};

// Thread-safety: confined.
class ByteCursor {
 public:
  // The range lies in the file, which outlives the cursor.
  ByteCursor(const File& file, Range range)
      : file_(&file), at_(range.begin), end_(range.begin + range.size) {}

  std::size_t offset() const { return at_; }
  std::size_t remaining() const { return end_ - at_; }
  bool at_end() const { return at_ == end_; }

  std::uint8_t byte();
  // The prefix form: as many trailing zero bits in the first byte as bytes follow it.
  std::uint64_t varint();
  // The same with the sign in the lowest bit (zigzag).
  std::int64_t svarint();
  Flagged flagged();
  // The same with the flag in newer formats only; else the flag is `otherwise`.
  Flagged flagged_if(bool newer, bool otherwise = false);
  // A number of things that take at least one byte each of what is left: it may size an allocation.
  std::size_t count();
  // As many values as a count says, each from read().
  template <class Read>
  auto list(Read read) {
    std::vector<std::invoke_result_t<Read>> values;
    std::size_t n = count();
    values.reserve(n);
    for (; n != 0; --n) values.push_back(read());
    return values;
  }
  std::vector<std::int64_t> svarints();
  // The number of one of `size` things.
  std::size_t reference(std::string_view what, std::size_t size);
  std::size_t check_reference(std::string_view what, std::size_t size, std::uint64_t number) const;
  // The next bytes, which are stepped over.
  Range range(std::uint64_t size);
  std::span<const std::byte> bytes(std::uint64_t size) {
    return std::as_bytes(std::span(file_->text(range(size))));
  }
  // Text up to a zero byte, which is stepped over.
  std::string_view zero_terminated();
  void align(std::uint64_t alignment);

  [[noreturn]] void fail(const std::string& message) const { file_->fail(at_, message); }

 private:
  const File* file_;
  std::size_t at_;
  std::size_t end_;
};

}  // namespace millrace::devices::stablehlo::bytecode
