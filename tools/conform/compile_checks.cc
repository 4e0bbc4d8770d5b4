// Compilation, and what is reported of a compiled program; then executables as bytes.
#include <cmath>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family compile_family("compile.text client.devices");
Family serialize_family("execute.result");

namespace {

struct Compiled {
  HeldLoaded loaded;
  HeldExecutable executable;
};

Result<Compiled> compile(Rig& rig, const std::string& text) {
  Compiled made;
  MILLRACE_TRY(made.loaded, rig.compile(text));
  MILLRACE_TRY(made.executable, rig.executable(made.loaded));
  return made;
}

template <class A>
Result<Facts<A, Compiled>> facts(Rig& rig, const std::string& text) {
  MILLRACE_TRY(Compiled made, compile(rig, text));
  MILLRACE_TRY(const A args, rig.ask<A>(made.executable));
  return Facts<A, Compiled>{args, std::move(made)};
}

MILLRACE_CONFORM(compile, text, "StableHLO text is compiled", .need = kMust) {
  MILLRACE_TRY_STATUS(rig.compile(add_program()));
  return {};
}

MILLRACE_CONFORM(compile, name, "an executable has a name") {
  MILLRACE_TRY(const auto args, facts<abi::ExecutableNameArgs>(rig, add_program()));
  return rig.note_text(args.name, args.name_size, "the name");
}

MILLRACE_CONFORM(compile, replicas, "a program for one device has one replica and one partition",
                 .need = kMust) {
  MILLRACE_TRY(const Compiled made, compile(rig, add_program()));
  MILLRACE_TRY(const auto r, rig.ask<abi::ExecutableNumReplicasArgs>(made.executable));
  MILLRACE_TRY(const auto p, rig.ask<abi::ExecutableNumPartitionsArgs>(made.executable));
  return expect(r.num_replicas == 1 && p.num_partitions == 1, "a program for one device has ",
                r.num_replicas, " replicas and ", p.num_partitions, " partitions");
}

MILLRACE_CONFORM(compile, outputs, "results are counted", .need = kMust) {
  for (const std::size_t wanted : {1, 2}) {
    MILLRACE_TRY(const auto args, facts<abi::ExecutableNumOutputsArgs>(
                                      rig, wanted == 1 ? add_program() : split_program()));
    if (args.num_outputs != wanted) {
      return broken("a program of ", wanted, " results is said to have ", args.num_outputs);
    }
  }
  return {};
}

MILLRACE_CONFORM(compile, output_types, "types of results are reported") {
  MILLRACE_TRY(const auto args, facts<abi::ExecutableOutputElementTypesArgs>(rig, split_program()));
  return expect(args.num_output_types == 2 && args.output_types[0] == abi::BufferType::kF32 &&
                    args.output_types[1] == abi::BufferType::kF32,
                "two results of f32 are reported otherwise");
}

MILLRACE_CONFORM(compile, output_dimensions, "dimensions of results are reported") {
  MILLRACE_TRY(const auto args, facts<abi::ExecutableOutputDimensionsArgs>(rig, split_program()));
  return expect(args.num_outputs == 2 && args.dim_sizes[0] == 1 && args.dim_sizes[1] == 1 &&
                    args.dims[0] == kLength && args.dims[1] == kLength,
                "two results of one dimension of 4 are reported otherwise");
}

MILLRACE_CONFORM(compile, output_memory_kinds, "memories of results are reported") {
  MILLRACE_TRY(const auto args, facts<abi::ExecutableOutputMemoryKindsArgs>(rig, split_program()));
  if (args.num_outputs != 2) {
    return broken("two results are said to be in ", args.num_outputs, " memories");
  }
  return rig.note_text(args.kinds[0], args.kind_sizes[0], "the kind");
}

MILLRACE_CONFORM(compile, parameter_memory_kinds, "memories of arguments are reported") {
  MILLRACE_TRY(const auto args, facts<abi::ExecutableParameterMemoryKindsArgs>(rig, add_program()));
  return expect(args.num_parameters == 2, "two arguments are said to be in ", args.num_parameters,
                " memories");
}

MILLRACE_CONFORM(compile, code_size, "the code has a size, or -1 where it is unknown") {
  MILLRACE_TRY(const auto args,
               facts<abi::ExecutableSizeOfGeneratedCodeInBytesArgs>(rig, add_program()));
  if (args.size_in_bytes < -1) return broken("the code has ", args.size_in_bytes, " bytes");
  return rig.note(args.size_in_bytes, " bytes");
}

Result<std::string> fingerprint_of(Rig& rig, const std::string& program) {
  MILLRACE_TRY(const auto args, facts<abi::ExecutableFingerprintArgs>(rig, program));
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

MILLRACE_CONFORM(compile, memory_stats, "the memory of arguments and results is reported") {
  MILLRACE_TRY(const auto args,
               facts<abi::ExecutableGetCompiledMemoryStatsArgs>(rig, add_program()));
  if (args.argument_bytes < 32 || args.output_bytes < 16 || args.temporary_bytes < 0) {
    return broken("two arguments of 16 bytes and a result are reported as ", args.argument_bytes,
                  " and ", args.output_bytes, " bytes");
  }
  return {};
}

MILLRACE_CONFORM(compile, cost_analysis, "costs have names and are numbers") {
  MILLRACE_TRY(const auto args, facts<abi::ExecutableGetCostAnalysisArgs>(rig, add_program()));
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
  abi::ExecutableOptimizedProgramArgs args{{}, made.executable, &program};
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

MILLRACE_CONFORM(compile, options, "the options of a compilation are reported, and can be freed",
                 .need = kMay) {
  MILLRACE_TRY(const auto args, facts<abi::ExecutableGetCompileOptionsArgs>(rig, add_program()));
  MILLRACE_TRY_STATUS(take_bytes(args.bytes, args.bytes_size, args.holder, args.deleter));
  return {};
}

MILLRACE_CONFORM(compile, devices, "an executable names the device that it was compiled for",
                 .after = "device.ids") {
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile(add_program()));
  MILLRACE_TRY(abi::Device* const first, rig.device());
  MILLRACE_TRY(const auto args, rig.ask<abi::LoadedExecutableAddressableDevicesArgs>(loaded));
  return expect(args.num_devices == 1 && args.devices[0] == first,
                "a program for the first device is not said to be for that one alone");
}

MILLRACE_CONFORM(compile, assignment, "the device assignment is reported, and can be freed",
                 .after = "compile.devices") {
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile(add_program()));
  MILLRACE_TRY(const auto args, rig.ask<abi::LoadedExecutableGetDeviceAssignmentArgs>(loaded));
  MILLRACE_TRY_STATUS(take_bytes(args.bytes, args.bytes_size, args.holder, args.deleter));
  return {};
}

MILLRACE_CONFORM(compile, logical_ids, "the only device is replica 0, partition 0",
                 .after = "compile.devices") {
  MILLRACE_TRY(const HeldLoaded loaded, rig.compile(add_program()));
  MILLRACE_TRY(const auto args,
               rig.ask<abi::LoadedExecutableAddressableDeviceLogicalIdsArgs>(loaded));
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
  MILLRACE_TRY_STATUS(rig.call<abi::LoadedExecutableDeleteArgs>(loaded));
  MILLRACE_TRY(const auto args, rig.ask<abi::LoadedExecutableIsDeletedArgs>(loaded));
  return expect(args.is_deleted, "it says that it is not deleted");
}

Result<std::string> serialized(Rig& rig) {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldExecutable executable, rig.executable(increment));
  MILLRACE_TRY(const auto args, rig.ask<abi::ExecutableSerializeArgs>(executable));
  return take_bytes(args.serialized_bytes, args.serialized_bytes_size, args.serialized_executable,
                    args.serialized_executable_deleter);
}

