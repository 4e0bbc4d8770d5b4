// Copies for another core to read.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "millrace/core/base/clock.h"

namespace millrace {

// Copies all of `from` to `to`, which has room and does not overlap it. The lines of `to` are not
// fetched into this core's caches first, from those of the core that read them last. A later
// release store publishes the bytes. Where the processor has no such stores it is a plain copy.
// Thread-safety: external.
void copy_past_caches(std::byte* to, std::span<const std::byte> from);

// Copies that by turns are plain and past the caches, until it knows which one takes the writer
// less time: 64 MiB between two cores took 11.7 and 8.2 ms on one machine, 3.3 and 5.4 on another
// (bench/net.cc). Thread-safety: confined.
class CopyForAnotherCore {
 public:
  // As copy_past_caches().
  void operator()(std::byte* to, std::span<const std::byte> from);

 private:
  // The first ones take page faults, some are interrupted, and a reader on the same core makes
  // plain ones cheap: medians count.
  static constexpr std::size_t kTries = 15;  // of each
  using Times = std::array<double, kTries>;  // nanoseconds for a byte
  std::size_t tries_ = 0;
  bool past_caches_ = true;
  Times plain_ = {}, past_ = {};
};

}  // namespace millrace
