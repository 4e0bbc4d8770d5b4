// Devices and memories, and what they tell of themselves.
#include <functional>
#include <set>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

Result<abi::DeviceDescription*> describe(Rig& rig, abi::Device* device) {
  abi::DeviceGetDescriptionArgs args;
  args.device = device;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.description == nullptr) return broken("a device has no description");
  return args.description;
}

Status each_device(Rig& rig, const std::function<Status(abi::Device*)>& body) {
  MILLRACE_TRY(const auto all, rig.devices());
  for (abi::Device* device : all) MILLRACE_TRY_STATUS(body(device));
  return {};
}

Status each_description(Rig& rig, const std::function<Status(abi::DeviceDescription*)>& body) {
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(abi::DeviceDescription* const description, describe(rig, device));
    return body(description);
  });
}

Status each_memory(Rig& rig, const std::function<Status(abi::Memory*)>& body) {
  abi::ClientAddressableMemoriesArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  for (std::size_t i = 0; i < args.num_memories; ++i) MILLRACE_TRY_STATUS(body(args.memories[i]));
  return {};
}

Status expect_text(const char* text, std::size_t size, const char* what) {
  return text != nullptr && size > 0 ? Status() : broken(std::string(what) + " is empty");
}

Status description(Rig& rig) {
  return each_description(rig, [&](abi::DeviceDescription* d) -> Status {
    abi::DeviceDescriptionKindArgs kind;
    kind.description = d;
    MILLRACE_TRY_STATUS(rig.table().call(kind));
    MILLRACE_TRY_STATUS(expect_text(kind.kind, kind.kind_size, "the kind of a device"));
    rig.note(std::string(kind.kind, kind.kind_size));
    abi::DeviceDescriptionDebugStringArgs debug;
    debug.description = d;
    MILLRACE_TRY_STATUS(rig.table().call(debug));
    MILLRACE_TRY_STATUS(expect_text(debug.text, debug.text_size, "the debug text of a device"));
    abi::DeviceDescriptionToStringArgs text;
    text.description = d;
    MILLRACE_TRY_STATUS(rig.table().call(text));
    return expect_text(text.text, text.text_size, "the text of a device");
  });
}

Status ids(Rig& rig) {
  std::set<int> seen;
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(const int id, rig.id(device));
    if (!seen.insert(id).second) return broken("two devices have the id " + std::to_string(id));
    for (int i = 0; i < 3; ++i) {
      MILLRACE_TRY(const int again, rig.id(device));
      if (again != id) {
        return broken("device " + std::to_string(id) + " says later that it is " +
                      std::to_string(again));
      }
    }
    return {};
  });
}

Status attributes(Rig& rig) {
  return each_description(rig, [&](abi::DeviceDescription* d) -> Status {
    abi::DeviceDescriptionAttributesArgs args;
    args.description = d;
    MILLRACE_TRY_STATUS(rig.table().call(args));
    std::set<std::string> names;
    for (std::size_t i = 0; i < args.num_attributes; ++i) {
      const abi::NamedValue& v = args.attributes[i];
      const std::string name(v.name, v.name_size);
      if (!names.insert(name).second) return broken("there are two attributes " + name);
      if (v.type < abi::ValueType::kString || v.type > abi::ValueType::kInt64List) {
        return broken("attribute " + name +
                      " is no text, whole number or list of them; clients end the process");
      }
    }
    return {};
  });
}

Status process_index(Rig& rig) {
  abi::ClientProcessIndexArgs client;
  MILLRACE_TRY(client.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(client));
  return each_description(rig, [&](abi::DeviceDescription* d) -> Status {
    abi::DeviceDescriptionProcessIndexArgs args;
    args.description = d;
    MILLRACE_TRY_STATUS(rig.table().call(args));
    if (args.process_index == client.process_index) return {};
    return broken("a device of this process says that it is in process " +
                  std::to_string(args.process_index));
  });
}

Status addressable(Rig& rig) {
  return each_device(rig, [&](abi::Device* device) -> Status {
    abi::DeviceIsAddressableArgs args;
    args.device = device;
    MILLRACE_TRY_STATUS(rig.table().call(args));
    return args.is_addressable ? Status() : broken("a device of this process says that it is not");
  });
}

