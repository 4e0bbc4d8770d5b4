// PjrtClient: host memory that the plugin's devices read and write by themselves.
#include <string>
#include <utility>
#include <vector>

#include "millrace/devices/pjrt/client.h"

namespace millrace::devices::pjrt {

namespace {

// Of a plugin that is called no more: what it has mapped stays mapped, so the bytes stay.
void keep_for_ever(Owner owner) {
  static Mutex mutex;
  static auto* const kept = new std::vector<Owner>;
  MutexLock lock(mutex);
  kept->push_back(std::move(owner));
}

}  // namespace

// One that the plugin has mapped. Its end is handed over: unmapping may block as mapping does.
class PjrtClient::HostMapping {
 public:
  HostMapping(PjrtClient& client, std::byte* data, Owner owner, Scope::Hold hold)
      : client_(client), data_(data), owner_(std::move(owner)), hold_(std::move(hold)) {}
  HostMapping(const HostMapping&) = delete;
  HostMapping& operator=(const HostMapping&) = delete;
  ~HostMapping() {
    client_.hand_over([&client = client_, data = data_, owner = std::move(owner_),
                       hold = std::move(hold_)]() mutable {
      if (client.given_up()) return keep_for_ever(std::move(owner));
      abi::ClientDmaUnmapArgs args;
      args.client = client.client_;
      args.data = data;
      client.plugin_.call_quietly(args);
      client.end_mapping(data);
      owner.reset();
      hold.reset();
    });
  }

 private:
  PjrtClient& client_;
  std::byte* const data_;
  Owner owner_;
  Scope::Hold hold_;
};

Status PjrtClient::begin_mapping(std::span<std::byte> bytes) {
  const std::byte* const begin = bytes.data();
  const std::byte* const end = begin + bytes.size();
  MutexLock lock(mapped_mutex_);
  const auto behind = mapped_.lower_bound(end);  // the first that begins where this ends, or later
  if (behind == mapped_.begin() || std::prev(behind)->second <= begin) {
    mapped_.emplace(begin, end);
    return {};
  }
  return fail(ErrorCode::kAlreadyExists,
              "of " + std::to_string(bytes.size()) +
                  " bytes of the host to be mapped for the plugin " + plugin_.name() +
                  ", some are mapped already: let go of that mapping first, or share it");
}

void PjrtClient::end_mapping(const std::byte* begin) {
  MutexLock lock(mapped_mutex_);
  mapped_.erase(begin);
}

Result<Owner> PjrtClient::map_host_memory(std::span<std::byte> bytes, Owner owner) {
  Scope::Hold hold = scope_.hold();
  if (!hold) return std::unexpected(scope_.closed_error());
  make_handed_over();  // the end of a mapping of these bytes, it may be
  MILLRACE_TRY_STATUS(begin_mapping(bytes));
  abi::ClientDmaMapArgs args;
  args.client = client_;
  args.data = bytes.data();
  args.size = bytes.size();
  if (Status mapped = plugin_.call(args); !mapped) {
    end_mapping(bytes.data());
    return std::unexpected(std::move(mapped).error());
  }
  return std::make_shared<HostMapping>(*this, bytes.data(), std::move(owner), std::move(hold));
}

}  // namespace millrace::devices::pjrt
