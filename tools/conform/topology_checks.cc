// Topologies: devices described without having them.
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

Result<abi::Topology*> of_client(Rig& rig) {
  abi::ClientTopologyDescriptionArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.topology == nullptr) return broken("the client has no topology");
  return args.topology;
}

Result<std::size_t> count_devices(Rig& rig, abi::Topology* topology) {
  abi::TopologyGetDeviceDescriptionsArgs args;
  args.topology = topology;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  for (std::size_t i = 0; i < args.num_descriptions; ++i) {
    abi::DeviceDescriptionKindArgs kind;
    kind.description = args.descriptions[i];
    MILLRACE_TRY_STATUS(rig.table().call(kind));
    if (kind.kind_size == 0) return broken("a device of it has no kind");
  }
  return args.num_descriptions;
}

Result<std::string> serialized(Rig& rig, abi::Topology* topology) {
  abi::TopologySerializeArgs args;
  args.topology = topology;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.deleter == nullptr) return broken("there is nothing that frees the bytes");
  std::string bytes(args.bytes, args.bytes_size);
  args.deleter(args.holder);
  return bytes;
}

Result<HeldTopology> deserialized(Rig& rig, const std::string& bytes) {
  abi::TopologyDeserializeArgs args;
  args.bytes = bytes.data();
  args.bytes_size = bytes.size();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return HeldTopology(rig.table(), rig.trouble(), args.topology);
}

Status platform(Rig& rig) {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  abi::TopologyPlatformNameArgs args;
  args.topology = topology;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  abi::ClientPlatformNameArgs client;
  MILLRACE_TRY(client.client, rig.client());
  MILLRACE_TRY_STATUS(rig.table().call(client));
  const std::string name(args.name, args.name_size);
  if (name == std::string(client.platform_name, client.platform_name_size)) return {};
  return broken("its platform is '" + name + "', not the client's");
}

Status version(Rig& rig) {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  abi::TopologyPlatformVersionArgs args;
  args.topology = topology;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return args.version_size > 0 ? Status() : broken("its platform has no version");
}

Status descriptions(Rig& rig) {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  MILLRACE_TRY(const std::size_t devices, count_devices(rig, topology));
  rig.note(std::to_string(devices) + " devices");
  return devices > 0 ? Status() : broken("it has no device");
}

Status fingerprint(Rig& rig) {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  abi::TopologyFingerprintArgs first;
  first.topology = topology;
  MILLRACE_TRY_STATUS(rig.table().call(first));
  abi::TopologyFingerprintArgs second;
  second.topology = topology;
  MILLRACE_TRY_STATUS(rig.table().call(second));
  return first.fingerprint == second.fingerprint ? Status() : broken("it has two of them");
}

Status round_trip(Rig& rig) {
  MILLRACE_TRY(abi::Topology* const topology, of_client(rig));
  MILLRACE_TRY(const std::string bytes, serialized(rig, topology));
  MILLRACE_TRY(const HeldTopology again, deserialized(rig, bytes));
  if (!again) return broken("there is no topology");
  MILLRACE_TRY(const std::size_t devices, count_devices(rig, again.get()));
  MILLRACE_TRY(const std::size_t wanted, count_devices(rig, topology));
  rig.note(std::to_string(bytes.size()) + " bytes");
  if (devices == wanted) return {};
  return broken("of " + std::to_string(wanted) + " devices " + std::to_string(devices) +
                " come back");
}

Status nonsense(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.client());
  const Result<HeldTopology> made = deserialized(rig, "\xff\xff\xff no topology");
  return expect_refused(made ? Status() : std::unexpected(made.error()), "what is none");
}

Status create(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.client());
  abi::TopologyCreateArgs args;
  args.name = "";
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldTopology topology(rig.table(), rig.trouble(), args.topology);
  if (!topology) return broken("there is no topology");
  MILLRACE_TRY(const std::size_t devices, count_devices(rig, topology.get()));
  rig.note(std::to_string(devices) + " devices");
  return {};
}

Status compile(Rig& rig) {
  std::string text = add_program();
  const std::string format = "mlir";
  const std::string options = rig.portable_options();
  abi::Program program = borrowed_program(text, format);
  abi::CompileArgs args;
  MILLRACE_TRY(args.topology, of_client(rig));
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldExecutable executable(rig.table(), rig.trouble(), args.executable);
  if (!executable) return broken("there is no executable");
  abi::ExecutableNumOutputsArgs outputs;
  outputs.executable = executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(outputs));
  return outputs.num_outputs == 1 ? Status() : broken("it has not the one result");
}

}  // namespace

std::vector<Check> topology_checks() {
  return after({"client.platform_name", "client.devices"},
               {
                   {.name = "topology.platform",
                    .wants = "a client's topology is of its platform",
                    .run = &platform},
                   {.name = "topology.version",
                    .wants = "a topology's platform has a version",
                    .run = &version},
                   {.name = "topology.descriptions",
                    .wants = "a topology describes its devices",
                    .run = &descriptions,
                    .after = {"device.description"},
                    .need = Need::kMay},
                   {.name = "topology.fingerprint",
                    .wants = "a topology has one fingerprint",
                    .run = &fingerprint,
                    .need = Need::kMay},
                   {.name = "topology.round_trip",
                    .wants = "a topology that became bytes and back has its devices",
                    .run = &round_trip,
                    .after = {"topology.descriptions"},
                    .need = Need::kMay},
                   {.name = "topology.nonsense",
                    .wants = "bytes that are no topology are refused",
                    .run = &nonsense,
                    .after = {"topology.round_trip"}},
                   {.name = "topology.create",
                    .wants = "a topology can be made without a client",
                    .run = &create,
                    .need = Need::kMay},
                   {.name = "topology.compile",
                    .wants = "a program is compiled for a topology, without a client",
                    .run = &compile,
                    .after = {"compile.outputs"},
                    .need = Need::kMay},
               });
}

}  // namespace millrace::conform
