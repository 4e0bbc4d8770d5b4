// What a fuzzer gives, byte by byte; zeros at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : left_(data, size) {}
  bool empty() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  // Small ones are likely, as a correct process sends them.
  std::uint64_t number() {
    const std::uint8_t first = byte();
    if (first < 200) return first % 32;
    std::uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number = number << 8 | byte();
    return number;
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace millrace
