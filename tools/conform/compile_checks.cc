// Compilation, and what is told of a compiled program.
#include <cmath>
#include <set>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

struct Compiled {
  HeldLoaded loaded;
  HeldExecutable executable;
};

Result<Compiled> compile(Rig& rig, const std::string& text) {
  Compiled made;
  MILLRACE_TRY(made.loaded, rig.compile(text));
  MILLRACE_TRY(made.executable, rig.executable(made.loaded.get()));
  return made;
}

Status text(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.compile(add_program()));
  return {};
}

Status name(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::ExecutableNameArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.name == nullptr || args.name_size == 0) return broken("it has no name");
  rig.note(std::string(args.name, args.name_size));
  return {};
}

Status replicas(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::ExecutableNumReplicasArgs r;
  r.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(r));
  abi::ExecutableNumPartitionsArgs p;
  p.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(p));
  if (r.num_replicas == 1 && p.num_partitions == 1) return {};
  return broken("a program for one device has " + std::to_string(r.num_replicas) +
                " replicas and " + std::to_string(p.num_partitions) + " partitions");
}

Status outputs(Rig& rig) {
  for (const std::size_t wanted : {1, 2}) {
    MILLRACE_TRY(const Compiled made, compile(rig, wanted == 1 ? add_program() : split_program()));
    abi::ExecutableNumOutputsArgs args;
    args.executable = made.executable.get();
    MILLRACE_TRY_STATUS(rig.table().call(args));
    if (args.num_outputs != wanted) {
      return broken("a program of " + std::to_string(wanted) + " results is said to have " +
                    std::to_string(args.num_outputs));
    }
  }
  return {};
}

Status output_types(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, split_program()));
  abi::ExecutableOutputElementTypesArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.num_output_types == 2 && args.output_types[0] == abi::BufferType::kF32 &&
      args.output_types[1] == abi::BufferType::kF32) {
    return {};
  }
  return broken("two results of f32 are told otherwise");
}

Status output_dimensions(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, split_program()));
  abi::ExecutableOutputDimensionsArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.num_outputs == 2 && args.dim_sizes[0] == 1 && args.dim_sizes[1] == 1 &&
      args.dims[0] == kLength && args.dims[1] == kLength) {
    return {};
  }
  return broken("two results of one dimension of 4 are told otherwise");
}

Status output_memory_kinds(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, split_program()));
  abi::ExecutableOutputMemoryKindsArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.num_outputs != 2) {
    return broken("two results are said to be in " + std::to_string(args.num_outputs) +
                  " memories");
  }
  if (args.kinds[0] == nullptr || args.kind_sizes[0] == 0) return broken("the kind is empty");
  rig.note(std::string(args.kinds[0], args.kind_sizes[0]));
  return {};
}

Status parameter_memory_kinds(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::ExecutableParameterMemoryKindsArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.num_parameters == 2) return {};
  return broken("two arguments are said to be in " + std::to_string(args.num_parameters) +
                " memories");
}

Status code_size(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::ExecutableSizeOfGeneratedCodeInBytesArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.size_in_bytes < -1) {
    return broken("the code has " + std::to_string(args.size_in_bytes) + " bytes");
  }
  rig.note(std::to_string(args.size_in_bytes) + " bytes");
  return {};
}

Result<std::string> fingerprint_of(Rig& rig, const std::string& program) {
  MILLRACE_TRY(const Compiled made, compile(rig, program));
  abi::ExecutableFingerprintArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return std::string(args.fingerprint, args.fingerprint_size);
}

Status fingerprint(Rig& rig) {
  MILLRACE_TRY(const std::string one, fingerprint_of(rig, add_program()));
  MILLRACE_TRY(const std::string same, fingerprint_of(rig, add_program()));
  MILLRACE_TRY(const std::string other, fingerprint_of(rig, split_program()));
  if (one.empty()) return broken("it is empty");
  if (one != same) return broken("one program has two fingerprints");
  if (one == other) return broken("two programs have one fingerprint");
  return {};
}

Status memory_stats(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::ExecutableGetCompiledMemoryStatsArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.argument_bytes < 32 || args.output_bytes < 16 || args.temporary_bytes < 0) {
    return broken("two arguments of 16 bytes and a result are told as " +
                  std::to_string(args.argument_bytes) + " and " +
                  std::to_string(args.output_bytes) + " bytes");
  }
  return {};
}

Status cost_analysis(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::ExecutableGetCostAnalysisArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  for (std::size_t i = 0; i < args.num_properties; ++i) {
    const abi::NamedValue& v = args.properties[i];
    if (v.name == nullptr || v.name_size == 0) return broken("a property has no name");
    if (v.type == abi::ValueType::kFloat && std::isnan(v.value.number)) {
      return broken("property " + std::string(v.name, v.name_size) + " is no number");
    }
  }
  rig.note(std::to_string(args.num_properties) + " properties");
  return {};
}