Result<int> hardware_id_of(Rig& rig, abi::Device* device) {
  abi::DeviceLocalHardwareIdArgs args;
  args.device = device;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return args.local_hardware_id;
}

Status hardware_id(Rig& rig) {
  std::set<int> seen;
  return each_device(rig, [&](abi::Device* device) -> Status {
    MILLRACE_TRY(const int id, hardware_id_of(rig, device));
    if (id != -1 && !seen.insert(id).second) {
      return broken("two devices have the hardware id " + std::to_string(id));
    }
    return {};
  });
}

Status lookup_by_hardware_id(Rig& rig) {
  return each_device(rig, [&](abi::Device* device) -> Status {
    abi::ClientLookupAddressableDeviceArgs args;
    MILLRACE_TRY(args.client, rig.client());
    MILLRACE_TRY(args.local_hardware_id, hardware_id_of(rig, device));
    if (args.local_hardware_id == -1) return lacks("the devices have no hardware ids");
    MILLRACE_TRY_STATUS(rig.table().call(args));
    if (args.device == device) return {};
    return broken("hardware id " + std::to_string(args.local_hardware_id) +
                  " finds another device than the one with it");
  });
}

Status memories(Rig& rig) {
  return each_device(rig, [&](abi::Device* device) -> Status {
    abi::DeviceAddressableMemoriesArgs args;
    args.device = device;
    MILLRACE_TRY_STATUS(rig.table().call(args));
    const std::set<abi::Memory*> all(args.memories, args.memories + args.num_memories);
    MILLRACE_TRY(abi::Memory* const standard, rig.memory(device));
    if (!all.contains(standard)) return broken("the default memory is none of the device's");
    return {};
  });
}

Status memory_devices(Rig& rig) {
  return each_device(rig, [&](abi::Device* device) -> Status {
    abi::MemoryAddressableByDevicesArgs args;
    MILLRACE_TRY(args.memory, rig.memory(device));
    MILLRACE_TRY_STATUS(rig.table().call(args));
    const std::set<abi::Device*> all(args.devices, args.devices + args.num_devices);
    if (!all.contains(device)) return broken("a device's default memory does not name the device");
    return {};
  });
}

Status memory_ids(Rig& rig) {
  std::set<int> seen;
  return each_memory(rig, [&](abi::Memory* memory) -> Status {
    abi::MemoryIdArgs args;
    args.memory = memory;
    MILLRACE_TRY_STATUS(rig.table().call(args));
    if (seen.insert(args.id).second) return {};
    return broken("two memories have the id " + std::to_string(args.id));
  });
}

Status memory_kinds(Rig& rig) {
  std::map<std::string, int> kinds;
  MILLRACE_TRY_STATUS(each_memory(rig, [&](abi::Memory* memory) -> Status {
    abi::MemoryKindArgs kind;
    kind.memory = memory;
    MILLRACE_TRY_STATUS(rig.table().call(kind));
    MILLRACE_TRY_STATUS(expect_text(kind.kind, kind.kind_size, "the kind of a memory"));
    abi::MemoryKindIdArgs id;
    id.memory = memory;
    MILLRACE_TRY_STATUS(rig.table().call(id));
    const std::string name(kind.kind, kind.kind_size);
    const auto [found, added] = kinds.emplace(name, id.kind_id);
    if (!added && found->second != id.kind_id) {
      return broken("memories of the kind " + name + " have kind ids " +
                    std::to_string(found->second) + " and " + std::to_string(id.kind_id));
    }
    return {};
  }));
  std::string list;
  for (const auto& [name, id] : kinds) list += (list.empty() ? "" : ", ") + name;
  rig.note(list);
  return {};
}

