// Clients, devices, memories and topologies.
#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>

#include "tests/plugins/healthy/objects.h"

namespace millrace::memory_plugin {
namespace {

constexpr std::string_view kPlatform = "memory";
constexpr std::string_view kVersion = "memory plugin 1";
constexpr std::string_view kDeviceKind = "memory device";
constexpr std::string_view kMemoryKind = "device";
constexpr int kMemoryKindId = 1;
constexpr int kDefaultDevices = 2;
constexpr std::string_view kTopologyHead = "memory-topology ";

// Mapped host memory, by its first byte: this device sees all of it anyway.
std::mutex mapped_mutex;
std::set<const void*> mapped;

abi::Error* make_client(std::int64_t devices, abi::Client** made) {
  if (devices < 1 || devices > 64) {
    return make_error(kInvalidArgument,
                      "devices is " + std::to_string(devices) + ", not from 1 to 64");
  }
  auto client = std::make_unique<abi::Client>();
  client->topology = std::make_unique<abi::TopologyDescription>();
  for (int i = 0; i < devices; ++i) {
    auto device = std::make_unique<abi::Device>();
    device->client = client.get();
    device->description = {.id = i,
                           .debug = "memory:" + std::to_string(i),
                           .text = "MemoryDevice(id=" + std::to_string(i) + ")"};
    device->memory = {.id = 100 + i, .device = device.get()};
    device->memories[0] = &device->memory;
    client->device_list.push_back(device.get());
    client->memory_list.push_back(&device->memory);
    client->topology->descriptions.push_back(&device->description);
    client->devices.push_back(std::move(device));
  }
  client->worker = std::make_unique<Worker>();
  *made = client.release();
  return nullptr;
}

abi::Error* find_device(abi::Client* client, int id, abi::Device** found) {
  for (abi::Device* device : client->device_list) {
    if (device->description.id == id) {
      *found = device;
      return nullptr;
    }
  }
  return make_error(kInvalidArgument, "there is no device " + std::to_string(id));
}

void tell(const char*& text, std::size_t& size, std::string_view value) {
  text = value.data();
  size = value.size();
}

abi::NamedValue named(std::string_view name, std::int64_t value) {
  abi::NamedValue v;
  v.struct_size = abi::kStructSize<abi::NamedValue>;
  v.name = name.data();
  v.name_size = name.size();
  v.type = abi::ValueType::kInt64;
  v.value.int64 = value;
  return v;
}

abi::NamedValue named(std::string_view name, const std::vector<std::int64_t>& value) {
  abi::NamedValue v = named(name, 0);
  v.type = abi::ValueType::kInt64List;
  v.value.int64_list = value.data();
  v.value_size = value.size();
  return v;
}

const std::vector<abi::NamedValue>& plugin_attributes() {
  static const std::vector<std::int64_t> oldest = {0, 9, 0};
  static const std::vector<std::int64_t> newest = {1, 13, 7};
  static const std::vector<abi::NamedValue> list = {named("xla_version", 2),
                                                    named("stablehlo_minimum_version", oldest),
                                                    named("stablehlo_current_version", newest)};
  return list;
}

const std::vector<abi::NamedValue>& device_attributes() {
  static const std::vector<std::int64_t> place = {0, 0};
  static const std::vector<abi::NamedValue> list = {named("cores", 1), named("coords", place)};
  return list;
}

std::unique_ptr<abi::TopologyDescription> make_topology(int devices) {
  auto topology = std::make_unique<abi::TopologyDescription>();
  topology->own.resize(static_cast<std::size_t>(devices));
  for (int i = 0; i < devices; ++i) {
    auto& d = topology->own[static_cast<std::size_t>(i)];
    d = {.id = i, .debug = "memory:" + std::to_string(i), .text = "MemoryDevice"};
    topology->descriptions.push_back(&d);
  }
  return topology;
}

}  // namespace

void add_clients(abi::Api& api) {
  add(api, [](abi::PluginInitializeArgs*) {});
  add(api, [](abi::PluginAttributesArgs* a) {
    a->attributes = plugin_attributes().data();
    a->num_attributes = plugin_attributes().size();
  });
  add(api, [](abi::ClientCreateArgs* a) -> abi::Error* {
    std::int64_t devices = kDefaultDevices;
    for (std::size_t i = 0; i < a->num_options; ++i) {
      const abi::NamedValue& v = a->create_options[i];
      const std::string_view name(v.name, v.name_size);
      if (name != "devices" || v.type != abi::ValueType::kInt64) {
        return make_error(kInvalidArgument, "there is no create option " + std::string(name) +
                                                "; there is devices, a whole number");
      }
      devices = v.value.int64;
    }
    return make_client(devices, &a->client);
  });
  add(api, [](abi::ClientDmaMapArgs* a) -> abi::Error* {
    const std::scoped_lock lock(mapped_mutex);
    if (mapped.insert(a->data).second) return nullptr;
    return make_error(kFailedPrecondition, "mapped before");
  });
  add(api, [](abi::ClientDmaUnmapArgs* a) -> abi::Error* {
    const std::scoped_lock lock(mapped_mutex);
    if (mapped.erase(a->data) == 1) return nullptr;
    return make_error(kFailedPrecondition, "not mapped");
  });
  add(api, [](abi::ClientDestroyArgs* a) { delete a->client; });
  add(api, [](abi::ClientPlatformNameArgs* a) {
    tell(a->platform_name, a->platform_name_size, kPlatform);
  });
  add(api, [](abi::ClientPlatformVersionArgs* a) {
    tell(a->platform_version, a->platform_version_size, kVersion);
  });
  add(api, [](abi::ClientProcessIndexArgs* a) { a->process_index = 0; });
  add(api, [](abi::ClientDevicesArgs* a) {
    a->devices = a->client->device_list.data();
    a->num_devices = a->client->device_list.size();
  });
  add(api, [](abi::ClientAddressableDevicesArgs* a) {
    a->devices = a->client->device_list.data();
    a->num_devices = a->client->device_list.size();
  });
  add(api, [](abi::ClientLookupDeviceArgs* a) -> abi::Error* {
    return find_device(a->client, a->id, &a->device);
  });
  add(api, [](abi::ClientLookupAddressableDeviceArgs* a) -> abi::Error* {
    return find_device(a->client, a->local_hardware_id, &a->device);
  });
  add(api, [](abi::ClientAddressableMemoriesArgs* a) {
    a->memories = a->client->memory_list.data();
    a->num_memories = a->client->memory_list.size();
  });
  add(api, [](abi::ClientDefaultDeviceAssignmentArgs* a) -> abi::Error* {
    const std::size_t wanted =
        static_cast<std::size_t>(a->num_replicas) * static_cast<std::size_t>(a->num_partitions);
    if (wanted > a->client->devices.size()) {
      return make_error(kInvalidArgument,
                        "there are only " + std::to_string(a->client->devices.size()) + " devices");
    }
    if (a->size < wanted) {
      return make_error(kFailedPrecondition, "the array has " + std::to_string(a->size) +
                                                 " places of " + std::to_string(wanted));
    }
    for (std::size_t i = 0; i < wanted; ++i) {
      a->assignment[i] = a->client->devices[i]->description.id;
    }
    return nullptr;
  });
}

void add_devices(abi::Api& api) {
  add(api, [](abi::DeviceGetDescriptionArgs* a) { a->description = &a->device->description; });
  add(api, [](abi::DeviceDescriptionIdArgs* a) { a->id = a->description->id; });
  add(api, [](abi::DeviceDescriptionProcessIndexArgs* a) { a->process_index = 0; });
  add(api, [](abi::DeviceDescriptionAttributesArgs* a) {
    a->attributes = device_attributes().data();
    a->num_attributes = device_attributes().size();
  });
  add(api, [](abi::DeviceDescriptionKindArgs* a) { tell(a->kind, a->kind_size, kDeviceKind); });
  add(api, [](abi::DeviceDescriptionDebugStringArgs* a) {
    tell(a->text, a->text_size, a->description->debug);
  });
  add(api, [](abi::DeviceDescriptionToStringArgs* a) {
    tell(a->text, a->text_size, a->description->text);
  });
  add(api, [](abi::DeviceIsAddressableArgs* a) { a->is_addressable = true; });
  add(api,
      [](abi::DeviceLocalHardwareIdArgs* a) { a->local_hardware_id = a->device->description.id; });
  add(api, [](abi::DeviceAddressableMemoriesArgs* a) {
    a->memories = a->device->memories;
    a->num_memories = 1;
  });
  add(api, [](abi::DeviceDefaultMemoryArgs* a) { a->memory = &a->device->memory; });
  add(api, [](abi::DeviceMemoryStatsArgs* a) {
    a->bytes_in_use = a->device->bytes_in_use;
    a->peak_bytes_in_use = {.value = std::max<std::int64_t>(a->bytes_in_use, 1 << 20),
                            .is_set = true};
  });
  add(api, [](abi::DeviceClearMemoryStatsArgs*) {});
  add(api, [](abi::DeviceGetAttributesArgs* a) {
    a->attributes = device_attributes().data();
    a->num_attributes = device_attributes().size();
    a->owner = reinterpret_cast<abi::DeviceAttributes*>(new std::string);
    a->deleter =
        +[](abi::DeviceAttributes* owner) { delete reinterpret_cast<std::string*>(owner); };
  });
  add(api, [](abi::MemoryIdArgs* a) { a->id = a->memory->id; });
  add(api, [](abi::MemoryKindArgs* a) { tell(a->kind, a->kind_size, kMemoryKind); });
  add(api, [](abi::MemoryKindIdArgs* a) { a->kind_id = kMemoryKindId; });
  add(api, [](abi::MemoryDebugStringArgs* a) {
    tell(a->text, a->text_size, a->memory->device->description.debug);
  });
  add(api, [](abi::MemoryToStringArgs* a) {
    tell(a->text, a->text_size, a->memory->device->description.text);
  });
  add(api, [](abi::MemoryAddressableByDevicesArgs* a) {
    abi::Client* client = a->memory->device->client;
    a->devices = &client->device_list[static_cast<std::size_t>(a->memory->id - 100)];
    a->num_devices = 1;
  });
}

void add_topologies(abi::Api& api) {
  add(api, [](abi::ClientTopologyDescriptionArgs* a) { a->topology = a->client->topology.get(); });
  add(api,
      [](abi::TopologyCreateArgs* a) { a->topology = make_topology(kDefaultDevices).release(); });
  add(api, [](abi::TopologyDestroyArgs* a) { delete a->topology; });
  add(api, [](abi::TopologyPlatformNameArgs* a) { tell(a->name, a->name_size, kPlatform); });
  add(api,
      [](abi::TopologyPlatformVersionArgs* a) { tell(a->version, a->version_size, kVersion); });
  add(api, [](abi::TopologyGetDeviceDescriptionsArgs* a) {
    a->descriptions = a->topology->descriptions.data();
    a->num_descriptions = a->topology->descriptions.size();
  });
  add(api, [](abi::TopologyFingerprintArgs* a) {
    a->fingerprint = 0x6d656d6f7279 + a->topology->descriptions.size();
  });
  add(api, [](abi::TopologySerializeArgs* a) {
    auto* text = new std::string(std::string(kTopologyHead) +
                                 std::to_string(a->topology->descriptions.size()));
    a->bytes = text->data();
    a->bytes_size = text->size();
    a->holder = reinterpret_cast<abi::SerializedTopology*>(text);
    a->deleter =
        +[](abi::SerializedTopology* holder) { delete reinterpret_cast<std::string*>(holder); };
  });
  add(api, [](abi::TopologyDeserializeArgs* a) -> abi::Error* {
    const std::string_view text(a->bytes, a->bytes_size);
    int devices = 0;
    if (text.starts_with(kTopologyHead)) {
      const std::string_view number = text.substr(kTopologyHead.size());
      std::from_chars(number.data(), number.data() + number.size(), devices);
    }
    if (devices < 1) return make_error(kInvalidArgument, "these bytes are no topology");
    a->topology = make_topology(devices).release();
    return nullptr;
  });
}

}  // namespace millrace::memory_plugin
