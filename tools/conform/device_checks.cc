// Devices and memories, and what they report of themselves; then topologies: devices described
// without having them.
#include <functional>
#include <set>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family device_family("client.devices");
Family topology_family("client.platform_name client.devices");

namespace {

Status each_device(Rig& rig, const std::function<Status(abi::Device*)>& body) {
  MILLRACE_TRY(const auto all, rig.devices());
  for (abi::Device* device : all) MILLRACE_TRY_STATUS(body(device));
  return {};
}

Status each_description(Rig& rig, const std::function<Status(abi::DeviceDescription*)>& body) {
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(const auto args, rig.ask<abi::DeviceGetDescriptionArgs>(device));
    if (args.description == nullptr) return broken("a device has no description");
    return body(args.description);
  });
}

Status each_memory(Rig& rig, const std::function<Status(abi::Memory*)>& body) {
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientAddressableMemoriesArgs>());
  for (std::size_t i = 0; i < args.num_memories; ++i) MILLRACE_TRY_STATUS(body(args.memories[i]));
  return {};
}

template <class DebugArgs, class TextArgs, class T>
Status expect_texts(Rig& rig, T* object, const std::string& what) {
  MILLRACE_TRY(const auto debug, rig.ask<DebugArgs>(object));
  MILLRACE_TRY_STATUS(rig.note_text(debug.text, debug.text_size, "the debug text of " + what));
  MILLRACE_TRY(const auto text, rig.ask<TextArgs>(object));
  return rig.note_text(text.text, text.text_size, "the text of " + what);
}

MILLRACE_CONFORM(device, description, "every device reports its kind and describes itself",
                 .need = kMust) {
  return each_description(rig, [&](abi::DeviceDescription* d) -> Status {
    const Status texts =
        expect_texts<abi::DeviceDescriptionDebugStringArgs, abi::DeviceDescriptionToStringArgs>(
            rig, d, "a device");
    MILLRACE_TRY_STATUS(texts);
    MILLRACE_TRY(const auto kind, rig.ask<abi::DeviceDescriptionKindArgs>(d));
    return rig.note_text(kind.kind, kind.kind_size, "the kind of a device");
  });
}

MILLRACE_CONFORM(device, ids, "ids of devices differ, and stay", .need = kMust) {
  std::set<int> seen;
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(const int id, rig.id(device));
    if (!seen.insert(id).second) return broken("two devices have the id ", id);
    for (int i = 0; i < 3; ++i) {
      MILLRACE_TRY(const int again, rig.id(device));
      if (again != id) return broken("device ", id, " says later that it is ", again);
    }
    return {};
  });
}

MILLRACE_CONFORM(device, attributes,
                 "attributes of devices are texts, whole numbers or lists of them") {
  return each_description(rig, [&](abi::DeviceDescription* d) -> Status {
    MILLRACE_TRY(const auto args, rig.ask<abi::DeviceDescriptionAttributesArgs>(d));
    MILLRACE_TRY_STATUS(
        attribute_names(args.attributes, args.num_attributes, abi::ValueType::kInt64List));
    return {};
  });
}

MILLRACE_CONFORM(device, process_index, "devices of this process are in this process",
                 .after = "client.process_index") {
  MILLRACE_TRY(const auto client, rig.ask_client<abi::ClientProcessIndexArgs>());
  return each_description(rig, [&](abi::DeviceDescription* d) -> Status {
    MILLRACE_TRY(const auto args, rig.ask<abi::DeviceDescriptionProcessIndexArgs>(d));
    return expect(args.process_index == client.process_index,
                  "a device of this process says that it is in process ", args.process_index);
  });
}

MILLRACE_CONFORM(device, addressable, "devices of this process are addressable") {
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(const auto args, rig.ask<abi::DeviceIsAddressableArgs>(device));
    return expect(args.is_addressable, "a device of this process says that it is not");
  });
}

Result<int> hardware_id_of(Rig& rig, abi::Device* device) {
  MILLRACE_TRY(const auto args, rig.ask<abi::DeviceLocalHardwareIdArgs>(device));
  return args.local_hardware_id;
}

MILLRACE_CONFORM(device, hardware_id, "hardware ids of devices differ") {
  std::set<int> seen;
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(const int id, hardware_id_of(rig, device));
    if (id != -1 && !seen.insert(id).second) return broken("two devices have the hardware id ", id);
    return {};
  });
}

MILLRACE_CONFORM(device, lookup_by_hardware_id, "every device is found by its hardware id",
                 .after = "device.hardware_id") {
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(const int id, hardware_id_of(rig, device));
    if (id == -1) return lacks("the devices have no hardware ids");
    MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientLookupAddressableDeviceArgs>(id));
    return expect(args.device == device, "hardware id ", id,
                  " finds another device than the one with it");
  });
}

