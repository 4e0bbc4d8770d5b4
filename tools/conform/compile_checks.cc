// Compilation, and what is told of a compiled program.
#include <cmath>
#include <set>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family compile_family("compile.text client.devices");

namespace {

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

template <class A>
Result<Told<A, Compiled>> tell(Rig& rig, const std::string& text) {
  MILLRACE_TRY(Compiled made, compile(rig, text));
  MILLRACE_TRY(const A args, rig.ask<A>(made.executable.get()));
  return Told<A, Compiled>{args, std::move(made)};
}

MILLRACE_CONFORM(compile, text, "StableHLO text is compiled", .need = kMust) {
  MILLRACE_TRY_STATUS(rig.compile(add_program()));
  return {};
}

MILLRACE_CONFORM(compile, name, "an executable has a name") {
  MILLRACE_TRY(const auto args, tell<abi::ExecutableNameArgs>(rig, add_program()));
  if (args.name == nullptr || args.name_size == 0) return broken("it has no name");
  return rig.note(std::string(args.name, args.name_size));
}

MILLRACE_CONFORM(compile, replicas, "a program for one device has one replica and one partition",
                 .need = kMust) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  MILLRACE_TRY(const auto r, rig.ask<abi::ExecutableNumReplicasArgs>(made.executable.get()));
  MILLRACE_TRY(const auto p, rig.ask<abi::ExecutableNumPartitionsArgs>(made.executable.get()));
  return expect(r.num_replicas == 1 && p.num_partitions == 1, "a program for one device has ",
                r.num_replicas, " replicas and ", p.num_partitions, " partitions");
}

MILLRACE_CONFORM(compile, outputs, "results are counted", .need = kMust) {
  for (const std::size_t wanted : {1, 2}) {
    MILLRACE_TRY(const auto args, tell<abi::ExecutableNumOutputsArgs>(
                                      rig, wanted == 1 ? add_program() : split_program()));
    if (args.num_outputs != wanted) {
      return broken("a program of ", wanted, " results is said to have ", args.num_outputs);
    }
  }
  return {};
}

MILLRACE_CONFORM(compile, output_types, "types of results are told") {
  MILLRACE_TRY(const auto args, tell<abi::ExecutableOutputElementTypesArgs>(rig, split_program()));
  return expect(args.num_output_types == 2 && args.output_types[0] == abi::BufferType::kF32 &&
                    args.output_types[1] == abi::BufferType::kF32,
                "two results of f32 are told otherwise");
}

MILLRACE_CONFORM(compile, output_dimensions, "dimensions of results are told") {
  MILLRACE_TRY(const auto args, tell<abi::ExecutableOutputDimensionsArgs>(rig, split_program()));
  return expect(args.num_outputs == 2 && args.dim_sizes[0] == 1 && args.dim_sizes[1] == 1 &&
                    args.dims[0] == kLength && args.dims[1] == kLength,
                "two results of one dimension of 4 are told otherwise");
}

MILLRACE_CONFORM(compile, output_memory_kinds, "memories of results are told") {
  MILLRACE_TRY(const auto args, tell<abi::ExecutableOutputMemoryKindsArgs>(rig, split_program()));
  if (args.num_outputs != 2) {
    return broken("two results are said to be in ", args.num_outputs, " memories");
  }
  if (args.kinds[0] == nullptr || args.kind_sizes[0] == 0) return broken("the kind is empty");
  return rig.note(std::string(args.kinds[0], args.kind_sizes[0]));
}

MILLRACE_CONFORM(compile, parameter_memory_kinds, "memories of arguments are told") {
  MILLRACE_TRY(const auto args, tell<abi::ExecutableParameterMemoryKindsArgs>(rig, add_program()));
  return expect(args.num_parameters == 2, "two arguments are said to be in ", args.num_parameters,
                " memories");
}

MILLRACE_CONFORM(compile, code_size, "the code has a size, or -1 where it is unknown") {
  MILLRACE_TRY(const auto args,
               tell<abi::ExecutableSizeOfGeneratedCodeInBytesArgs>(rig, add_program()));
  if (args.size_in_bytes < -1) return broken("the code has ", args.size_in_bytes, " bytes");
  return rig.note(args.size_in_bytes, " bytes");
}

Result<std::string> fingerprint_of(Rig& rig, const std::string& program) {
  MILLRACE_TRY(const auto args, tell<abi::ExecutableFingerprintArgs>(rig, program));
  return std::string(args.fingerprint, args.fingerprint_size);
}

