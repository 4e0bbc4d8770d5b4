// What a plugin says of itself before there is a client; then clients, and what they report of
// themselves.
#include <set>

#include "millrace/devices/pjrt/plugin.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family plugin_family;
Family client_family;

namespace {

Result<abi::PluginAttributesArgs> read_attributes(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.initialize());
  MILLRACE_TRY(const auto args, rig.ask<abi::PluginAttributesArgs>());
  return args;
}

Result<std::map<std::string, devices::Attribute>> attribute_map(Rig& rig) {
  MILLRACE_TRY(const abi::PluginAttributesArgs args, read_attributes(rig));
  return devices::pjrt::read_values(args.attributes, args.num_attributes);
}

MILLRACE_CONFORM(plugin, initialize, "the plugin can be initialized", .need = kMust) {
  return rig.initialize();
}

MILLRACE_CONFORM(plugin, attributes, "attributes have names, no two the same, and types that exist",
                 .after = "plugin.initialize") {
  MILLRACE_TRY(const abi::PluginAttributesArgs args, read_attributes(rig));
  MILLRACE_TRY(const std::string list,
               attribute_names(args.attributes, args.num_attributes, abi::ValueType::kBool));
  return rig.note(list.empty() ? "none" : list);
}

MILLRACE_CONFORM(plugin, xla_version, "the attribute xla_version is a whole number",
                 .after = "plugin.initialize") {
  MILLRACE_TRY(const auto values, attribute_map(rig));
  const auto found = values.find("xla_version");
  if (found == values.end()) return lacks("there is no attribute xla_version");
  const auto* number = std::get_if<std::int64_t>(&found->second);
  if (number == nullptr) return broken("xla_version is no whole number");
  return rig.note(*number);
}

MILLRACE_CONFORM(plugin, stablehlo_versions,
                 "the oldest version of StableHLO is not newer than the current one",
                 .after = "plugin.initialize") {
  MILLRACE_TRY(const auto values, attribute_map(rig));
  std::vector<std::int64_t> versions[2];
  const char* const names[2] = {"stablehlo_minimum_version", "stablehlo_current_version"};
  for (int i = 0; i < 2; ++i) {
    const auto found = values.find(names[i]);
    if (found == values.end()) return lacks("there is no attribute ", names[i]);
    const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second);
    if (list == nullptr || list->size() != 3) {
      return broken(names[i], " is no list of three whole numbers");
    }
    versions[i] = *list;
  }
  const auto text = [](const std::vector<std::int64_t>& v) {
    return std::to_string(v[0]) + "." + std::to_string(v[1]) + "." + std::to_string(v[2]);
  };
  if (versions[0] > versions[1]) {
    return broken("the oldest, ", text(versions[0]), ", is newer than the current, ",
                  text(versions[1]));
  }
  return rig.note(text(versions[0]), " to ", text(versions[1]));
}

MILLRACE_CONFORM(client, create, "a client can be made and destroyed", .after = "plugin.initialize",
                 .need = kMust) {
  MILLRACE_TRY_STATUS(rig.client());
  return {};
}

MILLRACE_CONFORM(client, devices,
                 "there is a device of this process; all devices include those, none twice",
                 .after = "client.create", .need = kMust) {
  MILLRACE_TRY(const auto here, rig.devices());
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientDevicesArgs>());
  const std::set<abi::Device*> all(args.devices, args.devices + args.num_devices);
  if (all.size() != args.num_devices || all.contains(nullptr)) {
    return broken("PJRT_Client_Devices names a device twice, or none");
  }
  if (std::set<abi::Device*>(here.begin(), here.end()).size() != here.size()) {
    return broken("PJRT_Client_AddressableDevices names a device twice");
  }
  for (abi::Device* device : here) {
    if (!all.contains(device)) return broken("PJRT_Client_Devices lacks a device of this process");
  }
  return rig.note(here.size(), " here, ", all.size(), " in all");
}

MILLRACE_CONFORM(client, create_again, "a second client works beside the first, and after its end",
                 .after = "client.devices") {
  MILLRACE_TRY(HeldClient first, rig.make_client());
  MILLRACE_TRY_STATUS(rig.devices());  // of a second one
  first.reset();
  MILLRACE_TRY_STATUS(rig.ask_client<abi::ClientPlatformNameArgs>());
  return {};
}

MILLRACE_CONFORM(client, platform_name, "the platform has a name", .after = "client.create",
                 .need = kMust) {
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientPlatformNameArgs>());
  return rig.note_text(args.platform_name, args.platform_name_size, "the platform's name");
}

MILLRACE_CONFORM(client, platform_version, "the platform has a version", .after = "client.create",
                 .need = kMust) {
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientPlatformVersionArgs>());
  return rig.note_text(args.platform_version, args.platform_version_size, "the platform's version");
}

MILLRACE_CONFORM(client, process_index, "the process has a number from 0",
                 .after = "client.create") {
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientProcessIndexArgs>());
  if (args.process_index < 0) return broken("the process is number ", args.process_index);
  return {};
}

MILLRACE_CONFORM(client, lookup, "every device is found by its id", .after = "client.devices") {
  MILLRACE_TRY(const auto here, rig.devices());
  for (abi::Device* device : here) {
    MILLRACE_TRY(const int id, rig.id(device));
    MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientLookupDeviceArgs>(id));
    if (args.device != device) {
      return broken("id ", args.id, " finds another device than the one with it");
    }
  }
  return {};
}

MILLRACE_CONFORM(client, memories, "there is a memory, and none twice", .after = "client.create") {
  MILLRACE_TRY(const auto args, rig.ask_client<abi::ClientAddressableMemoriesArgs>());
  if (args.num_memories == 0) return broken("the client has no memory");
  const std::set<abi::Memory*> all(args.memories, args.memories + args.num_memories);
  if (all.size() != args.num_memories) return broken("a memory is there twice");
  return rig.note(all.size());
}

MILLRACE_CONFORM(client, default_assignment,
                 "the default assignment for one device is a device of this process",
                 .after = "client.devices") {
  std::vector<int> ids(4, -1);
  MILLRACE_TRY_STATUS(
      rig.ask_client<abi::ClientDefaultDeviceAssignmentArgs>(1, 1, std::size_t{1}, ids.data()));
  if (ids[1] != -1) return broken("more than the one place of the array is written");
  MILLRACE_TRY(const auto here, rig.devices());
  for (abi::Device* device : here) {
    MILLRACE_TRY(const int id, rig.id(device));
    if (id == ids[0]) return {};
  }
  return broken("it is device ", ids[0], ", which is none of this process");
}

MILLRACE_CONFORM(client, default_assignment_room,
                 "an assignment for which there is no room is refused, and writes nothing beyond",
                 .after = "client.devices") {
  MILLRACE_TRY_STATUS(rig.several(2));
  std::vector<int> ids(4, -1);
  MILLRACE_TRY_STATUS(expect_refused(
      rig.ask_client<abi::ClientDefaultDeviceAssignmentArgs>(2, 1, std::size_t{1}, ids.data()),
      "an array with too little room"));
  if (ids[1] != -1) return broken("what is behind the array is written");
  return {};
}

}  // namespace
}  // namespace millrace::conform
