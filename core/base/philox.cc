#include "millrace/core/base/philox.h"

#include <algorithm>
#include <cstring>

namespace millrace {
namespace {

constexpr int kRounds = 10;
// Multipliers and key increments of the paper (the golden ratio and sqrt(3) - 1).
constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

}  // namespace

PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

void RandomStream::refill() {
  block_ = philox4x32(counter_, key_);
  ++counter_[0];
  used_ = 0;
}

void RandomStream::fill(std::span<std::byte> out) {
  while (!out.empty()) {
    const std::uint32_t word = next();
    // Little end first whatever the machine, so that the bytes are the same everywhere.
    const std::byte bytes[] = {std::byte(word), std::byte(word >> 8), std::byte(word >> 16),
                               std::byte(word >> 24)};
    const std::size_t count = std::min(out.size(), sizeof(bytes));
    std::memcpy(out.data(), bytes, count);
    out = out.subspan(count);
  }
}

}  // namespace millrace
