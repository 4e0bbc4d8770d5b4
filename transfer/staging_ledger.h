// StagingLedger: the accounts of the staging pool: which block serves a request, and which blocks
// return to the system to stay within the bound. Pure: it neither maps nor locks. Read next:
// staging_pool.h, which follows it.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "millrace/core/base/byte_budget.h"
#include "millrace/core/base/size_class.h"
#include "millrace/transfer/pages.h"

namespace millrace::transfer {

// Invariants:
//  - L-1 in_use + cached <= max_bytes.
//  - L-2 a cached block is of exactly its class's size.
// Thread-safety: external.
class StagingLedger {
 public:
  struct Region {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    bool operator==(const Region&) const = default;
  };
  // What to do for a request that was granted.
  struct Grant {
    std::byte* data = nullptr;    // this cached block is it; nullptr: map a new one
    std::vector<Region> evicted;  // return these to the system first
  };

  explicit StagingLedger(std::size_t max_bytes) : in_use_(max_bytes) {}

  // The size of the blocks that serve requests of this many bytes: whole pages.
  static std::size_t block_bytes(std::size_t requested) {
    return SizeClasses{kPageBytes}.round_up(requested);
  }

  // block_bytes: a class, which fits beside what is in use (CHECKed). Counts it as in use.
  Grant take(std::size_t block_bytes);
  // The block of a grant (reused, or mapped by now) is not used any more and may serve the next.
  void release(Region block);
  // Mapping for a grant failed: it never came into use.
  void cancel(std::size_t block_bytes) { in_use_.release(block_bytes); }
  // Erases cached blocks, largest first, until at most keep_bytes are cached: unmap those.
  std::vector<Region> trim(std::size_t keep_bytes);

  std::size_t max_bytes() const { return in_use_.limit(); }
  std::size_t in_use_bytes() const { return in_use_.used(); }
  std::size_t cached_bytes() const { return cached_; }
  std::size_t peak_in_use_bytes() const { return in_use_.peak(); }

 private:
  ByteBudget in_use_;
  std::size_t cached_ = 0;
  // By class; the block released last is reused first, while the caches remember it.
  std::map<std::size_t, std::vector<std::byte*>> free_;
};

}  // namespace millrace::transfer
