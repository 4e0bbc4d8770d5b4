// What callers ask of a device and its description. Read next: client.h.
#include "millrace/tools/pjrt_plugin/client.h"
#include "millrace/tools/pjrt_plugin/error.h"

namespace millrace::devices::pjrt::abi {

// There are none: this owns nothing.
struct DeviceAttributes {};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

abi::MaybeInt64 maybe(const std::optional<std::int64_t>& value) {
  return {value.value_or(0), value.has_value()};
}

void add_descriptions(abi::Api& api) {
  add<&abi::DeviceDescriptionIdArgs::id, "id">(api, [](abi::DeviceDescriptionIdArgs& a) -> Status {
    MILLRACE_GIVEN(description, description);
    a.id = description.id;
    return {};
  });
  add<&abi::DeviceDescriptionProcessIndexArgs::process_index, "process_index">(
      api, [](abi::DeviceDescriptionProcessIndexArgs& a) -> Status {
        MILLRACE_GIVEN(description, description);
        a.process_index = 0;
        return {};
      });
  add<&abi::DeviceDescriptionAttributesArgs::attributes, "attributes">(
      api, [](abi::DeviceDescriptionAttributesArgs& a) -> Status {
        MILLRACE_GIVEN(description, description);
        a.num_attributes = 0;
        a.attributes = nullptr;
        return {};
      });
  add<&abi::DeviceDescriptionKindArgs::kind_size, "device_kind_size">(
      api, [](abi::DeviceDescriptionKindArgs& a) -> Status {
        MILLRACE_GIVEN(description, description);
        a.kind = description.kind.data();
        a.kind_size = description.kind.size();
        return {};
      });
  add<&abi::DeviceDescriptionDebugStringArgs::text_size, "debug_string_size">(
      api, [](abi::DeviceDescriptionDebugStringArgs& a) -> Status {
        MILLRACE_GIVEN(description, description);
        a.text = description.debug_string.data();
        a.text_size = description.debug_string.size();
        return {};
      });
  add<&abi::DeviceDescriptionToStringArgs::text_size, "to_string_size">(
      api, [](abi::DeviceDescriptionToStringArgs& a) -> Status {
        MILLRACE_GIVEN(description, description);
        a.text = description.text.data();
        a.text_size = description.text.size();
        return {};
      });
}

void add_state(abi::Api& api) {
  add<&abi::DeviceMemoryStatsArgs::bytes_in_use, "bytes_in_use">(
      api, [](abi::DeviceMemoryStatsArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        MILLRACE_TRY(const devices::MemoryStats stats, device.body.cpu().memory_stats(device.id()));
        a.bytes_in_use = stats.bytes_in_use;
        a.peak_bytes_in_use = maybe(stats.peak_bytes_in_use);
        a.bytes_limit = maybe(stats.bytes_limit);
        return {};
      });
  add<&abi::DeviceClearMemoryStatsArgs::device, "device">(
      api, [](abi::DeviceClearMemoryStatsArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        return device.body.cpu().clear_memory_stats(device.id());
      });
  // As XLA's CPU client: nothing is tracked, and null is an event that says so.
  add<&abi::DeviceCreateAsyncTrackingEventArgs::event, "event">(
      api, [](abi::DeviceCreateAsyncTrackingEventArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        a.event = nullptr;
        return {};
      });
  add<&abi::AsyncTrackingEventDestroyArgs::event, "event">(
      api, [](abi::AsyncTrackingEventDestroyArgs& a) -> Status {
        if (a.event == nullptr) return {};
        return fail(ErrorCode::kInvalidArgument,
                    "a tracking event is destroyed that this plugin has not made");
      });
  add<&abi::DeviceGetAttributesArgs::deleter, "attributes_deleter">(
      api, [](abi::DeviceGetAttributesArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        static abi::DeviceAttributes none;
        a.attributes = nullptr;
        a.num_attributes = 0;
        a.owner = &none;
        a.deleter = [](abi::DeviceAttributes* /*owner*/) {};  // callers demand one
        return {};
      });
}

}  // namespace

void add_devices(abi::Api& api) {
  add_descriptions(api);
  add<&abi::DeviceGetDescriptionArgs::description, "device_description">(
      api, [](abi::DeviceGetDescriptionArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        a.description = &device.description;
        return {};
      });
  add<&abi::DeviceIsAddressableArgs::is_addressable, "is_addressable">(
      api, [](abi::DeviceIsAddressableArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        a.is_addressable = true;
        return {};
      });
  add<&abi::DeviceLocalHardwareIdArgs::local_hardware_id, "local_hardware_id">(
      api, [](abi::DeviceLocalHardwareIdArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        a.local_hardware_id = device.description.id;
        return {};
      });
  add<&abi::DeviceAddressableMemoriesArgs::num_memories, "num_memories">(
      api, [](abi::DeviceAddressableMemoriesArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        a.memories = device.memory_list.data();
        a.num_memories = device.memory_list.size();
        return {};
      });
  add<&abi::DeviceDefaultMemoryArgs::memory, "memory">(
      api, [](abi::DeviceDefaultMemoryArgs& a) -> Status {
        MILLRACE_GIVEN(device, device);
        a.memory = device.memory_list[0];
        return {};
      });
  add_state(api);
}

}  // namespace millrace::pjrt_plugin
