// WireWriter and WireReader: numbers and texts as bytes, for payloads. Numbers have 7 bits in a
// byte, the lowest first; texts have their length in front. A reader trusts nothing: it makes no
// list and no text longer than the bytes that it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::net {

using WireBytes = std::vector<std::byte>;

// Thread-safety: external.
class WireWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void text(std::string_view value) {
    number(value.size());
    const auto bytes = std::as_bytes(std::span(value));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::size_t size() const { return bytes_.size(); }
  WireBytes take() { return std::move(bytes_); }

 private:
  WireBytes bytes_;
};

// After the first fault every read gives 0 or nothing. Thread-safety: external.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint8_t byte() {
    if (rest_.empty()) {
      refuse("it ends too early");
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_[0]);
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint64_t number(std::uint64_t most) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !failed(); shift += 7) {
      const std::uint8_t next = byte();
      const std::uint64_t bits = next & 0x7F;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if (next & 0x80) continue;
      if (shift > 0 && next == 0) break;  // one number has one form
      if (failed() || value > most) break;
      return value;
    }
    refuse("it has a number that is too large");
    return 0;
  }
  // How many items follow, each of a byte at least.
  std::size_t count(std::uint64_t most) {
    const std::uint64_t items = number(most);
    if (items <= rest_.size()) return static_cast<std::size_t>(items);
    refuse("it ends too early");
    return 0;
  }
  std::string text(std::size_t most) {
    const std::size_t length = count(most);
    std::string value(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return value;
  }
  void refuse(const char* why) {
    if (why_ == nullptr) why_ = why;
    rest_ = {};
  }
  bool failed() const { return why_ != nullptr; }
  // kInvalidArgument after a fault, and if bytes are left.
  Status end(std::string_view what) {
    if (!rest_.empty()) refuse("it has more bytes than it needs");
    if (!failed()) return {};
    return fail(ErrorCode::kInvalidArgument, "reading " + std::string(what) + ": " + why_);
  }

 private:
  std::span<const std::byte> rest_;
  const char* why_ = nullptr;
};

}  // namespace millrace::net
