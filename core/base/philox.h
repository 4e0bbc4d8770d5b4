// Philox4x32-10, a counter-based random generator (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011): every block of numbers is a pure function of a key and a counter, so a
// stream needs no state, can be entered anywhere, and is the same on every platform.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// One block of four random words.
PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key);

// The random numbers that belong to (seed, device, step): disjoint from those of every other
// triple. Value type. Thread-safety: external.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint32_t device, std::uint64_t step)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, device, static_cast<std::uint32_t>(step),
                 static_cast<std::uint32_t>(step >> 32)} {}

  // The next word. A stream has 2^34 of them; then it repeats.
  std::uint32_t next() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
  }
  // Uniform in [0, 1), 24 bits.
  float next_float() { return static_cast<float>(next() >> 8) * 0x1p-24f; }
  void fill(std::span<std::byte> out);

 private:
  void refill();

  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter block_{};
  std::size_t used_ = 4;
};

}  // namespace millrace
