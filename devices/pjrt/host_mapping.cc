// PjrtClient: host memory that the plugin's devices read and write by themselves. A mapping ends
// once: with the last copy of its handle, or with close() when nothing is under way any more. A
// handle may outlive the client.
#include <atomic>
#include <string>
#include <utility>

#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/pjrt/events.h"

namespace millrace::devices::pjrt {

// Shared by the client, which has it from before the plugin maps the bytes until they are unmapped,
// and the handle.
class PjrtClient::HostMapping {
 public:
  HostMapping(PjrtClient& client, std::span<std::byte> mapped, Owner kept)
      : bytes(mapped), owner(std::move(kept)), client_(&client) {}

  // For whoever ends it, the first one only; nullptr for the others.
  PjrtClient* take() {
    MutexLock lock(mutex_);
    ending = true;
    return std::exchange(client_, nullptr);
  }
  // The handle has gone. Not while the client closes: that ends it when nothing uses the bytes.
  static void let_go(const std::shared_ptr<HostMapping>& mapping) {
    StripedScope::Hold hold;  // the client stays until its thread for what frees knows of it
    PjrtClient* client = nullptr;
    {
      MutexLock lock(mapping->mutex_);
      if (mapping->client_ == nullptr) return;
      hold = mapping->client_->scope_.hold();
      if (!hold) return;
      mapping->ending = true;
      client = std::exchange(mapping->client_, nullptr);
    }
    client->hand_over([client, mapping] { client->unmap(*mapping); });
  }

  const std::span<std::byte> bytes;
  Owner owner;
  std::atomic<bool> ending{false};  // somebody ends it

 private:
  Mutex mutex_;
  PjrtClient* client_ MILLRACE_GUARDED_BY(mutex_);  // nullptr: somebody ends it, or has
};

// Its end is handed over: unmapping may block as mapping does.
class PjrtClient::HostMappingHandle {
 public:
  explicit HostMappingHandle(std::shared_ptr<HostMapping> mapping) : mapping_(std::move(mapping)) {}
  HostMappingHandle(const HostMappingHandle&) = delete;
  HostMappingHandle& operator=(const HostMappingHandle&) = delete;
  ~HostMappingHandle() { HostMapping::let_go(mapping_); }

 private:
  const std::shared_ptr<HostMapping> mapping_;
};

std::shared_ptr<PjrtClient::HostMapping> PjrtClient::any_overlapping(
    const HostMapping& mapping) const {
  const std::byte* const begin = mapping.bytes.data();
  const auto behind = mapped_.lower_bound(begin + mapping.bytes.size());
  if (behind == mapped_.begin()) return nullptr;
  const std::shared_ptr<HostMapping>& before = std::prev(behind)->second;
  return before->bytes.data() + before->bytes.size() <= begin ? nullptr : before;
}

// Where some of the bytes are being unmapped, this waits for it, as mapping them would. Of a client
// that was given up, that may never come.
Status PjrtClient::begin_mapping(const std::shared_ptr<HostMapping>& mapping) {
  MutexLock lock(mapped_mutex_);
  while (const std::shared_ptr<HostMapping> other = any_overlapping(*mapping)) {
    if (given_up()) return std::unexpected(scope_.closed_error());
    if (!other->ending) {
      return fail(ErrorCode::kAlreadyExists,
                  "of " + std::to_string(mapping->bytes.size()) +
                      " bytes of the host to be mapped for the plugin " + plugin_.name() +
                      ", some are mapped already: let go of that mapping first, or share it");
    }
    unmapped_.wait(mapped_mutex_);
  }
  mapped_.emplace(mapping->bytes.data(), mapping);
  return {};
}

void PjrtClient::forget_mapping(const HostMapping& mapping) {
  {
    MutexLock lock(mapped_mutex_);
    mapped_.erase(mapping.bytes.data());
  }
  unmapped_.notify_all();
}

void PjrtClient::unmap(HostMapping& mapping) {
  if (given_up() || !events_given_up(id_).empty()) {
    keep_for_ever(std::move(mapping.owner));  // they stay mapped
  } else {
    abi::ClientDmaUnmapArgs args;
    args.client = client_;
    args.data = mapping.bytes.data();
    plugin_.call_quietly(args);
    mapping.owner.reset();
  }
  forget_mapping(mapping);
}

bool PjrtClient::any_mapped() const {
  MutexLock lock(mapped_mutex_);
  return !mapped_.empty();
}

void PjrtClient::end_mappings() {
  make_handed_over();
  while (true) {
    std::shared_ptr<HostMapping> left;
    {
      MutexLock lock(mapped_mutex_);
      // Another thread is unmapping it. Of a client that was given up, it does not come back.
      while (!mapped_.empty() && mapped_.begin()->second->ending && !given_up())
        unmapped_.wait(mapped_mutex_);
      if (mapped_.empty() || mapped_.begin()->second->ending) return;
      left = mapped_.begin()->second;
    }
    if (left->take() != nullptr) unmap(*left);
  }
}

Result<Owner> PjrtClient::map_host_memory(std::span<std::byte> bytes, Owner owner) {
  const StripedScope::Hold hold = scope_.hold();
  if (!hold) return std::unexpected(scope_.closed_error());
  make_handed_over();  // the end of a mapping of these bytes, it may be
  const auto mapping = std::make_shared<HostMapping>(*this, bytes, std::move(owner));
  MILLRACE_TRY_STATUS(begin_mapping(mapping));
  abi::ClientDmaMapArgs args;
  args.client = client_;
  args.data = bytes.data();
  args.size = bytes.size();
  if (Status mapped = plugin_.call(args); !mapped) {
    forget_mapping(*mapping);
    return std::unexpected(mapped.error().with_context(
        "cannot map " + std::to_string(bytes.size()) + " bytes of the host"));
  }
  return std::make_shared<HostMappingHandle>(mapping);
}

}  // namespace millrace::devices::pjrt
