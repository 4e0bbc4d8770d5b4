// Topologies: devices described without having them.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family topology_family("client.platform_name client.devices");

namespace {

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
  if (args.deleter == nullptr) return broken("there is nothing that frees the bytes");
  std::string bytes(args.bytes, args.bytes_size);
  args.deleter(args.holder);
  return bytes;
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
  MILLRACE_TRY(const std::size_t devices, count_devices(rig, again.get()));
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
  MILLRACE_TRY(const std::size_t devices, count_devices(rig, topology.get()));
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
  MILLRACE_TRY(const auto outputs, rig.ask<abi::ExecutableNumOutputsArgs>(executable.get()));
  return expect(outputs.num_outputs == 1, "it has not the one result");
}

}  // namespace
}  // namespace millrace::conform