Status memory_texts(Rig& rig) {
  return each_memory(rig, [&](abi::Memory* memory) -> Status {
    abi::MemoryDebugStringArgs debug;
    debug.memory = memory;
    MILLRACE_TRY_STATUS(rig.table().call(debug));
    MILLRACE_TRY_STATUS(expect_text(debug.text, debug.text_size, "the debug text of a memory"));
    abi::MemoryToStringArgs text;
    text.memory = memory;
    MILLRACE_TRY_STATUS(rig.table().call(text));
    return expect_text(text.text, text.text_size, "the text of a memory");
  });
}

Status memory_stats(Rig& rig) {
  abi::DeviceMemoryStatsArgs args;
  MILLRACE_TRY(args.device, rig.device());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.bytes_in_use < 0) {
    return broken(std::to_string(args.bytes_in_use) + " bytes are in use");
  }
  if (args.peak_bytes_in_use.is_set && args.peak_bytes_in_use.value < args.bytes_in_use) {
    return broken("more bytes are in use than there ever were");
  }
  return {};
}

Status clear_memory_stats(Rig& rig) {
  abi::DeviceClearMemoryStatsArgs args;
  MILLRACE_TRY(args.device, rig.device());
  return rig.table().call(args);
}

Status extra_attributes(Rig& rig) {
  abi::DeviceGetAttributesArgs args;
  MILLRACE_TRY(args.device, rig.device());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.deleter == nullptr) return broken("there is no deleter; clients end the process");
  rig.note(std::to_string(args.num_attributes));
  args.deleter(args.owner);
  return {};
}

Status execute_context(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.client());
  abi::ExecuteContextCreateArgs create;
  MILLRACE_TRY_STATUS(rig.table().call(create));
  if (create.context == nullptr) return broken("PJRT_ExecuteContext_Create gives no context");
  abi::ExecuteContextDestroyArgs destroy;
  destroy.context = create.context;
  return rig.table().call(destroy);
}

}  // namespace

std::vector<Check> device_checks() {
  return after({"client.devices"},
               {
                   {.name = "device.description",
                    .wants = "every device tells its kind and describes itself",
                    .run = &description,
                    .need = Need::kMust},
                   {.name = "device.ids",
                    .wants = "ids of devices differ, and stay",
                    .run = &ids,
                    .need = Need::kMust},
                   {.name = "device.attributes",
                    .wants = "attributes of devices are texts, whole numbers or lists of them",
                    .run = &attributes},
                   {.name = "device.process_index",
                    .wants = "devices of this process are in this process",
                    .run = &process_index,
                    .after = {"client.process_index"}},
                   {.name = "device.addressable",
                    .wants = "devices of this process are addressable",
                    .run = &addressable},
                   {.name = "device.hardware_id",
                    .wants = "hardware ids of devices differ",
                    .run = &hardware_id},
                   {.name = "device.lookup_by_hardware_id",
                    .wants = "every device is found by its hardware id",
                    .run = &lookup_by_hardware_id,
                    .after = {"device.hardware_id"}},
                   {.name = "device.memories",
                    .wants = "a device's default memory is one of its memories",
                    .run = &memories},
                   {.name = "device.memory_devices",
                    .wants = "a device's default memory names the device",
                    .run = &memory_devices},
                   {.name = "device.memory_ids",
                    .wants = "ids of memories differ",
                    .run = &memory_ids,
                    .after = {"client.memories"}},
                   {.name = "device.memory_kinds",
                    .wants = "memories of one kind have one kind id",
                    .run = &memory_kinds,
                    .after = {"client.memories"}},
                   {.name = "device.memory_texts",
                    .wants = "every memory describes itself",
                    .run = &memory_texts,
                    .after = {"client.memories"}},
                   {.name = "device.memory_stats",
                    .wants = "the bytes in use are not negative, nor more than their peak",
                    .run = &memory_stats},
                   {.name = "device.clear_memory_stats",
                    .wants = "statistics of memory can be cleared",
                    .run = &clear_memory_stats},
                   {.name = "device.extra_attributes",
                    .wants = "PJRT_Device_GetAttributes gives what frees its attributes",
                    .run = &extra_attributes},
                   {.name = "device.execute_context",
                    .wants = "a context of executions can be made and destroyed",
                    .run = &execute_context,
                    .need = Need::kMay},
               });
}

}  // namespace millrace::conform
