#include "millrace/devices/pjrt/opened_client.h"

#include <algorithm>
#include <set>

namespace millrace::devices::pjrt {
namespace {

std::string text(const char* data, std::size_t size) {
  return data != nullptr ? std::string(data, size) : std::string();
}

// A plugin may lack a function that only describes.
Status or_unimplemented(Status status) {
  if (!status && status.error().code() == ErrorCode::kUnimplemented) return {};
  return status;
}

}  // namespace

Status OpenedClient::open(abi::ClientCreateArgs& create) {
  MILLRACE_TRY_STATUS(plugin_.call(create));
  client_ = create.client;
  MILLRACE_TRY_STATUS(plugin_.require<abi::ClientCreateArgs>(client_ != nullptr, "client"));
  MILLRACE_TRY(const auto name, plugin_.ask<abi::ClientPlatformNameArgs>(client_));
  platform_name_ = text(name.platform_name, name.platform_name_size);
  MILLRACE_TRY(const auto version, plugin_.ask<abi::ClientPlatformVersionArgs>(client_));
  platform_version_ = text(version.platform_version, version.platform_version_size) +
                      " (PJRT API " + plugin_.version_text() + ")";
  MILLRACE_TRY(const auto devices, plugin_.ask<abi::ClientAddressableDevicesArgs>(client_));
  MILLRACE_TRY_STATUS(plugin_.require<abi::ClientAddressableDevicesArgs>(
      devices.devices != nullptr || devices.num_devices == 0, "list of devices"));
  MILLRACE_TRY_STATUS(check_devices({devices.devices, devices.num_devices}));
  MILLRACE_TRY_STATUS(read_topology());
  devices_.assign(devices.devices, devices.devices + devices.num_devices);
  for (std::size_t i = 0; i < devices_.size(); ++i) MILLRACE_TRY_STATUS(read_device(i));
  return {};
}

// The rest takes for granted that a client has a device, and that each has its own work.
Status OpenedClient::check_devices(std::span<abi::Device* const> listed) const {
  const auto refuse = [this](ErrorCode code, const std::string& what) {
    return fail(code, std::string(abi::to_string(abi::Slot::kClient_AddressableDevices)) +
                          " of the plugin " + plugin_.name() + " gives " + what);
  };
  if (listed.empty()) {
    return refuse(ErrorCode::kUnavailable,
                  "no devices: there are none of this process, or its create options or the "
                  "machine's settings hide them");
  }
  if (listed.size() > kMostDevices) {
    return refuse(ErrorCode::kInternal, std::to_string(listed.size()) + " devices, more than the " +
                                            std::to_string(kMostDevices) +
                                            " that one process may have here");
  }
  std::set<const abi::Device*> seen;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::string where = std::to_string(i) + " of " + std::to_string(listed.size());
    if (listed[i] == nullptr)
      return refuse(ErrorCode::kInternal, "a null pointer as device " + where);
    if (!seen.insert(listed[i]).second)
      return refuse(ErrorCode::kInternal, "a device twice, again as device " + where);
  }
  return {};
}

Status OpenedClient::read_topology() {
  attributes_ = plugin_.attributes();
  abi::ClientTopologyDescriptionArgs topology{{}, client_};
  const Status described = plugin_.call(topology);
  if (!described || topology.topology == nullptr) return or_unimplemented(described);
  abi::TopologyAttributesArgs attributes{{}, topology.topology};
  MILLRACE_TRY(Attributes read, plugin_.values_of(attributes));
  attributes_.merge(read);
  return {};
}

Status OpenedClient::read_device(std::size_t i) {
  MILLRACE_TRY(const auto description, plugin_.ask<abi::DeviceGetDescriptionArgs>(devices_[i]));
  MILLRACE_TRY_STATUS(plugin_.require<abi::DeviceGetDescriptionArgs>(
      description.description != nullptr, "description"));
  MILLRACE_TRY(const auto id, plugin_.ask<abi::DeviceDescriptionIdArgs>(description.description));
  global_ids_.push_back(id.id);
  MILLRACE_TRY(const auto process,
               plugin_.ask<abi::DeviceDescriptionProcessIndexArgs>(description.description));
  MILLRACE_TRY(const auto kind,
               plugin_.ask<abi::DeviceDescriptionKindArgs>(description.description));
  infos_.push_back({.id = DeviceId{static_cast<std::int32_t>(i)},
                    .process = process.process_index,
                    .kind = text(kind.kind, kind.kind_size),
                    .memories = {},
                    .attributes = {}});
  MILLRACE_TRY_STATUS(read_attributes(i, description.description));
  return read_memories(i);
}

