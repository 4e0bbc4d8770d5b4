// Devices and memories, and what they tell of themselves.
#include <functional>
#include <set>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family device_family("client.devices");

namespace {

Result<abi::DeviceDescription*> describe(Rig& rig, abi::Device* device) {
  MILLRACE_TRY(const auto args, rig.ask<abi::DeviceGetDescriptionArgs>(device));
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
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientAddressableMemoriesArgs>());
  for (std::size_t i = 0; i < args.num_memories; ++i) MILLRACE_TRY_STATUS(body(args.memories[i]));
  return {};
}

Status expect_text(const char* text, std::size_t size, const std::string& what) {
  return expect(text != nullptr && size > 0, what, " is empty");
}

template <class DebugArgs, class TextArgs, class T>
Status expect_texts(Rig& rig, T* object, const std::string& what) {
  MILLRACE_TRY(const auto debug, rig.ask<DebugArgs>(object));
  MILLRACE_TRY_STATUS(expect_text(debug.text, debug.text_size, "the debug text of " + what));
  MILLRACE_TRY(const auto text, rig.ask<TextArgs>(object));
  return expect_text(text.text, text.text_size, "the text of " + what);
}

MILLRACE_CONFORM(device, description, "every device tells its kind and describes itself",
                 .need = kMust) {
  return each_description(rig, [&](abi::DeviceDescription* d) -> Status {
    MILLRACE_TRY(const auto kind, rig.ask<abi::DeviceDescriptionKindArgs>(d));
    MILLRACE_TRY_STATUS(expect_text(kind.kind, kind.kind_size, "the kind of a device"));
    static_cast<void>(rig.note(std::string_view(kind.kind, kind.kind_size)));
    return expect_texts<abi::DeviceDescriptionDebugStringArgs, abi::DeviceDescriptionToStringArgs>(
        rig, d, "a device");
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
    std::set<std::string> names;
    for (std::size_t i = 0; i < args.num_attributes; ++i) {
      const abi::NamedValue& v = args.attributes[i];
      const std::string name(v.name, v.name_size);
      if (!names.insert(name).second) return broken("there are two attributes ", name);
      if (v.type < abi::ValueType::kString || v.type > abi::ValueType::kInt64List) {
        return broken("attribute ", name,
                      " is no text, whole number or list of them; clients end the process");
      }
    }
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
    MILLRACE_TRY_STATUS(expect_text(kind.kind, kind.kind_size, "the kind of a memory"));
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
  MILLRACE_TRY(const auto args, rig.ask_device<abi::DeviceMemoryStatsArgs>());
  if (args.bytes_in_use < 0) return broken(args.bytes_in_use, " bytes are in use");
  if (args.peak_bytes_in_use.is_set && args.peak_bytes_in_use.value < args.bytes_in_use) {
    return broken("more bytes are in use than there ever were");
  }
  return {};
}

MILLRACE_CONFORM(device, clear_memory_stats, "statistics of memory can be cleared") {
  MILLRACE_TRY_STATUS(rig.ask_device<abi::DeviceClearMemoryStatsArgs>());
  return {};
}

MILLRACE_CONFORM(device, extra_attributes,
                 "PJRT_Device_GetAttributes gives what frees its attributes") {
  MILLRACE_TRY(const auto args, rig.ask_device<abi::DeviceGetAttributesArgs>());
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

}  // namespace
}  // namespace millrace::conform
