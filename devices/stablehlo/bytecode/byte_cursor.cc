#include "millrace/devices/stablehlo/bytecode/byte_cursor.h"

#include <bit>
#include <cstring>

namespace millrace::devices::stablehlo::bytecode {

void File::fail(std::size_t offset, const std::string& message, ErrorCode code) const {
  const std::string op = op_.empty() ? std::string() : std::string(op_.substr(0, 80)) + ": ";
  throw Error(code, "byte " + std::to_string(offset) + ": " + op + message);
}

std::uint8_t ByteCursor::byte() {
  if (at_end()) fail("the bytecode ends where more is expected");
  return static_cast<std::uint8_t>(file_->text({at_++, 1})[0]);
}

std::uint64_t ByteCursor::varint() {
  const std::uint8_t first = byte();
  if ((first & 1) != 0) return first >> 1;
  // Eight bytes follow a zero, and no bit of it counts.
  const auto more = static_cast<std::size_t>(first == 0 ? 8 : std::countr_zero(first));
  if (remaining() < more) fail("a number whose bytes are not all there");
  std::uint64_t rest = 0;
  std::memcpy(&rest, file_->text(range(more)).data(), more);
  if constexpr (std::endian::native == std::endian::big) rest = std::byteswap(rest);
  return first == 0 ? rest : rest << (7 - more) | static_cast<std::uint64_t>(first) >> (more + 1);
}

std::int64_t ByteCursor::svarint() {
  const std::uint64_t raw = varint();
  return static_cast<std::int64_t>(raw >> 1 ^ (0 - (raw & 1)));
}

Flagged ByteCursor::flagged() {
  const std::uint64_t raw = varint();
  return {raw >> 1, (raw & 1) != 0};
}

Flagged ByteCursor::flagged_if(bool newer, bool otherwise) {
  return newer ? flagged() : Flagged{varint(), otherwise};
}

std::size_t ByteCursor::count() {
  const std::size_t begin = at_;
  const std::uint64_t number = varint();
  if (number > remaining()) {
    file_->fail(begin, "a count of " + std::to_string(number) + ", but " +
                           std::to_string(remaining()) + " bytes are left");
  }
  return static_cast<std::size_t>(number);
}

std::vector<std::int64_t> ByteCursor::svarints() {
  return list([this] { return svarint(); });
}

std::size_t ByteCursor::reference(std::string_view what, std::size_t size) {
  return check_reference(what, size, varint());
}

std::size_t ByteCursor::check_reference(std::string_view what, std::size_t size,
                                        std::uint64_t number) const {
  if (number >= size) {
    fail("a reference to " + std::string(what) + " " + std::to_string(number) + " of " +
         std::to_string(size));
  }
  return static_cast<std::size_t>(number);
}

Range ByteCursor::range(std::uint64_t size) {
  if (size > remaining()) {
    fail("a part of " + std::to_string(size) + " bytes, but " + std::to_string(remaining()) +
         " are left");
  }
  const Range taken = {at_, static_cast<std::size_t>(size)};
  at_ += taken.size;
  return taken;
}

std::string_view ByteCursor::zero_terminated() {
  const std::string_view rest = file_->text({at_, remaining()});
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) fail("a text without its end");
  at_ += end + 1;
  return rest.substr(0, end);
}

void ByteCursor::align(std::uint64_t alignment) {
  if (!std::has_single_bit(alignment))
    fail("an alignment of " + std::to_string(alignment) + ", expected a power of two");
  const std::size_t over = at_ & static_cast<std::size_t>(alignment - 1);
  if (over != 0) range(alignment - over);
}

}  // namespace millrace::devices::stablehlo::bytecode