Status OpenedClient::read_attributes(std::size_t i, abi::DeviceDescription* description) {
  abi::DeviceDescriptionAttributesArgs described{{}, description};
  MILLRACE_TRY(infos_[i].attributes, plugin_.values_of(described));
  abi::DeviceGetAttributesArgs own{{}, devices_[i]};
  Result<Attributes> read = plugin_.values_of(own);
  if (own.deleter != nullptr)
    plugin_.quietly("the deleter of PJRT_Device_GetAttributes", [&] { own.deleter(own.owner); });
  MILLRACE_TRY(Attributes merged, std::move(read));
  infos_[i].attributes.merge(merged);
  return {};
}

Status OpenedClient::read_memories(std::size_t i) {
  abi::DeviceAddressableMemoriesArgs addressable{{}, devices_[i]};
  MILLRACE_TRY_STATUS(or_unimplemented(plugin_.call(addressable)));
  MILLRACE_TRY_STATUS(plugin_.require<abi::DeviceAddressableMemoriesArgs>(
      addressable.memories != nullptr || addressable.num_memories == 0, "list of memories"));
  // Without any, the device is all that puts and copies name.
  if (addressable.num_memories == 0) return {};
  abi::DeviceDefaultMemoryArgs standard{{}, devices_[i]};
  MILLRACE_TRY_STATUS(or_unimplemented(plugin_.call(standard)));
  std::vector<abi::Memory*> memories(addressable.memories,
                                     addressable.memories + addressable.num_memories);
  std::ranges::stable_sort(memories, {}, [&](abi::Memory* m) { return m != standard.memory; });
  for (abi::Memory* memory : memories) {
    MILLRACE_TRY_STATUS(plugin_.require<abi::DeviceAddressableMemoriesArgs>(
        memory != nullptr, "memory of device " + std::to_string(i)));
    MILLRACE_TRY(const auto id, plugin_.ask<abi::MemoryIdArgs>(memory));
    // Some plugins number each device's on its own: of two with one number, only the first can be
    // named.
    if (!memories_.emplace(std::pair(infos_[i].id, id.id), memory).second) continue;
    MILLRACE_TRY(const auto kind, plugin_.ask<abi::MemoryKindArgs>(memory));
    infos_[i].memories.push_back(id.id);
    note_memory(id.id, text(kind.kind, kind.kind_size), infos_[i].id);
  }
  return {};
}

// One that several devices reach is listed once.
void OpenedClient::note_memory(int id, std::string kind, DeviceId device) {
  const auto same = std::ranges::find_if(
      memory_infos_, [&](const MemoryInfo& m) { return m.id == id && m.kind == kind; });
  if (same != memory_infos_.end()) {
    same->devices.push_back(device);
  } else {
    memory_infos_.push_back({.id = id, .kind = std::move(kind), .devices = {device}});
  }
}

std::unexpected<Error> OpenedClient::unknown_device(DeviceId device) const {
  const int i = index(device);
  return fail(ErrorCode::kInvalidArgument, "'" + platform_name_ + "' has no device " +
                                               std::to_string(i) + " (of " +
                                               std::to_string(devices_.size()) + ")");
}

Result<abi::Memory*> OpenedClient::find_memory(DeviceId device, int memory) const {
  const auto found = memories_.find({device, memory});
  if (found != memories_.end()) return found->second;
  return fail(ErrorCode::kInvalidArgument, name_of(device) + " of '" + platform_name_ +
                                               "' has no memory " + std::to_string(memory));
}

Result<DeviceId> OpenedClient::id_of(abi::Device* device) const {
  const auto found = std::ranges::find(devices_, device);
  if (found == devices_.end()) {
    return fail(ErrorCode::kInternal,
                "the plugin " + plugin_.name() + " names a device that it has not listed");
  }
  return infos_[static_cast<std::size_t>(found - devices_.begin())].id;
}

}  // namespace millrace::devices::pjrt
