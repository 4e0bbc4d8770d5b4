// Of what clients, devices, memories and topologies tell of themselves.
#include <map>

#include "tests/faulty_plugin/faults.h"

namespace millrace::faulty_plugin {
namespace {

abi::Device* other_than(abi::Device* device) {
  abi::Client* client = device->client;
  return client->device_list[device == client->device_list[0] ? 1 : 0];
}

std::atomic<int> clients_alive{0};

}  // namespace

Faults description_faults() {
  return {
      {"client.create", &refuse<abi::ClientCreateArgs>},
      {"client.create_again",
       [](abi::Api& api) {
         instead<abi::ClientCreateArgs>(api, [](auto* a) {
           if (clients_alive++ > 0) return make_error(9, "there is a client already");
           return healthy(a);
         });
         after<abi::ClientDestroyArgs>(api, [](auto* /*a*/) { --clients_alive; });
       }},
      {"client.devices",
       [](abi::Api& api) {
         after<abi::ClientDevicesArgs>(api, [](auto* a) {
           static std::vector<abi::Device*> twice;
           twice = {a->devices[0], a->devices[0]};
           a->devices = twice.data();
         });
       }},
      {"client.platform_name",
       [](abi::Api& api) {
         after<abi::ClientPlatformNameArgs>(api, [](auto* a) { a->platform_name_size = 0; });
       }},
      {"client.platform_version",
       [](abi::Api& api) {
         after<abi::ClientPlatformVersionArgs>(api, [](auto* a) { a->platform_version_size = 0; });
       }},
      {"client.process_index",
       [](abi::Api& api) {
         after<abi::ClientProcessIndexArgs>(api, [](auto* a) { a->process_index = -1; });
       }},
      {"client.lookup",
       [](abi::Api& api) {
         after<abi::ClientLookupDeviceArgs>(api,
                                            [](auto* a) { a->device = other_than(a->device); });
       }},
      {"client.memories",
       [](abi::Api& api) {
         after<abi::ClientAddressableMemoriesArgs>(api, [](auto* a) {
           static std::vector<abi::Memory*> twice;
           twice = {a->memories[0], a->memories[0]};
           a->memories = twice.data();
         });
       }},
      {"client.default_assignment",
       [](abi::Api& api) {
         after<abi::ClientDefaultDeviceAssignmentArgs>(api, [](auto* a) {
           if (a->num_replicas == 1) a->assignment[0] = 777;
         });
       }},
      {"client.default_assignment_room",
       [](abi::Api& api) {
         instead<abi::ClientDefaultDeviceAssignmentArgs>(api, [](auto* a) {
           if (a->num_replicas > 1) a->size = 2;
           return healthy(a);
         });
       }},
      {"device.description",
       [](abi::Api& api) {
         after<abi::DeviceDescriptionDebugStringArgs>(api, [](auto* a) { a->text_size = 0; });
       }},
      {"device.ids",
       [](abi::Api& api) {
         after<abi::DeviceDescriptionIdArgs>(api, [](auto* a) {
           static std::map<abi::DeviceDescription*, int> reads;
           if (++reads[a->description] > 3) a->id += 1000;
         });
       }},
      {"device.attributes",
       [](abi::Api& api) {
         after<abi::DeviceDescriptionAttributesArgs>(api, [](auto* a) {
           static abi::NamedValue flag = a->attributes[0];
           flag.type = abi::ValueType::kBool;
           a->attributes = &flag;
           a->num_attributes = 1;
         });
       }},
      {"device.process_index",
       [](abi::Api& api) {
         after<abi::DeviceDescriptionProcessIndexArgs>(api, [](auto* a) { a->process_index = 5; });
       }},
      {"device.addressable",
       [](abi::Api& api) {
         after<abi::DeviceIsAddressableArgs>(api, [](auto* a) { a->is_addressable = false; });
       }},
      {"device.hardware_id",
       [](abi::Api& api) {
         after<abi::DeviceLocalHardwareIdArgs>(api, [](auto* a) { a->local_hardware_id = 3; });
       }},
      {"device.lookup_by_hardware_id",
       [](abi::Api& api) {
         after<abi::ClientLookupAddressableDeviceArgs>(
             api, [](auto* a) { a->device = other_than(a->device); });
       }},
      {"device.memories",
       [](abi::Api& api) {
         after<abi::DeviceAddressableMemoriesArgs>(api, [](auto* a) { a->num_memories = 0; });
       }},
      {"device.memory_devices",
       [](abi::Api& api) {
         after<abi::MemoryAddressableByDevicesArgs>(api, [](auto* a) { a->num_devices = 0; });
       }},
      {"device.memory_ids",
       [](abi::Api& api) { after<abi::MemoryIdArgs>(api, [](auto* a) { a->id = 7; }); }},
      {"device.memory_kinds",
       [](abi::Api& api) {
         after<abi::MemoryKindIdArgs>(api, [](auto* a) {
           static int next = 0;
           a->kind_id = ++next;
         });
       }},
      {"device.memory_texts",
       [](abi::Api& api) {
         after<abi::MemoryToStringArgs>(api, [](auto* a) { a->text_size = 0; });
       }},
      {"device.memory_stats",
       [](abi::Api& api) {
         after<abi::DeviceMemoryStatsArgs>(api, [](auto* a) { a->bytes_in_use = -5; });
       }},
      {"device.clear_memory_stats", &refuse<abi::DeviceClearMemoryStatsArgs>},
      {"device.extra_attributes",
       [](abi::Api& api) {
         after<abi::DeviceGetAttributesArgs>(api, [](auto* a) { a->deleter = nullptr; });
       }},
      {"device.execute_context",
       [](abi::Api& api) {
         after<abi::ExecuteContextCreateArgs>(api, [](auto* a) { a->context = nullptr; });
       }},
      {"topology.platform",
       [](abi::Api& api) {
         after<abi::TopologyPlatformNameArgs>(api, [](auto* a) { a->name = "yromem"; });
       }},
      {"topology.version",
       [](abi::Api& api) {
         after<abi::TopologyPlatformVersionArgs>(api, [](auto* a) { a->version_size = 0; });
       }},
      {"topology.descriptions",
       [](abi::Api& api) {
         after<abi::TopologyGetDeviceDescriptionsArgs>(api,
                                                       [](auto* a) { a->num_descriptions = 0; });
       }},
      {"topology.fingerprint",
       [](abi::Api& api) {
         after<abi::TopologyFingerprintArgs>(api, [](auto* a) {
           static std::uint64_t next = 0;
           a->fingerprint = ++next;
         });
       }},
      {"topology.round_trip",
       [](abi::Api& api) {
         after<abi::TopologyDeserializeArgs>(api,
                                             [](auto* a) { a->topology->descriptions.pop_back(); });
       }},
      {"topology.nonsense",
       [](abi::Api& api) {
         instead<abi::TopologyDeserializeArgs>(api, [](auto* a) -> abi::Error* {
           abi::Error* error = healthy(a);
           if (error == nullptr) return nullptr;
           delete error;
           a->topology = new abi::Topology;
           return nullptr;
         });
       }},
      {"topology.create",
       [](abi::Api& api) {
         after<abi::TopologyCreateArgs>(api, [](auto* a) { a->topology = nullptr; });
       }},
      {"topology.compile",
       [](abi::Api& api) {
         after<abi::CompileArgs>(api, [](auto* a) { a->executable = nullptr; });
       }},
  };
}

}  // namespace millrace::faulty_plugin
