// Faults of the facts that clients, devices, memories and topologies report.
#include <map>

#include "tests/plugins/faulty/faults.h"

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
         instead<[](abi::ClientCreateArgs* a) {
           if (0 < clients_alive++) return make_error(9, "there is a client already");
           return healthy(a);
         }>(api);
         after<[](abi::ClientDestroyArgs* /*a*/) { --clients_alive; }>(api);
       }},
      {"client.devices", after<[](abi::ClientDevicesArgs* a) {
         static std::vector<abi::Device*> twice;
         twice = {a->devices[0], a->devices[0]};
         a->devices = twice.data();
       }>},
      {"client.platform_name",
       after<[](abi::ClientPlatformNameArgs* a) { a->platform_name_size = 0; }>},
      {"client.platform_version",
       after<[](abi::ClientPlatformVersionArgs* a) { a->platform_version_size = 0; }>},
      {"client.process_index",
       after<[](abi::ClientProcessIndexArgs* a) { a->process_index = -1; }>},
      {"client.lookup",
       after<[](abi::ClientLookupDeviceArgs* a) { a->device = other_than(a->device); }>},
      {"client.memories", after<[](abi::ClientAddressableMemoriesArgs* a) {
         static std::vector<abi::Memory*> twice;
         twice = {a->memories[0], a->memories[0]};
         a->memories = twice.data();
       }>},
      {"client.default_assignment", after<[](abi::ClientDefaultDeviceAssignmentArgs* a) {
         if (a->num_replicas == 1) a->assignment[0] = 777;
       }>},
      {"client.default_assignment_room", before<[](abi::ClientDefaultDeviceAssignmentArgs* a) {
         if (1 < a->num_replicas) a->size = 2;
       }>},
      {"device.description",
       after<[](abi::DeviceDescriptionDebugStringArgs* a) { a->text_size = 0; }>},
      {"device.ids", after<[](abi::DeviceDescriptionIdArgs* a) {
         static std::map<abi::DeviceDescription*, int> reads;
         if (3 < ++reads[a->description]) a->id += 1000;
       }>},
      {"device.attributes", after<[](abi::DeviceDescriptionAttributesArgs* a) {
         static abi::NamedValue flag = a->attributes[0];
         flag.type = abi::ValueType::kBool;
         a->attributes = &flag;
         a->num_attributes = 1;
       }>},
      {"device.process_index",
       after<[](abi::DeviceDescriptionProcessIndexArgs* a) { a->process_index = 5; }>},
      {"device.addressable",
       after<[](abi::DeviceIsAddressableArgs* a) { a->is_addressable = false; }>},
      {"device.hardware_id",
       after<[](abi::DeviceLocalHardwareIdArgs* a) { a->local_hardware_id = 3; }>},
      {"device.lookup_by_hardware_id",
       after<[](abi::ClientLookupAddressableDeviceArgs* a) { a->device = other_than(a->device); }>},
      {"device.memories",
       after<[](abi::DeviceAddressableMemoriesArgs* a) { a->num_memories = 0; }>},
      {"device.memory_devices",
       after<[](abi::MemoryAddressableByDevicesArgs* a) { a->num_devices = 0; }>},
      {"device.memory_ids", after<[](abi::MemoryIdArgs* a) { a->id = 7; }>},
      {"device.memory_kinds", after<[](abi::MemoryKindIdArgs* a) {
         static int next = 0;
         a->kind_id = ++next;
       }>},
      {"device.memory_texts", after<[](abi::MemoryToStringArgs* a) { a->text_size = 0; }>},
      {"device.memory_stats", after<[](abi::DeviceMemoryStatsArgs* a) { a->bytes_in_use = -5; }>},
      {"device.clear_memory_stats", &refuse<abi::DeviceClearMemoryStatsArgs>},
      {"device.extra_attributes",
       after<[](abi::DeviceGetAttributesArgs* a) { a->deleter = nullptr; }>},
      {"device.execute_context",
       after<[](abi::ExecuteContextCreateArgs* a) { a->context = nullptr; }>},
      {"topology.platform", after<[](abi::TopologyPlatformNameArgs* a) { a->name = "yromem"; }>},
      {"topology.version", after<[](abi::TopologyPlatformVersionArgs* a) { a->version_size = 0; }>},
      {"topology.descriptions",
       after<[](abi::TopologyGetDeviceDescriptionsArgs* a) { a->num_descriptions = 0; }>},
      {"topology.fingerprint", after<[](abi::TopologyFingerprintArgs* a) {
         static std::uint64_t next = 0;
         a->fingerprint = ++next;
       }>},
      {"topology.round_trip",
       after<[](abi::TopologyDeserializeArgs* a) { a->topology->descriptions.pop_back(); }>},
      {"topology.nonsense", instead<[](abi::TopologyDeserializeArgs* a) -> abi::Error* {
         abi::Error* error = healthy(a);
         if (error == nullptr) return nullptr;
         delete error;
         a->topology = new abi::Topology;
         return nullptr;
       }>},
      {"topology.create", after<[](abi::TopologyCreateArgs* a) { a->topology = nullptr; }>},
      {"topology.compile", after<[](abi::CompileArgs* a) { a->executable = nullptr; }>},
  };
}

}  // namespace millrace::faulty_plugin
