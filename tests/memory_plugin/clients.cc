// Clients, devices, memories and topologies.
#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>

#include "tests/memory_plugin/objects.h"

namespace millrace::memory_plugin {
namespace {

constexpr std::string_view kPlatform = "memory";
constexpr std::string_view kVersion = "memory plugin 1";
constexpr std::string_view kDeviceKind = "memory device";
constexpr std::string_view kMemoryKind = "device";
constexpr int kMemoryKindId = 1;
constexpr int kDefaultDevices = 2;
constexpr std::string_view kTopologyHead = "memory-topology ";

// Of the host, by their first byte: this device sees all of it anyway.
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

template <class A>
abi::Error* tell(A* a, const char*& text, std::size_t& size, std::string_view value) {
  if (abi::Error* error = check_size(a)) return error;
  text = value.data();
  size = value.size();
  return nullptr;
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
  set(api, +[](abi::PluginInitializeArgs*) -> abi::Error* { return nullptr; });
  set(
      api, +[](abi::PluginAttributesArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->attributes = plugin_attributes().data();
        a->num_attributes = plugin_attributes().size();
        return nullptr;
      });
  set(
      api, +[](abi::ClientCreateArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
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
  set(
      api, +[](abi::ClientDmaMapArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        const std::scoped_lock lock(mapped_mutex);
        if (mapped.insert(a->data).second) return nullptr;
        return make_error(kFailedPrecondition, "mapped before");
      });
  set(
      api, +[](abi::ClientDmaUnmapArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        const std::scoped_lock lock(mapped_mutex);
        if (mapped.erase(a->data) == 1) return nullptr;
        return make_error(kFailedPrecondition, "not mapped");
      });
  set(
      api, +[](abi::ClientDestroyArgs* a) -> abi::Error* {
        delete a->client;
        return nullptr;
      });
  set(
      api, +[](abi::ClientPlatformNameArgs* a) -> abi::Error* {
        return tell(a, a->platform_name, a->platform_name_size, kPlatform);
      });
  set(
      api, +[](abi::ClientPlatformVersionArgs* a) -> abi::Error* {
        return tell(a, a->platform_version, a->platform_version_size, kVersion);
      });
  set(
      api, +[](abi::ClientProcessIndexArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->process_index = 0;
        return nullptr;
      });
  set(
      api, +[](abi::ClientDevicesArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->devices = a->client->device_list.data();
        a->num_devices = a->client->device_list.size();
        return nullptr;
      });
  set(
      api, +[](abi::ClientAddressableDevicesArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->devices = a->client->device_list.data();
        a->num_devices = a->client->device_list.size();
        return nullptr;
      });
  set(
      api, +[](abi::ClientLookupDeviceArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        return find_device(a->client, a->id, &a->device);
      });
  set(
      api, +[](abi::ClientLookupAddressableDeviceArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        return find_device(a->client, a->local_hardware_id, &a->device);
      });
  set(
      api, +[](abi::ClientAddressableMemoriesArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->memories = a->client->memory_list.data();
        a->num_memories = a->client->memory_list.size();
        return nullptr;
      });
  set(
      api, +[](abi::ClientDefaultDeviceAssignmentArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        const std::size_t wanted =
            static_cast<std::size_t>(a->num_replicas) * static_cast<std::size_t>(a->num_partitions);
        if (wanted > a->client->devices.size()) {
          return make_error(
              kInvalidArgument,
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
  set(
      api, +[](abi::DeviceGetDescriptionArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->description = &a->device->description;
        return nullptr;
      });
  set(
      api, +[](abi::DeviceDescriptionIdArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->id = a->description->id;
        return nullptr;
      });
  set(
      api, +[](abi::DeviceDescriptionProcessIndexArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->process_index = 0;
        return nullptr;
      });
  set(
      api, +[](abi::DeviceDescriptionAttributesArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->attributes = device_attributes().data();
        a->num_attributes = device_attributes().size();
        return nullptr;
      });
  set(
      api, +[](abi::DeviceDescriptionKindArgs* a) -> abi::Error* {
        return tell(a, a->kind, a->kind_size, kDeviceKind);
      });
  set(
      api, +[](abi::DeviceDescriptionDebugStringArgs* a) -> abi::Error* {
        return tell(a, a->text, a->text_size, a->description->debug);
      });
  set(
      api, +[](abi::DeviceDescriptionToStringArgs* a) -> abi::Error* {
        return tell(a, a->text, a->text_size, a->description->text);
      });
  set(
      api, +[](abi::DeviceIsAddressableArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->is_addressable = true;
        return nullptr;
      });
  set(
      api, +[](abi::DeviceLocalHardwareIdArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->local_hardware_id = a->device->description.id;
        return nullptr;
      });
  set(
      api, +[](abi::DeviceAddressableMemoriesArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->memories = a->device->memories;
        a->num_memories = 1;
        return nullptr;
      });
  set(
      api, +[](abi::DeviceDefaultMemoryArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->memory = &a->device->memory;
        return nullptr;
      });
  set(
      api, +[](abi::DeviceMemoryStatsArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->bytes_in_use = a->device->bytes_in_use;
        a->peak_bytes_in_use = {.value = std::max<std::int64_t>(a->bytes_in_use, 1 << 20),
                                .is_set = true};
        return nullptr;
      });
  set(api, +[](abi::DeviceClearMemoryStatsArgs*) -> abi::Error* { return nullptr; });
  set(
      api, +[](abi::DeviceGetAttributesArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->attributes = device_attributes().data();
        a->num_attributes = device_attributes().size();
        a->owner = reinterpret_cast<abi::DeviceAttributes*>(new std::string);
        a->deleter =
            +[](abi::DeviceAttributes* owner) { delete reinterpret_cast<std::string*>(owner); };
        return nullptr;
      });
  set(
      api, +[](abi::MemoryIdArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->id = a->memory->id;
        return nullptr;
      });
  set(
      api, +[](abi::MemoryKindArgs* a) -> abi::Error* {
        return tell(a, a->kind, a->kind_size, kMemoryKind);
      });
  set(
      api, +[](abi::MemoryKindIdArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->kind_id = kMemoryKindId;
        return nullptr;
      });
  set(
      api, +[](abi::MemoryDebugStringArgs* a) -> abi::Error* {
        return tell(a, a->text, a->text_size, a->memory->device->description.debug);
      });
  set(
      api, +[](abi::MemoryToStringArgs* a) -> abi::Error* {
        return tell(a, a->text, a->text_size, a->memory->device->description.text);
      });
  set(
      api, +[](abi::MemoryAddressableByDevicesArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        abi::Client* client = a->memory->device->client;
        a->devices = &client->device_list[static_cast<std::size_t>(a->memory->id - 100)];
        a->num_devices = 1;
        return nullptr;
      });
}

void add_topologies(abi::Api& api) {
  set(
      api, +[](abi::ClientTopologyDescriptionArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->topology = a->client->topology.get();
        return nullptr;
      });
  set(
      api, +[](abi::TopologyCreateArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->topology = make_topology(kDefaultDevices).release();
        return nullptr;
      });
  set(
      api, +[](abi::TopologyDestroyArgs* a) -> abi::Error* {
        delete a->topology;
        return nullptr;
      });
  set(
      api, +[](abi::TopologyPlatformNameArgs* a) -> abi::Error* {
        return tell(a, a->name, a->name_size, kPlatform);
      });
  set(
      api, +[](abi::TopologyPlatformVersionArgs* a) -> abi::Error* {
        return tell(a, a->version, a->version_size, kVersion);
      });
  set(
      api, +[](abi::TopologyGetDeviceDescriptionsArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->descriptions = a->topology->descriptions.data();
        a->num_descriptions = a->topology->descriptions.size();
        return nullptr;
      });
  set(
      api, +[](abi::TopologyFingerprintArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        a->fingerprint = 0x6d656d6f7279 + a->topology->descriptions.size();
        return nullptr;
      });
  set(
      api, +[](abi::TopologySerializeArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
        auto* text = new std::string(std::string(kTopologyHead) +
                                     std::to_string(a->topology->descriptions.size()));
        a->bytes = text->data();
        a->bytes_size = text->size();
        a->holder = reinterpret_cast<abi::SerializedTopology*>(text);
        a->deleter =
            +[](abi::SerializedTopology* holder) { delete reinterpret_cast<std::string*>(holder); };
        return nullptr;
      });
  set(
      api, +[](abi::TopologyDeserializeArgs* a) -> abi::Error* {
        if (abi::Error* error = check_size(a)) return error;
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
