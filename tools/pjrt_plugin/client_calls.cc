// What callers ask of a client. Read next: client.h.
#include <utility>

#include "millrace/devices/registry.h"
#include "millrace/tools/pjrt_plugin/client.h"
#include "millrace/tools/pjrt_plugin/error.h"

namespace millrace::pjrt_plugin {
namespace {

std::unexpected<Error> no_device(int id, std::size_t devices) {
  return fail(ErrorCode::kInvalidArgument, "there is no device " + std::to_string(id) +
                                               ": the client has " + std::to_string(devices) +
                                               ", from 0 on");
}

Result<abi::Device*> find(const ClientBody& body, int id) {
  const std::size_t devices = body.devices().size();
  if (id < 0 || static_cast<std::size_t>(id) >= devices) return no_device(id, devices);
  return body.devices()[static_cast<std::size_t>(id)];
}

void add_lists(abi::Api& api) {
  add<&abi::ClientDevicesArgs::num_devices, "num_devices">(
      api, [](abi::ClientDevicesArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        a.devices = client.body->devices().data();
        a.num_devices = client.body->devices().size();
        return {};
      });
  add<&abi::ClientAddressableDevicesArgs::num_devices, "num_addressable_devices">(
      api, [](abi::ClientAddressableDevicesArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        a.devices = client.body->devices().data();
        a.num_devices = client.body->devices().size();
        return {};
      });
  add<&abi::ClientAddressableMemoriesArgs::num_memories, "num_addressable_memories">(
      api, [](abi::ClientAddressableMemoriesArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        a.memories = client.body->memories().data();
        a.num_memories = client.body->memories().size();
        return {};
      });
  add<&abi::ClientLookupDeviceArgs::device, "device">(
      api, [](abi::ClientLookupDeviceArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        MILLRACE_TRY(a.device, find(*client.body, a.id));
        return {};
      });
  add<&abi::ClientLookupAddressableDeviceArgs::device, "addressable_device">(
      api, [](abi::ClientLookupAddressableDeviceArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        MILLRACE_TRY(a.device, find(*client.body, a.local_hardware_id));
        return {};
      });
}

// Replica r of partition p is on device r * partitions + p.
Status assign(const ClientBody& body, abi::ClientDefaultDeviceAssignmentArgs& a) {
  if (a.num_replicas < 1 || a.num_partitions < 1)
    return fail(ErrorCode::kInvalidArgument,
                "an assignment has at least one replica and partition");
  const auto wanted =
      static_cast<std::size_t>(a.num_replicas) * static_cast<std::size_t>(a.num_partitions);
  if (wanted > body.devices().size()) {
    return fail(ErrorCode::kInvalidArgument, std::to_string(wanted) + " devices are wanted, " +
                                                 std::to_string(body.devices().size()) +
                                                 " are there");
  }
  if (a.size < wanted || a.assignment == nullptr) {
    return fail(ErrorCode::kFailedPrecondition, "the assignment has " + std::to_string(wanted) +
                                                    " numbers, the array has room for " +
                                                    std::to_string(a.size));
  }
  for (std::size_t i = 0; i < wanted; ++i) a.assignment[i] = static_cast<int>(i);
  return {};
}

}  // namespace

void add_clients(abi::Api& api) {
  add<&abi::ClientCreateArgs::client, "client">(api, [](abi::ClientCreateArgs& a) -> Status {
    MILLRACE_TRY(const devices::Attributes given,
                 devices::pjrt::read_options(a.create_options, a.num_options));
    MILLRACE_TRY(const CreateOptions options,
                 read_create_options(given, devices::process_variables()));
    a.client = new abi::Client(make_ref<ClientBody>(options));
    return {};
  });
  add<&abi::ClientDestroyArgs::client, "client">(api, [](abi::ClientDestroyArgs& a) -> Status {
    MILLRACE_GIVEN(client, client);
    client.body->close();
    delete &client;
    return {};
  });
  add<&abi::ClientPlatformNameArgs::platform_name_size, "platform_name_size">(
      api, [](abi::ClientPlatformNameArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        a.platform_name = client.body->topology().platform_name.data();
        a.platform_name_size = client.body->topology().platform_name.size();
        return {};
      });
  add<&abi::ClientPlatformVersionArgs::platform_version_size, "platform_version_size">(
      api, [](abi::ClientPlatformVersionArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        a.platform_version = client.body->topology().platform_version.data();
        a.platform_version_size = client.body->topology().platform_version.size();
        return {};
      });
  add<&abi::ClientProcessIndexArgs::process_index, "process_index">(
      api, [](abi::ClientProcessIndexArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        a.process_index = 0;
        return {};
      });
  add<&abi::ClientTopologyDescriptionArgs::topology, "topology">(
      api, [](abi::ClientTopologyDescriptionArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        a.topology = &client.body->topology();
        return {};
      });
  add<&abi::ClientDefaultDeviceAssignmentArgs::assignment, "default_assignment">(
      api, [](abi::ClientDefaultDeviceAssignmentArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        return assign(*client.body, a);
      });
  // All of them are this one process.
  add<&abi::ClientUpdateGlobalProcessInfoArgs::num_process_infos, "num_process_infos">(
      api, [](abi::ClientUpdateGlobalProcessInfoArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        return {};
      });
  add_lists(api);
}

}  // namespace millrace::pjrt_plugin