MILLRACE_CONFORM(compile, fingerprint,
                 "a program always has the same fingerprint, and no other has it", .need = kMay) {
  MILLRACE_TRY(const std::string one, fingerprint_of(rig, add_program()));
  MILLRACE_TRY(const std::string same, fingerprint_of(rig, add_program()));
  MILLRACE_TRY(const std::string other, fingerprint_of(rig, split_program()));
  if (one.empty()) return broken("it is empty");
  if (one != same) return broken("one program has two fingerprints");
  if (one == other) return broken("two programs have one fingerprint");
  return {};
}

MILLRACE_CONFORM(compile, memory_stats, "the memory of arguments and results is told") {
  MILLRACE_TRY(const auto args,
               tell<abi::ExecutableGetCompiledMemoryStatsArgs>(rig, add_program()));
  if (args.argument_bytes < 32 || args.output_bytes < 16 || args.temporary_bytes < 0) {
    return broken("two arguments of 16 bytes and a result are told as ", args.argument_bytes,
                  " and ", args.output_bytes, " bytes");
  }
  return {};
}

MILLRACE_CONFORM(compile, cost_analysis, "costs have names and are numbers") {
  MILLRACE_TRY(const auto args, tell<abi::ExecutableGetCostAnalysisArgs>(rig, add_program()));
  for (std::size_t i = 0; i < args.num_properties; ++i) {
    const abi::NamedValue& v = args.properties[i];
    if (v.name == nullptr || v.name_size == 0) return broken("a property has no name");
    if (v.type == abi::ValueType::kFloat && std::isnan(v.value.number)) {
      return broken("property ", std::string(v.name, v.name_size), " is no number");
    }
  }
  return rig.note(args.num_properties, " properties");
}

MILLRACE_CONFORM(compile, optimized_program,
                 "the optimized program is as long as it says, in a format that clients know") {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  abi::Program program;
  program.struct_size = abi::kStructSize<abi::Program>;
  abi::ExecutableOptimizedProgramArgs args{{}, made.executable.get(), &program};
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
    return broken("its format is '", format, "', which clients do not know");
  }
  return rig.note(format, ", ", size, " bytes");
}

MILLRACE_CONFORM(compile, options, "the options of a compilation are told, and can be freed",
                 .need = kMay) {
  MILLRACE_TRY(const auto args, tell<abi::ExecutableGetCompileOptionsArgs>(rig, add_program()));
  if (args.deleter == nullptr) return broken("there is nothing that frees them");
  const std::size_t size = args.bytes_size;
  args.deleter(args.holder);
  return expect(size > 0, "they are empty");
}

MILLRACE_CONFORM(compile, devices, "an executable names the device that it was compiled for",
                 .after = "device.ids") {
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile(add_program()));
  MILLRACE_TRY(abi::Device* const first, rig.device());
  MILLRACE_TRY(const auto args, rig.ask<abi::LoadedExecutableAddressableDevicesArgs>(loaded.get()));
  return expect(args.num_devices == 1 && args.devices[0] == first,
                "a program for the first device is not said to be for that one alone");
}

MILLRACE_CONFORM(compile, assignment, "the device assignment is told, and can be freed",
                 .after = "compile.devices") {
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile(add_program()));
  MILLRACE_TRY(const auto args,
               rig.ask<abi::LoadedExecutableGetDeviceAssignmentArgs>(loaded.get()));
  if (args.deleter == nullptr) return broken("there is nothing that frees it");
  const std::size_t size = args.bytes_size;
  args.deleter(args.holder);
  return expect(size > 0, "that of a program for the first device is empty");
}

MILLRACE_CONFORM(compile, logical_ids, "the only device is replica 0, partition 0",
                 .after = "compile.devices") {
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile(add_program()));
  MILLRACE_TRY(const auto args,
               rig.ask<abi::LoadedExecutableAddressableDeviceLogicalIdsArgs>(loaded.get()));
  return expect(args.num_ids == 1 && args.ids[0].replica == 0 && args.ids[0].partition == 0,
                "the only device is not replica 0, partition 0");
}

MILLRACE_CONFORM(compile, any_order,
                 "an executable's description may be destroyed after what was loaded") {
  MILLRACE_TRY(Compiled made, compile(rig, add_program()));
  made.loaded.reset();
  made.executable.reset();
  return rig.trouble().first();
}

MILLRACE_CONFORM(compile, deleted, "a deleted executable says so") {
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile(constant_program()));
  MILLRACE_TRY_STATUS(rig.call<abi::LoadedExecutableDeleteArgs>(loaded.get()));
  MILLRACE_TRY(const auto args, rig.ask<abi::LoadedExecutableIsDeletedArgs>(loaded.get()));
  return expect(args.is_deleted, "it says that it is not deleted");
}

}  // namespace
}  // namespace millrace::conform
