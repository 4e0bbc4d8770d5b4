#include "millrace/transfer/staging_ledger.h"

namespace millrace::transfer {

StagingLedger::Grant StagingLedger::take(std::size_t block_bytes) {
  in_use_.take(block_bytes);  // fits: the gate of the pool has let it in (L-1)
  Grant grant;
  if (const auto found = free_.find(block_bytes); found != free_.end() && !found->second.empty()) {
    grant.data = found->second.back();
    found->second.pop_back();
    cached_ -= block_bytes;
  } else {
    grant.evicted = trim(in_use_.left());
  }
  return grant;
}

void StagingLedger::release(Region block) {
  cancel(block.bytes);
  free_[block.bytes].push_back(block.data);
  cached_ += block.bytes;
}

std::vector<StagingLedger::Region> StagingLedger::trim(std::size_t keep_bytes) {
  std::vector<Region> erased;
  for (auto i = free_.rbegin(); i != free_.rend() && cached_ > keep_bytes; ++i) {
    auto& [bytes, blocks] = *i;
    while (!blocks.empty() && cached_ > keep_bytes) {
      erased.push_back({blocks.back(), bytes});
      blocks.pop_back();
      cached_ -= bytes;
    }
  }
  return erased;
}

}  // namespace millrace::transfer
