#include "millrace/transfer/staging_mappings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "millrace/core/async/executor.h"
#include "millrace/core/observe/log.h"
#include "millrace/transfer/pages.h"

namespace millrace::transfer {

bool StagingMappings::Refusals::contain(ClientId client) {
  MutexLock lock(mutex);
  return std::ranges::find(clients, client) != clients.end();
}

void StagingMappings::Refusals::add(ClientId client, const Error& why) {
  {
    MutexLock lock(mutex);
    if (std::ranges::find(clients, client) != clients.end()) return;
    clients.push_back(client);
  }
  // The first is what most backends say, the others what a closing device says.
  const ErrorCode code = why.code();
  if (code == ErrorCode::kUnimplemented || code == ErrorCode::kUnavailable ||
      code == ErrorCode::kCancelled)
    return;
  MILLRACE_LOG(kWarning, "transfer",
               "staging memory is not mapped, so copies from it are slower: " + why.message());
}

devices::Owner StagingMappings::begin(Region block, ClientId client) {
  Block& known = blocks_[block.data];
  if (std::ranges::find(known.mappings, client, &Mapping::client) != known.mappings.end())
    return nullptr;
  if (!known.pages) {
    known.bytes = block.bytes;
    known.pages =
        devices::Owner(block.data, [block](const void*) { unmap_pages(block.data, block.bytes); });
  }
  known.mappings.push_back({client, {}});
  return known.pages;
}

void StagingMappings::map(Region block, const devices::Device& device) {
  const ClientId client = &device.client();
  if (!client->calls_may_block() || refusals_->contain(client)) return;
  devices::Owner pages;
  {
    MutexLock lock(mutex_);
    pages = begin(block, client);
  }
  if (!pages) return;
  using Mapped = Result<devices::Owner>;
  Future<devices::Owner> handle =
      device.map_host_memory({block.data, block.bytes}, std::move(pages))
          .then(inline_executor(), [refusals = refusals_, client](Mapped mapped) -> Mapped {
            if (!mapped) refusals->add(client, mapped.error());
            return mapped;
          });
  handle.ignore();
  MutexLock lock(mutex_);
  Block& known = blocks_[block.data];  // its user keeps it
  std::ranges::find(known.mappings, client, &Mapping::client)->handle = std::move(handle);
}

void StagingMappings::free(Region block) {
  Block gone;  // what it holds goes without the lock
  {
    MutexLock lock(mutex_);
    const auto known = blocks_.find(block.data);
    if (known != blocks_.end()) {
      gone = std::move(known->second);
      blocks_.erase(known);
    }
  }
  if (!gone.pages) unmap_pages(block.data, block.bytes);
}

std::size_t StagingMappings::mapped_bytes() const {
  const auto is_mapped = [](const Mapping& mapping) {
    return mapping.handle.valid() && mapping.handle.ready() && mapping.handle.result();
  };
  std::size_t bytes = 0;
  MutexLock lock(mutex_);
  for (const auto& [data, block] : blocks_) {
    if (std::ranges::any_of(block.mappings, is_mapped)) bytes += block.bytes;
  }
  return bytes;
}

}  // namespace millrace::transfer
