#include "millrace/transfer/permutation.h"

#include <algorithm>
#include <bit>

#include "millrace/core/base/check.h"
#include "millrace/core/base/philox.h"

namespace millrace::transfer {
namespace {

// Below this many bits per half a Feistel network has too few keys' worth of orders for a small n.
constexpr int kMinHalfBits = 3;

// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): bits depend on all others.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t seed, std::uint64_t epoch) : size_(n) {
  MILLRACE_CHECK(n > 0, "a permutation has at least one item");
  const int bits = std::bit_width(n - 1);
  half_bits_ = std::max(kMinHalfBits, (bits + 1) / 2);
  constexpr std::uint32_t kDomain =
      0x7065726d;  // keeps these numbers apart from those of any device
  RandomStream random(seed, kDomain, epoch);
  for (std::uint64_t& key : keys_) {
    const std::uint64_t low = random.next();
    key = std::uint64_t{random.next()} << 32 | low;
  }
}

std::uint64_t Permutation::encrypt(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t next = left ^ (mix(right ^ key) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t position) const {
  MILLRACE_DCHECK(position < size_, "a position of this permutation");
  // Ends: the cycle of an element below size_ comes back to it at the latest.
  do {
    position = encrypt(position);
  } while (position >= size_);
  return position;
}

}  // namespace millrace::transfer
