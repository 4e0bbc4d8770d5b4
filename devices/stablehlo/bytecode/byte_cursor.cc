#include "millrace/devices/stablehlo/bytecode/byte_cursor.h"

#include <bit>
#include <cstring>

namespace millrace::devices::stablehlo::bytecode {

bool Problem::fail(std::size_t offset, const std::string& message, ErrorCode code) {
  if (error_) return false;
  const std::string op = op_.empty() ? std::string() : std::string(op_.substr(0, 80)) + ": ";
  error_ = Error(code, "byte " + std::to_string(offset) + ": " + op + message);
  return false;
}

bool ByteCursor::byte(std::uint8_t* out) {
  if (at_end()) return fail("the bytecode ends where more is expected");
  *out = static_cast<std::uint8_t>(file_[at_++]);
  return true;
}

bool ByteCursor::varint(std::uint64_t* out) {
  std::uint8_t first = 0;
  if (!byte(&first)) return false;
  if ((first & 1) != 0) {
    *out = first >> 1;
    return true;
  }
  // Eight bytes follow a zero, and no bit of it counts.
  const int more = first == 0 ? 8 : std::countr_zero(first);
  if (remaining() < static_cast<std::size_t>(more))
    return fail("a number whose bytes are not all there");
  std::uint64_t rest = 0;
  std::memcpy(&rest, file_.data() + at_, static_cast<std::size_t>(more));
  at_ += static_cast<std::size_t>(more);
  if constexpr (std::endian::native == std::endian::big) rest = std::byteswap(rest);
  if (first == 0) {
    *out = rest;
  } else {
    *out = rest << (7 - more) | static_cast<std::uint64_t>(first) >> (more + 1);
  }
  return true;
}

bool ByteCursor::svarint(std::int64_t* out) {
  std::uint64_t raw = 0;
  if (!varint(&raw)) return false;
  *out = static_cast<std::int64_t>(raw >> 1 ^ (0 - (raw & 1)));
  return true;
}

bool ByteCursor::flagged(std::uint64_t* out, bool* flag) {
  std::uint64_t raw = 0;
  if (!varint(&raw)) return false;
  *out = raw >> 1;
  *flag = (raw & 1) != 0;
  return true;
}

bool ByteCursor::count(std::size_t* out) {
  const std::size_t begin = at_;
  std::uint64_t raw = 0;
  if (!varint(&raw)) return false;
  if (raw > remaining()) {
    return problem_->fail(begin, "a count of " + std::to_string(raw) + ", but " +
                                     std::to_string(remaining()) + " bytes are left");
  }
  *out = static_cast<std::size_t>(raw);
  return true;
}

bool ByteCursor::reference(std::string_view what, std::size_t size, std::size_t* out) {
  std::uint64_t raw = 0;
  if (!varint(&raw) || !check_reference(what, size, raw)) return false;
  *out = static_cast<std::size_t>(raw);
  return true;
}

bool ByteCursor::check_reference(std::string_view what, std::size_t size, std::uint64_t number) {
  return number < size || fail("a reference to " + std::string(what) + " " +
                               std::to_string(number) + " of " + std::to_string(size));
}

bool ByteCursor::svarints(std::vector<std::int64_t>* out) {
  std::size_t n = 0;
  if (!count(&n)) return false;
  out->reserve(n);
  for (; n != 0; --n) {
    std::int64_t value = 0;
    if (!svarint(&value)) return false;
    out->push_back(value);
  }
  return true;
}

bool ByteCursor::range(std::uint64_t size, Range* out) {
  if (size > remaining()) {
    return fail("a part of " + std::to_string(size) + " bytes, but " + std::to_string(remaining()) +
                " are left");
  }
  *out = {at_, static_cast<std::size_t>(size)};
  at_ += out->size;
  return true;
}

bool ByteCursor::zero_terminated(std::string_view* out) {
  const std::string_view rest = text({at_, remaining()});
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return fail("a text without its end");
  *out = rest.substr(0, end);
  at_ += end + 1;
  return true;
}

bool ByteCursor::align(std::uint64_t alignment) {
  if (alignment == 0 || !std::has_single_bit(alignment))
    return fail("an alignment of " + std::to_string(alignment) + ", expected a power of two");
  const std::size_t over = at_ & static_cast<std::size_t>(alignment - 1);
  Range padding;
  return over == 0 || range(alignment - over, &padding);
}

}  // namespace millrace::devices::stablehlo::bytecode