Status optimized_program(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::Program program;
  program.struct_size = abi::kStructSize<abi::Program>;
  abi::ExecutableOptimizedProgramArgs args;
  args.executable = made.executable.get();
  args.program = &program;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const std::size_t size = program.code_size;
  if (size == 0) return broken("it has no bytes");
  std::string code(size + 16, '\x5a');
  program.code = code.data();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (program.code_size != size) return broken("it has another size when it is copied");
  if (code.substr(size) != std::string(16, '\x5a')) return broken("it is longer than it said");
  const std::string format(program.format, program.format_size);
  if (format != "mlir" && format != "hlo" && format != "hlo_with_config") {
    return broken("its format is '" + format + "', which clients do not know");
  }
  rig.note(format + ", " + std::to_string(size) + " bytes");
  return {};
}

Status options(Rig& rig) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::ExecutableGetCompileOptionsArgs args;
  args.executable = made.executable.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.deleter == nullptr) return broken("there is nothing that frees them");
  const std::size_t size = args.bytes_size;
  args.deleter(args.holder);
  return size > 0 ? Status() : broken("they are empty");
}

Status devices(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.devices());
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile_for(add_program(), {{all[0]}}));
  abi::LoadedExecutableAddressableDevicesArgs args;
  args.executable = loaded.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.num_devices == 1 && args.devices[0] == all[0]) return {};
  return broken("a program for the first device is not said to be for that one alone");
}

Status assignment(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.devices());
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile_for(add_program(), {{all[0]}}));
  abi::LoadedExecutableGetDeviceAssignmentArgs args;
  args.executable = loaded.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.deleter == nullptr) return broken("there is nothing that frees it");
  const std::size_t size = args.bytes_size;
  args.deleter(args.holder);
  return size > 0 ? Status() : broken("that of a program for the first device is empty");
}

Status logical_ids(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.devices());
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile_for(add_program(), {{all[0]}}));
  abi::LoadedExecutableAddressableDeviceLogicalIdsArgs args;
  args.executable = loaded.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.num_ids == 1 && args.ids[0].replica == 0 && args.ids[0].partition == 0) return {};
  return broken("the only device is not replica 0, partition 0");
}

Status any_order(Rig& rig) {
  MILLRACE_TRY(Compiled made, compile(rig, add_program()));
  made.loaded.reset();
  made.executable.reset();
  return rig.trouble().first();
}

Status deleted(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile(constant_program()));
  abi::LoadedExecutableDeleteArgs remove;
  remove.executable = loaded.get();
  MILLRACE_TRY_STATUS(rig.table().call(remove));
  abi::LoadedExecutableIsDeletedArgs args;
  args.executable = loaded.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return args.is_deleted ? Status() : broken("it says that it is not deleted");
}

}  // namespace

std::vector<Check> compile_checks() {
  std::vector<Check> list = {
      {.name = "compile.text",
       .wants = "StableHLO text is compiled",
       .run = &text,
       .need = Need::kMust},
      {.name = "compile.name", .wants = "an executable has a name", .run = &name},
      {.name = "compile.replicas",
       .wants = "a program for one device has one replica and one partition",
       .run = &replicas,
       .need = Need::kMust},
      {.name = "compile.outputs",
       .wants = "results are counted",
       .run = &outputs,
       .need = Need::kMust},
      {.name = "compile.output_types", .wants = "types of results are told", .run = &output_types},
      {.name = "compile.output_dimensions",
       .wants = "dimensions of results are told",
       .run = &output_dimensions},
      {.name = "compile.output_memory_kinds",
       .wants = "memories of results are told",
       .run = &output_memory_kinds},
      {.name = "compile.parameter_memory_kinds",
       .wants = "memories of arguments are told",
       .run = &parameter_memory_kinds},
      {.name = "compile.code_size",
       .wants = "the code has a size, or -1 where it is unknown",
       .run = &code_size},
      {.name = "compile.fingerprint",
       .wants = "a program always has the same fingerprint, and no other has it",
       .run = &fingerprint,
       .need = Need::kMay},
      {.name = "compile.memory_stats",
       .wants = "the memory of arguments and results is told",
       .run = &memory_stats},
      {.name = "compile.cost_analysis",
       .wants = "costs have names and are numbers",
       .run = &cost_analysis},
      {.name = "compile.optimized_program",
       .wants = "the optimized program is as long as it says, in a format that clients know",
       .run = &optimized_program},
      {.name = "compile.options",
       .wants = "the options of a compilation are told, and can be freed",
       .run = &options,
       .need = Need::kMay},
      {.name = "compile.devices",
       .wants = "an executable names the device that it was compiled for",
       .run = &devices,
       .after = {"device.ids"}},
      {.name = "compile.assignment",
       .wants = "the device assignment is told, and can be freed",
       .run = &assignment,
       .after = {"compile.devices"}},
      {.name = "compile.logical_ids",
       .wants = "the only device is replica 0, partition 0",
       .run = &logical_ids,
       .after = {"compile.devices"}},
      {.name = "compile.any_order",
       .wants = "an executable's description may be destroyed after what was loaded",
       .run = &any_order},
      {.name = "compile.deleted", .wants = "a deleted executable says so", .run = &deleted},
  };
  for (std::size_t i = 1; i < list.size(); ++i) list[i].after.push_back("compile.text");
  return after({"client.devices"}, std::move(list));
}

}  // namespace millrace::conform
