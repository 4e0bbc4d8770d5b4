#include "millrace/tools/pjrt_plugin/topology.h"

#include <charconv>
#include <cstring>
#include <utility>

#include "millrace/devices/cache/sha256.h"
#include "millrace/devices/registry.h"
#include "millrace/devices/stablehlo/bytecode/version.h"
#include "millrace/tools/pjrt_plugin/create_options.h"
#include "millrace/tools/pjrt_plugin/error.h"

namespace millrace::devices::pjrt::abi {

DeviceDescription::DeviceDescription(int number)
    : id(number),
      kind("cpu"),
      debug_string("cpu:" + std::to_string(number)),
      text("CpuDevice(id=" + std::to_string(number) + ")") {}

TopologyDescription::TopologyDescription(std::string platform, int num_devices)
    : platform_name(std::move(platform)), platform_version(pjrt_plugin::platform_version()) {
  for (int i = 0; i < num_devices; ++i) {
    devices.push_back(std::make_unique<DeviceDescription>(i));
    device_list.push_back(devices.back().get());
  }
}

// Bytes that a caller was given.
struct SerializedTopology {
  std::string bytes;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

constexpr std::string_view kMagic = "millrace topology 1 ";

namespace bytecode = devices::stablehlo::bytecode;

std::vector<std::int64_t> numbers_of(bytecode::Version version) {
  return {version.major_part, version.minor_part, version.patch_part};
}

const devices::pjrt::NamedValues& no_attributes() {
  static const auto* const none = new devices::pjrt::NamedValues;
  return *none;
}

void add_creation(abi::Api& api) {
  add<&abi::TopologyCreateArgs::topology, "topology">(
      api, [](abi::TopologyCreateArgs& a) -> Status {
        MILLRACE_TRY(const devices::Attributes given,
                     devices::pjrt::read_options(a.create_options, a.num_options));
        MILLRACE_TRY(const CreateOptions options,
                     read_create_options(given, devices::process_variables()));
        a.topology = new abi::TopologyDescription(options.platform_name, options.devices);
        return {};
      });
  add<&abi::TopologyDestroyArgs::topology, "topology">(api,
                                                       [](abi::TopologyDestroyArgs& a) -> Status {
                                                         MILLRACE_GIVEN(topology, topology);
                                                         delete &topology;
                                                         return {};
                                                       });
  add<&abi::TopologySerializeArgs::deleter, "deleter">(
      api, [](abi::TopologySerializeArgs& a) -> Status {
        MILLRACE_GIVEN(topology, topology);
        a.holder = new abi::SerializedTopology{serialize_topology(topology)};
        a.bytes = a.holder->bytes.data();
        a.bytes_size = a.holder->bytes.size();
        a.deleter = [](abi::SerializedTopology* holder) { delete holder; };
        return {};
      });
  add<&abi::TopologyDeserializeArgs::topology, "topology">(
      api, [](abi::TopologyDeserializeArgs& a) -> Status {
        if (a.bytes == nullptr)
          return fail(ErrorCode::kInvalidArgument, "the bytes of a topology are null");
        MILLRACE_TRY(auto topology, parse_topology({a.bytes, a.bytes_size}));
        a.topology = topology.release();
        return {};
      });
}

}  // namespace

std::string_view platform_version() { return "millrace 0.1"; }

const devices::pjrt::NamedValues& plugin_attributes() {
  static const auto* const attributes = new devices::pjrt::NamedValues({
      {"xla_version", std::int64_t{2}},
      {"stablehlo_current_version", numbers_of(bytecode::kNewestVersion)},
      {"stablehlo_minimum_version", numbers_of(bytecode::kOldestVersion)},
  });
  return *attributes;
}

std::string serialize_topology(const abi::TopologyDescription& topology) {
  return std::string(kMagic) + std::to_string(topology.devices.size()) + " " +
         topology.platform_name;
}

Result<std::unique_ptr<abi::TopologyDescription>> parse_topology(std::string_view bytes) {
  int devices = 0;
  if (bytes.starts_with(kMagic)) {
    const std::string_view rest = bytes.substr(kMagic.size());
    const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), devices);
    const std::string_view name = rest.substr(static_cast<std::size_t>(end - rest.data()));
    if (problem == std::errc() && devices >= 1 && devices <= CreateOptions::kMostDevices &&
        name.size() > 1 && name[0] == ' ') {
      return std::make_unique<abi::TopologyDescription>(std::string(name.substr(1)), devices);
    }
  }
  return fail(ErrorCode::kInvalidArgument,
              std::to_string(bytes.size()) + " bytes are no topology that this plugin has written");
}

void add_topologies(abi::Api& api) {
  add_creation(api);
  add<&abi::TopologyPlatformNameArgs::name_size, "platform_name_size">(
      api, [](abi::TopologyPlatformNameArgs& a) -> Status {
        MILLRACE_GIVEN(topology, topology);
        a.name = topology.platform_name.data();
        a.name_size = topology.platform_name.size();
        return {};
      });
  add<&abi::TopologyPlatformVersionArgs::version_size, "platform_version_size">(
      api, [](abi::TopologyPlatformVersionArgs& a) -> Status {
        MILLRACE_GIVEN(topology, topology);
        a.version = topology.platform_version.data();
        a.version_size = topology.platform_version.size();
        return {};
      });
  add<&abi::TopologyGetDeviceDescriptionsArgs::num_descriptions, "num_descriptions">(
      api, [](abi::TopologyGetDeviceDescriptionsArgs& a) -> Status {
        MILLRACE_GIVEN(topology, topology);
        a.descriptions = topology.device_list.data();
        a.num_descriptions = topology.device_list.size();
        return {};
      });
  add<&abi::TopologyAttributesArgs::num_attributes, "num_attributes">(
      api, [](abi::TopologyAttributesArgs& a) -> Status {
        MILLRACE_GIVEN(topology, topology);
        a.attributes = no_attributes().data();
        a.num_attributes = no_attributes().size();
        return {};
      });
  add<&abi::TopologyFingerprintArgs::fingerprint, "fingerprint">(
      api, [](abi::TopologyFingerprintArgs& a) -> Status {
        MILLRACE_GIVEN(topology, topology);
        const devices::Digest digest =
            devices::sha256(serialize_topology(topology) + topology.platform_version);
        std::memcpy(&a.fingerprint, digest.data(), sizeof(a.fingerprint));
        return {};
      });
}

}  // namespace millrace::pjrt_plugin
