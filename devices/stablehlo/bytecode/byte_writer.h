// ByteWriter: the steps of ByteCursor, the other way.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::devices::stablehlo::bytecode {

// Thread-safety: confined.
class ByteWriter {
 public:
  void byte(std::uint64_t value) { out_ += static_cast<char>(value & 0xFF); }
  // The prefix form: as many zero bits at the end of the first byte as bytes follow it.
  void varint(std::uint64_t value) {
    const int bits = 64 - std::countl_zero(value | 1);
    const int more = (bits - 1) / 7;
    if (more >= 8) {
      byte(0);
      raw(value, 8);
    } else {
      raw((value << 1 | 1) << more, more + 1);
    }
  }
  void svarint(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void flagged(std::uint64_t value, bool flag) { varint(value << 1 | (flag ? 1 : 0)); }
  void svarints(std::span<const std::int64_t> values) {
    varint(values.size());
    for (const std::int64_t value : values) svarint(value);
  }
  void text(std::string_view bytes) { out_ += bytes; }
  void section(int id, std::string_view contents) {
    byte(static_cast<std::uint64_t>(id));
    varint(contents.size());
    text(contents);
  }

  const std::string& bytes() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void raw(std::uint64_t value, int n) {
    for (int i = 0; i < n; ++i) byte(value >> (8 * i));
  }

  std::string out_;
};

}  // namespace millrace::devices::stablehlo::bytecode
