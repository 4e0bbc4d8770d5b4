// OpenedClient: a client of a plugin and what the plugin reports of it, which never changes.
// Internal to client.h.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/plugin.h"

namespace millrace::devices::pjrt {

// Thread-safety: immutable once it is open.
class OpenedClient {
 public:
  explicit OpenedClient(const Plugin& plugin) : plugin_(plugin) {}

  // PJRT_Client_Create, and all that there is to read. Blocking. After an error get() may be there,
  // to be destroyed.
  Status open(abi::ClientCreateArgs& create);

  const Plugin& plugin() const { return plugin_; }
  abi::Client* get() const { return client_; }
  const std::string& platform_name() const { return platform_name_; }
  const std::string& platform_version() const { return platform_version_; }
  // The plugin's own and those of its topology.
  const Attributes& attributes() const { return attributes_; }
  std::span<const DeviceInfo> devices() const { return infos_; }
  std::span<const MemoryInfo> memories() const { return memory_infos_; }
  // kInvalidArgument for what is none of devices().
  Result<abi::Device*> find(DeviceId device) const {
    const auto i = static_cast<std::size_t>(index(device));  // a negative one becomes too large
    if (i < devices_.size()) [[likely]]
      return devices_[i];
    return unknown_device(device);
  }
  Result<abi::Memory*> find_memory(DeviceId device, int memory) const;
  // id is one of devices().
  abi::Device* device(DeviceId id) const { return devices_[static_cast<std::size_t>(index(id))]; }
  // As device assignments name it.
  std::int64_t global_id(DeviceId id) const {
    return global_ids_[static_cast<std::size_t>(index(id))];
  }
  Result<DeviceId> id_of(abi::Device* device) const;

 private:
  Status check_devices(std::span<abi::Device* const> listed) const;
  Status read_topology();
  Status read_device(std::size_t i);
  Status read_attributes(std::size_t i, abi::DeviceDescription* description);
  Status read_memories(std::size_t i);
  void note_memory(int id, std::string kind, DeviceId device);
  std::unexpected<Error> unknown_device(DeviceId device) const;

  const Plugin& plugin_;
  abi::Client* client_ = nullptr;
  std::string platform_name_, platform_version_;
  Attributes attributes_;
  std::vector<abi::Device*> devices_;
  std::vector<std::int64_t> global_ids_;  // of devices_
  std::vector<DeviceInfo> infos_;
  std::map<std::pair<DeviceId, int>, abi::Memory*> memories_;  // by device and id
  std::vector<MemoryInfo> memory_infos_;
};

}  // namespace millrace::devices::pjrt