MILLRACE_CONFORM(device, memories, "a device's default memory is one of its memories") {
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(const auto args, rig.ask<abi::DeviceAddressableMemoriesArgs>(device));
    const std::set<abi::Memory*> all(args.memories, args.memories + args.num_memories);
    MILLRACE_TRY(abi::Memory* const standard, rig.memory(device));
    return expect(all.contains(standard), "the default memory is none of the device's");
  });
}

MILLRACE_CONFORM(device, memory_devices, "a device's default memory names the device") {
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(abi::Memory* const memory, rig.memory(device));
    MILLRACE_TRY(const auto args, rig.ask<abi::MemoryAddressableByDevicesArgs>(memory));
    const std::set<abi::Device*> all(args.devices, args.devices + args.num_devices);
    return expect(all.contains(device), "a device's default memory does not name the device");
  });
}

MILLRACE_CONFORM(device, memory_ids, "ids of memories differ", .after = "client.memories") {
  std::set<int> seen;
  return each_memory(rig, [&](abi::Memory* memory) -> Status {
    MILLRACE_TRY(const auto args, rig.ask<abi::MemoryIdArgs>(memory));
    return expect(seen.insert(args.id).second, "two memories have the id ", args.id);
  });
}

MILLRACE_CONFORM(device, memory_kinds, "memories of one kind have one kind id",
                 .after = "client.memories") {
  std::map<std::string, int> kinds;
  MILLRACE_TRY_STATUS(each_memory(rig, [&](abi::Memory* memory) -> Status {
    MILLRACE_TRY(const auto kind, rig.ask<abi::MemoryKindArgs>(memory));
    MILLRACE_TRY_STATUS(rig.note_text(kind.kind, kind.kind_size, "the kind of a memory"));
    MILLRACE_TRY(const auto id, rig.ask<abi::MemoryKindIdArgs>(memory));
    const std::string name(kind.kind, kind.kind_size);
    const auto [found, added] = kinds.emplace(name, id.kind_id);
    if (!added && found->second != id.kind_id) {
      return broken("memories of the kind ", name, " have kind ids ", found->second, " and ",
                    id.kind_id);
    }
    return {};
  }));
  std::string list;
  for (const auto& [name, id] : kinds) list += (list.empty() ? "" : ", ") + name;
  return rig.note(list);
}

MILLRACE_CONFORM(device, memory_texts, "every memory describes itself",
                 .after = "client.memories") {
  return each_memory(rig, [&](abi::Memory* memory) -> Status {
    return expect_texts<abi::MemoryDebugStringArgs, abi::MemoryToStringArgs>(rig, memory,
                                                                             "a memory");
  });
}

MILLRACE_CONFORM(device, memory_stats,
                 "the bytes in use are not negative, nor more than their peak") {
  MILLRACE_TRY(abi::Device* const device, rig.device());
  MILLRACE_TRY(const auto args, rig.ask<abi::DeviceMemoryStatsArgs>(device));
  if (args.bytes_in_use < 0) return broken(args.bytes_in_use, " bytes are in use");
  if (args.peak_bytes_in_use.is_set && args.peak_bytes_in_use.value < args.bytes_in_use) {
    return broken("more bytes are in use than there ever were");
  }
  return {};
}

MILLRACE_CONFORM(device, clear_memory_stats, "statistics of memory can be cleared") {
  MILLRACE_TRY(abi::Device* const device, rig.device());
  return rig.call<abi::DeviceClearMemoryStatsArgs>(device);
}

MILLRACE_CONFORM(device, extra_attributes,
                 "PJRT_Device_GetAttributes gives what frees its attributes") {
  MILLRACE_TRY(abi::Device* const device, rig.device());
  MILLRACE_TRY(const auto args, rig.ask<abi::DeviceGetAttributesArgs>(device));
  if (args.deleter == nullptr) return broken("there is no deleter; clients end the process");
  static_cast<void>(rig.note(args.num_attributes));
  args.deleter(args.owner);
  return {};
}

MILLRACE_CONFORM(device, execute_context, "a context of executions can be made and destroyed",
                 .need = kMay) {
  MILLRACE_TRY_STATUS(rig.client());
  MILLRACE_TRY(const auto create, rig.ask<abi::ExecuteContextCreateArgs>());
  if (create.context == nullptr) return broken("PJRT_ExecuteContext_Create gives no context");
  return rig.call<abi::ExecuteContextDestroyArgs>(create.context);
}

Result<abi::Topology*> of_client(Rig& rig) {
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientTopologyDescriptionArgs>());
  if (args.topology == nullptr) return broken("the client has no topology");
  return args.topology;
}

