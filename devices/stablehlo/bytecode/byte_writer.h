// ByteWriter: the steps of ByteCursor, the other way; and Numbered, which gives what stands in
// lists of the file its number.
#pragma once

#include <bit>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

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
  // The flag in newer formats only.
  void flagged_if(bool newer, std::uint64_t value, bool flag) {
    newer ? flagged(value, flag) : varint(value);
  }
  // How many values there are and, by put(value), each of them.
  void list(const auto& values, auto put) {
    varint(std::size(values));
    for (const auto& value : values) put(value);
  }
  void svarints(std::span<const std::int64_t> values) {
    list(values, [this](std::int64_t value) { svarint(value); });
  }
  void text(std::string_view bytes) { out_ += bytes; }
  void section(auto id, std::string_view contents) {
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

// Values, each once, numbered from 0 as they come. Thread-safety: confined.
template <class T>
class Numbered {
 public:
  std::uint64_t add(T value) {
    const auto [it, added] = numbers_.emplace(std::move(value), all_.size());
    if (added) all_.push_back(&it->first);
    return it->second;
  }
  const std::vector<const T*>& all() const { return all_; }

 private:
  std::unordered_map<T, std::uint64_t> numbers_;
  std::vector<const T*> all_;
};

}  // namespace millrace::devices::stablehlo::bytecode
