#include "millrace/devices/pjrt/host_mappings.h"

#include <atomic>
#include <iterator>
#include <string>
#include <utility>

#include "millrace/devices/pjrt/events.h"

namespace millrace::devices::pjrt {

// Shared by the client, which has it from before the plugin maps the bytes until they are unmapped,
// and the handle.
class HostMappings::Mapping {
 public:
  Mapping(HostMappings& mappings, std::span<std::byte> mapped, Owner kept)
      : bytes(mapped), owner(std::move(kept)), mappings_(&mappings) {}

  // For the first that ends it; nullptr for the others.
  HostMappings* take() {
    MutexLock lock(mutex_);
    ending = true;
    return std::exchange(mappings_, nullptr);
  }
  // The handle has gone: the end is handed over, since unmapping may block as mapping does. Not
  // while the client closes: that ends it when nothing uses the bytes.
  static void release(const std::shared_ptr<Mapping>& mapping) {
    StripedScope::Hold hold;  // the client stays until its thread for what frees knows of it
    HostMappings* mappings = nullptr;
    {
      MutexLock lock(mapping->mutex_);
      if (mapping->mappings_ == nullptr) return;
      hold = mapping->mappings_->gate_.scope().hold();
      if (!hold) return;
      mapping->ending = true;
      mappings = std::exchange(mapping->mappings_, nullptr);
    }
    mappings->gate_.hand_over([mappings, mapping] { mappings->unmap(*mapping); });
  }

  const std::span<std::byte> bytes;
  Owner owner;
  std::atomic<bool> ending{false};  // or ended

 private:
  Mutex mutex_;
  HostMappings* mappings_ MILLRACE_GUARDED_BY(mutex_);  // nullptr: it is ending, or has ended
};

std::shared_ptr<HostMappings::Mapping> HostMappings::any_overlapping(const Mapping& mapping) const {
  const std::byte* const begin = mapping.bytes.data();
  const auto behind = mapped_.lower_bound(begin + mapping.bytes.size());
  if (behind == mapped_.begin()) return nullptr;
  const std::shared_ptr<Mapping>& before = std::prev(behind)->second;
  return before->bytes.data() + before->bytes.size() <= begin ? nullptr : before;
}

// A client that was given up may never unmap what this waits for.
Status HostMappings::begin(const std::shared_ptr<Mapping>& mapping) {
  MutexLock lock(mutex_);
  while (const std::shared_ptr<Mapping> other = any_overlapping(*mapping)) {
    if (gate_.given_up()) return std::unexpected(gate_.scope().closed_error());
    if (!other->ending) {
      return fail(ErrorCode::kAlreadyExists,
                  "of " + std::to_string(mapping->bytes.size()) +
                      " bytes of the host to be mapped for the plugin " + opened_.plugin().name() +
                      ", some are mapped already: release that mapping first, or share it");
    }
    unmapped_.wait(mutex_);
  }
  mapped_.emplace(mapping->bytes.data(), mapping);
  return {};
}

void HostMappings::erase(const Mapping& mapping) {
  {
    MutexLock lock(mutex_);
    mapped_.erase(mapping.bytes.data());
  }
  unmapped_.notify_all();
}

void HostMappings::unmap(Mapping& mapping) {
  if (gate_.given_up() || !events_given_up(events_).empty()) {
    keep_for_ever(std::move(mapping.owner));  // they stay mapped
  } else {
    opened_.plugin().call_quietly<abi::ClientDmaUnmapArgs>(opened_.get(), mapping.bytes.data());
    mapping.owner.reset();
  }
  erase(mapping);
}

bool HostMappings::any() const {
  MutexLock lock(mutex_);
  return !mapped_.empty();
}

void HostMappings::wake() {
  {
    const MutexLock lock(mutex_);
  }  // a thread that looked before waits by now
  unmapped_.notify_all();
}

void HostMappings::end_all() {
  gate_.drain_frees();
  while (true) {
    std::shared_ptr<Mapping> left;
    {
      MutexLock lock(mutex_);
      // Another thread is unmapping it. Of a client that was given up, it does not come back.
      while (!mapped_.empty() && mapped_.begin()->second->ending && !gate_.given_up())
        unmapped_.wait(mutex_);
      if (mapped_.empty() || mapped_.begin()->second->ending) return;
      left = mapped_.begin()->second;
    }
    if (left->take() != nullptr) unmap(*left);
  }
}

Result<Owner> HostMappings::map(std::span<std::byte> bytes, Owner owner) {
  const StripedScope::Hold hold = gate_.scope().hold();
  if (!hold) return std::unexpected(gate_.scope().closed_error());
  gate_.drain_frees();  // the end of a mapping of these bytes, it may be
  const auto mapping = std::make_shared<Mapping>(*this, bytes, std::move(owner));
  MILLRACE_TRY_STATUS(begin(mapping));
  const auto mapped =
      opened_.plugin().ask<abi::ClientDmaMapArgs>(opened_.get(), bytes.data(), bytes.size());
  if (!mapped) {
    erase(*mapping);
    return std::unexpected(mapped.error().with_context(
        "cannot map " + std::to_string(bytes.size()) + " bytes of the host"));
  }
  return Owner(bytes.data(), [mapping](const void*) { Mapping::release(mapping); });
}

}  // namespace millrace::devices::pjrt