Result<std::size_t> count_devices(Rig& rig, abi::Topology* topology) {
  MILLRACE_TRY(const auto args, rig.ask<abi::TopologyGetDeviceDescriptionsArgs>(topology));
  for (std::size_t i = 0; i < args.num_descriptions; ++i) {
    MILLRACE_TRY(const auto kind, rig.ask<abi::DeviceDescriptionKindArgs>(args.descriptions[i]));
    if (kind.kind_size == 0) return broken("a device of it has no kind");
  }
  return args.num_descriptions;
}

Result<std::string> serialized(Rig& rig, abi::Topology* topology) {
  MILLRACE_TRY(const auto args, rig.ask<abi::TopologySerializeArgs>(topology));
  return take_bytes(args.bytes, args.bytes_size, args.holder, args.deleter);
}

Result<HeldTopology> deserialized(Rig& rig, const std::string& bytes) {
  MILLRACE_TRY(const auto args, rig.ask<abi::TopologyDeserializeArgs>(bytes.data(), bytes.size()));
  return rig.hold(args.topology);
}

MILLRACE_CONFORM(topology, platform, "a client's topology is of its platform") {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  MILLRACE_TRY(const auto args, rig.ask<abi::TopologyPlatformNameArgs>(topology));
  MILLRACE_TRY(const auto client, rig.ask_client<abi::ClientPlatformNameArgs>());
  const std::string name(args.name, args.name_size);
  return expect(name == std::string(client.platform_name, client.platform_name_size),
                "its platform is '", name, "', not the client's");
}

MILLRACE_CONFORM(topology, version, "a topology's platform has a version") {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  MILLRACE_TRY(const auto args, rig.ask<abi::TopologyPlatformVersionArgs>(topology));
  return expect(args.version_size > 0, "its platform has no version");
}

MILLRACE_CONFORM(topology, descriptions, "a topology describes its devices",
                 .after = "device.description", .need = kMay) {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  MILLRACE_TRY(const std::size_t devices, count_devices(rig, topology));
  static_cast<void>(rig.note(devices, " devices"));
  return expect(devices > 0, "it has no device");
}

MILLRACE_CONFORM(topology, fingerprint, "a topology has one fingerprint", .need = kMay) {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  MILLRACE_TRY(const auto first, rig.ask<abi::TopologyFingerprintArgs>(topology));
  MILLRACE_TRY(const auto second, rig.ask<abi::TopologyFingerprintArgs>(topology));
  return expect(first.fingerprint == second.fingerprint, "it has two of them");
}

MILLRACE_CONFORM(topology, round_trip, "a topology that became bytes and back has its devices",
                 .after = "topology.descriptions", .need = kMay) {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  MILLRACE_TRY(const std::string bytes, serialized(rig, topology));
  MILLRACE_TRY(const HeldTopology again, deserialized(rig, bytes));
  if (!again) return broken("there is no topology");
  MILLRACE_TRY(const std::size_t devices, count_devices(rig, again));
  MILLRACE_TRY(const std::size_t wanted, count_devices(rig, topology));
  static_cast<void>(rig.note(bytes.size(), " bytes"));
  return expect(devices == wanted, "of ", wanted, " devices ", devices, " come back");
}

MILLRACE_CONFORM(topology, nonsense, "bytes that are no topology are refused",
                 .after = "topology.round_trip") {
  MILLRACE_TRY_STATUS(rig.client());
  const Result<HeldTopology> made = deserialized(rig, "\xff\xff\xff no topology");
  return expect_refused(made, "what is none");
}

MILLRACE_CONFORM(topology, create, "a topology can be made without a client", .need = kMay) {
  MILLRACE_TRY_STATUS(rig.client());
  MILLRACE_TRY(const auto args, rig.ask<abi::TopologyCreateArgs>(""));
  const HeldTopology topology = rig.hold(args.topology);
  if (!topology) return broken("there is no topology");
  MILLRACE_TRY(const std::size_t devices, count_devices(rig, topology));
  return rig.note(devices, " devices");
}

MILLRACE_CONFORM(topology, compile, "a program is compiled for a topology, without a client",
                 .after = "compile.outputs", .need = kMay) {
  std::string text = add_program();
  const std::string format = "mlir";
  const std::string options = rig.portable_options();
  abi::Program program = borrowed_program(text, format);
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  MILLRACE_TRY(const auto args,
               rig.ask<abi::CompileArgs>(topology, &program, options.data(), options.size()));
  const HeldExecutable executable = rig.hold(args.executable);
  if (!executable) return broken("there is no executable");
  MILLRACE_TRY(const auto outputs, rig.ask<abi::ExecutableNumOutputsArgs>(executable));
  return expect(outputs.num_outputs == 1, "it has not the one result");
}

}  // namespace
}  // namespace millrace::conform
