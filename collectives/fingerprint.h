// Fingerprint: a number for what ranks must have in common: FNV-1a over the bytes of 64-bit words.
// It finds mistakes; it is no defence against forgery.
#pragma once

#include <cstdint>

namespace millrace::collectives {

// Thread-safety: external.
class Fingerprint {
 public:
  void add(std::uint64_t word) { add_bytes(word, 8); }
  void add_bytes(std::uint64_t word, int count) {
    for (int i = 0; i < count; ++i, word >>= 8) value_ = (value_ ^ (word & 0xFF)) * kPrime;
  }
  std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t kPrime = 1099511628211ULL;
  std::uint64_t value_ = 14695981039346656037ULL;
};

}  // namespace millrace::collectives
