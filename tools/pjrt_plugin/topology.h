// A topology as PJRT has it: the platform and its devices, without any device: of a client, or made
// for compiling where no client is. Read next: client.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/devices/pjrt/named_values.h"
#include "millrace/tools/pjrt_plugin/handle.h"

namespace millrace::devices::pjrt::abi {

// Thread-safety: immutable.
struct DeviceDescription final : pjrt_plugin::Handle<DeviceDescription> {
  explicit DeviceDescription(int number);
  const int id;
  const std::string kind, debug_string, text;
};

// Thread-safety: immutable.
struct TopologyDescription final : pjrt_plugin::Handle<TopologyDescription> {
  TopologyDescription(std::string platform, int num_devices);
  const std::string platform_name, platform_version;
  std::vector<std::unique_ptr<DeviceDescription>> devices;
  std::vector<DeviceDescription*> device_list;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {

// Every client and topology has this one.
std::string_view platform_version();
// What this plugin is, for those who write programs for it.
const devices::pjrt::NamedValues& plugin_attributes();
// The line that serialize_topology() writes says all of it.
std::string serialize_topology(const abi::TopologyDescription& topology);
// kInvalidArgument for what it does not write.
Result<std::unique_ptr<abi::TopologyDescription>> parse_topology(std::string_view bytes);

void add_topologies(abi::Api& api);
void add_topology_shapes(abi::Api& api);

}  // namespace millrace::pjrt_plugin