Result<HeldLoaded> load(Rig& rig, const std::string& bytes) {
  MILLRACE_TRY(const auto args,
               rig.ask_client<abi::ExecutableDeserializeAndLoadArgs>(bytes.data(), bytes.size()));
  if (args.loaded_executable == nullptr) return broken("there is no executable");
  return rig.hold(args.loaded_executable);
}

Status expect_increment(Rig& rig, const std::string& bytes) {
  MILLRACE_TRY(const HeldLoaded loaded, load(rig, bytes));
  MILLRACE_TRY(const HeldBuffer x, rig.put(numbers()));
  MILLRACE_TRY(const HeldBuffer y, rig.apply(loaded, x));
  return rig.expect(y, numbers(1), "the result of what was loaded");
}

MILLRACE_CONFORM(serialize, round_trip,
                 "an executable that became bytes and was loaded again works") {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  static_cast<void>(rig.note(bytes.size(), " bytes"));
  return expect_increment(rig, bytes);
}

MILLRACE_CONFORM(serialize, other_client, "another client can load the bytes of one that is gone",
                 .after = "serialize.round_trip client.create_again") {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  // The one that compiled it goes first.
  MILLRACE_TRY_STATUS(rig.close());
  return expect_increment(rig, bytes);
}

MILLRACE_CONFORM(serialize, cut, "half of the bytes are refused", .after = "serialize.round_trip") {
  MILLRACE_TRY(const std::string bytes, serialized(rig));
  return expect_refused(load(rig, bytes.substr(0, bytes.size() / 2)), "half an executable");
}

MILLRACE_CONFORM(serialize, nonsense, "bytes that are no executable are refused") {
  return expect_refused(load(rig, std::string(100, '\x7f')), "what is none");
}

}  // namespace
}  // namespace millrace::conform
