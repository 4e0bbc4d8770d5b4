// Clients, and what they tell of themselves.
#include <algorithm>
#include <set>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

Status create(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.client());
  return {};
}

Status create_again(Rig& rig) {
  MILLRACE_TRY(HeldClient first, rig.make_client());
  MILLRACE_TRY_STATUS(rig.devices());  // of a second one
  first.reset();
  abi::ClientPlatformNameArgs name;
  MILLRACE_TRY(name.client, rig.client());
  return rig.table().call(name);
}

Status platform_name(Rig& rig) {
  abi::ClientPlatformNameArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.platform_name == nullptr || args.platform_name_size == 0) {
    return broken("the platform has no name");
  }
  rig.note(std::string(args.platform_name, args.platform_name_size));
  return {};
}

Status platform_version(Rig& rig) {
  abi::ClientPlatformVersionArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.platform_version == nullptr || args.platform_version_size == 0) {
    return broken("the platform has no version");
  }
  rig.note(std::string(args.platform_version, args.platform_version_size));
  return {};
}

Status process_index(Rig& rig) {
  abi::ClientProcessIndexArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.process_index < 0) {
    return broken("the process is number " + std::to_string(args.process_index));
  }
  return {};
}

Status devices(Rig& rig) {
  MILLRACE_TRY(const auto here, rig.devices());
  abi::ClientDevicesArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const std::set<abi::Device*> all(args.devices, args.devices + args.num_devices);
  if (all.size() != args.num_devices || all.contains(nullptr)) {
    return broken("PJRT_Client_Devices names a device twice, or none");
  }
  if (std::set<abi::Device*>(here.begin(), here.end()).size() != here.size()) {
    return broken("PJRT_Client_AddressableDevices names a device twice");
  }
  for (abi::Device* device : here) {
    if (!all.contains(device)) {
      return broken("PJRT_Client_Devices lacks a device of this process");
    }
  }
  rig.note(std::to_string(here.size()) + " here, " + std::to_string(all.size()) + " in all");
  return {};
}

Status lookup(Rig& rig) {
  MILLRACE_TRY(const auto here, rig.devices());
  for (abi::Device* device : here) {
    abi::ClientLookupDeviceArgs args;
    MILLRACE_TRY(args.client, rig.client());
    MILLRACE_TRY(args.id, rig.id(device));
    MILLRACE_TRY_STATUS(rig.table().call(args));
    if (args.device != device) {
      return broken("id " + std::to_string(args.id) + " finds another device than the one with it");
    }
  }
  return {};
}

Status memories(Rig& rig) {
  abi::ClientAddressableMemoriesArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.num_memories == 0) return broken("the client has no memory");
  const std::set<abi::Memory*> all(args.memories, args.memories + args.num_memories);
  if (all.size() != args.num_memories) return broken("a memory is there twice");
  rig.note(std::to_string(all.size()));
  return {};
}

Status default_assignment(Rig& rig) {
  std::vector<int> ids(4, -1);
  abi::ClientDefaultDeviceAssignmentArgs args;
  MILLRACE_TRY(args.client, rig.client());
  args.num_replicas = args.num_partitions = 1;
  args.size = 1;
  args.assignment = ids.data();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (ids[1] != -1) return broken("more than the one place of the array is written");
  MILLRACE_TRY(const auto here, rig.devices());
  for (abi::Device* device : here) {
    MILLRACE_TRY(const int id, rig.id(device));
    if (id == ids[0]) return {};
  }
  return broken("it is device " + std::to_string(ids[0]) + ", which is none of this process");
}

Status default_assignment_room(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.several(2));
  std::vector<int> ids(4, -1);
  abi::ClientDefaultDeviceAssignmentArgs args;
  MILLRACE_TRY(args.client, rig.client());
  args.num_replicas = 2;
  args.num_partitions = 1;
  args.size = 1;
  args.assignment = ids.data();
  MILLRACE_TRY_STATUS(expect_refused(rig.table().call(args), "an array with too little room"));
  if (ids[1] != -1) return broken("what is behind the array is written");
  return {};
}

}  // namespace

std::vector<Check> client_checks() {
  return {
      {.name = "client.create",
       .wants = "a client can be made and destroyed",
       .run = &create,
       .after = {"plugin.initialize"},
       .need = Need::kMust},
      {.name = "client.devices",
       .wants = "there is a device of this process; all devices include those, none twice",
       .run = &devices,
       .after = {"client.create"},
       .need = Need::kMust},
      {.name = "client.create_again",
       .wants = "a second client works beside the first, and after its end",
       .run = &create_again,
       .after = {"client.devices"}},
      {.name = "client.platform_name",
       .wants = "the platform has a name",
       .run = &platform_name,
       .after = {"client.create"},
       .need = Need::kMust},
      {.name = "client.platform_version",
       .wants = "the platform has a version",
       .run = &platform_version,
       .after = {"client.create"},
       .need = Need::kMust},
      {.name = "client.process_index",
       .wants = "the process has a number from 0",
       .run = &process_index,
       .after = {"client.create"}},
      {.name = "client.lookup",
       .wants = "every device is found by its id",
       .run = &lookup,
       .after = {"client.devices"}},
      {.name = "client.memories",
       .wants = "there is a memory, and none twice",
       .run = &memories,
       .after = {"client.create"}},
      {.name = "client.default_assignment",
       .wants = "the default assignment for one device is a device of this process",
       .run = &default_assignment,
       .after = {"client.devices"}},
      {.name = "client.default_assignment_room",
       .wants = "an assignment for which there is no room is refused, and writes nothing beyond",
       .run = &default_assignment_room,
       .after = {"client.devices"}},
  };
}

}  // namespace millrace::conform
