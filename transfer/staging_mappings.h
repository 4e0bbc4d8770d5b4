// StagingMappings: which blocks of a staging pool devices read by themselves (DMA), where their
// backend offers that. Under the staging pool.
//
// The design: the first use of a block for a device maps it for the device's client, for as long as
// the pool keeps the block, in use or not: mapping costs more than a copy. The first copy may run
// before its mapping is made, then it is as slow as any. Client and pool share the pages
// (the `owner` of Device::map_host_memory): they return to the system when the pool has released
// the block and the client has unmapped it, whichever comes last. A client that closes unmaps by
// itself. A client that refuses is asked no more, and its blocks stay unmapped.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "millrace/core/async/future.h"
#include "millrace/core/base/mutex.h"
#include "millrace/devices/device.h"
#include "millrace/transfer/staging_ledger.h"

namespace millrace::transfer {

// Thread-safety: thread-safe.
class StagingMappings {
 public:
  using Region = StagingLedger::Region;

  // The caller has block in use. Nothing for clients whose calls do not block: they use the host.
  void map(Region block, const devices::Device& device) MILLRACE_EXCLUDES(mutex_);
  // Returns the block to the system; one that is mapped, once that has ended.
  void free(Region block) MILLRACE_EXCLUDES(mutex_);
  // The blocks that some client has mapped by now.
  std::size_t mapped_bytes() const MILLRACE_EXCLUDES(mutex_);

 private:
  // Only compared: a later client at the same address is taken for it, and its copies are slower.
  using ClientId = const devices::Client*;
  struct Mapping {
    ClientId client;
    Future<devices::Owner> handle;  // empty while it is asked for
  };
  struct Block {
    std::size_t bytes = 0;
    devices::Owner pages;  // empty: no client was asked yet
    std::vector<Mapping> mappings;
  };
  // Clients that do not map; shared with the calls that are under way.
  struct Refusals {
    Mutex mutex;
    std::vector<ClientId> clients MILLRACE_GUARDED_BY(mutex);

    bool contain(ClientId client);
    void add(ClientId client, const Error& why);
  };
  // The pages, for the caller to ask the client for the block's mapping; empty: that was asked.
  devices::Owner begin(Region block, ClientId client) MILLRACE_REQUIRES(mutex_);

  const std::shared_ptr<Refusals> refusals_ = std::make_shared<Refusals>();
  mutable Mutex mutex_;
  std::map<std::byte*, Block> blocks_ MILLRACE_GUARDED_BY(mutex_);  // those that were asked for
};

}  // namespace millrace::transfer
