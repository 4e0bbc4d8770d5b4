// ByteCursor: bounds-checked steps over the bytes of MLIR bytecode, and Problem, the first error of
// one reading. A step that fails records why and returns false; the caller returns false at once.
// Read next: container.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// Thread-safety: confined.
class Problem {
 public:
  // Records the first error, "byte N: [op: ]message", and returns false.
  bool fail(std::size_t offset, const std::string& message,
            ErrorCode code = ErrorCode::kInvalidArgument);
  // The operation that is being read, for messages.
  void set_op(std::string_view name) { op_ = name; }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view op_;
  std::optional<Error> error_;
};

// Thread-safety: confined.
class ByteCursor {
 public:
  // Over `range` of `file`, which outlives the cursor; the range lies in the file.
  ByteCursor(Problem& problem, std::span<const std::byte> file, Range range)
      : problem_(&problem), file_(file), at_(range.begin), end_(range.begin + range.size) {}

  std::size_t offset() const { return at_; }
  std::size_t remaining() const { return end_ - at_; }
  bool at_end() const { return at_ == end_; }

  bool byte(std::uint8_t* out);
  // The prefix form: as many trailing zero bits in the first byte as bytes follow it.
  bool varint(std::uint64_t* out);
  // The same with the sign in the lowest bit (zigzag).
  bool svarint(std::int64_t* out);
  // A number and, in its lowest bit, a flag.
  bool flagged(std::uint64_t* out, bool* flag);
  // A number of things that take at least one byte each of what is left: it may size an allocation.
  bool count(std::size_t* out);
  // The number of one of `size` things.
  bool reference(std::string_view what, std::size_t size, std::size_t* out);
  bool check_reference(std::string_view what, std::size_t size, std::uint64_t number);
  bool svarints(std::vector<std::int64_t>* out);
  bool range(std::uint64_t size, Range* out);
  // Text up to a zero byte, which is stepped over.
  bool zero_terminated(std::string_view* out);
  bool align(std::uint64_t alignment);

  bool fail(const std::string& message) { return problem_->fail(at_, message); }
  std::string_view text(Range range) const {
    return {reinterpret_cast<const char*>(file_.data()) + range.begin, range.size};
  }
  std::span<const std::byte> bytes(Range range) const {
    return file_.subspan(range.begin, range.size);
  }

 private:
  Problem* problem_;
  std::span<const std::byte> file_;
  std::size_t at_;
  std::size_t end_;
};

}  // namespace millrace::devices::stablehlo::bytecode
