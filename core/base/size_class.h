// SizeClasses: the sizes of blocks that are kept and used again. Four classes for each power of
// two, so that at most a fifth of a block is not asked for (beyond the first few units). Pure.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace millrace {

// Class 4 * e + q holds unit * 2^e * (4 + q) / 4 bytes: whole units. Thread-safety: immutable.
struct SizeClasses {
  std::size_t unit;  // bytes of the smallest class, a power of two and at least 4

  // The class of the smallest block that holds size bytes.
  constexpr std::uint8_t class_of(std::size_t size) const {
    const std::size_t units = (std::max<std::size_t>(size, 1) - 1) / unit + 1;
    const int e = static_cast<int>(std::bit_width(units)) - 1;
    const std::size_t base = std::size_t{1} << e;
    const std::size_t quarters = ((units - base) * 4 + base - 1) >> e;
    return static_cast<std::uint8_t>(4 * static_cast<std::size_t>(e) + quarters);
  }
  // SIZE_MAX where a size is beyond its type.
  constexpr std::size_t bytes_of(std::uint8_t size_class) const {
    const int power = std::countr_zero(unit) + size_class / 4;
    if (power >= 64) return SIZE_MAX;
    const std::size_t base = std::size_t{1} << power;
    return base + base / 4 * (size_class % 4);
  }
  // The bytes of the block that a request of size bytes gets.
  constexpr std::size_t round_up(std::size_t size) const { return bytes_of(class_of(size)); }
};

}  // namespace millrace
