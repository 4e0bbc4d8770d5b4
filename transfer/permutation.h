// Permutation: a shuffle of [0, n) without memory. Position i of an epoch is a keyed bijection of
// i: any rank finds any item in constant time, and a run can resume there. Read next: batch_plan.h.
#pragma once

#include <array>
#include <cstdint>

namespace millrace::transfer {

// A Feistel network over the smallest even number of bits that holds n, walked along its cycle
// until the result is below n (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA
// 2002): fewer than four steps on average once n > 64. Value type. Thread-safety: immutable.
class Permutation {
 public:
  // A different order for every (seed, epoch). n > 0.
  Permutation(std::uint64_t n, std::uint64_t seed, std::uint64_t epoch);

  std::uint64_t size() const { return size_; }
  // The item at position; position < size().
  std::uint64_t operator()(std::uint64_t position) const;

 private:
  static constexpr int kRounds = 8;

  std::uint64_t encrypt(std::uint64_t value) const;

  std::uint64_t size_;
  int half_bits_;
  std::array<std::uint64_t, kRounds> keys_;
};

}  // namespace millrace::transfer
