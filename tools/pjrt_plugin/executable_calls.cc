// What callers ask of an executable. Read next: executable.h.
#include <algorithm>
#include <string>
#include <utility>

#include "millrace/tools/pjrt_plugin/compile_options.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/executable.h"

namespace millrace::devices::pjrt::abi {

// Bytes that a caller was given.
struct SerializedBytes {
  std::string bytes;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

// The bytes belong to holder until the caller calls deleter.
template <class A>
void give_bytes(A& a, std::string bytes) {
  a.holder = new abi::SerializedBytes{std::move(bytes)};
  a.bytes = a.holder->bytes.data();
  a.bytes_size = a.holder->bytes.size();
  a.deleter = [](abi::SerializedBytes* holder) { delete holder; };
}

std::int64_t sum_bytes(std::span<const devices::Shape> shapes) {
  std::int64_t sum = 0;
  for (const devices::Shape& shape : shapes) {
    if (devices::is_complete(shape)) sum += static_cast<std::int64_t>(shape.size_bytes());
  }
  return sum;
}

// An estimate: every donated argument is counted as an output's memory.
void report_memory(const devices::Executable& executable,
                   abi::ExecutableGetCompiledMemoryStatsArgs& a) {
  a.argument_bytes = sum_bytes(executable.input_shapes());
  a.output_bytes = sum_bytes(executable.output_shapes());
  a.alias_bytes = 0;
  for (std::size_t i = 0; i < executable.input_shapes().size(); ++i) {
    if (executable.donated_inputs()[i])
      a.alias_bytes += sum_bytes(executable.input_shapes().subspan(i, 1));
  }
  a.alias_bytes = std::min(a.alias_bytes, a.output_bytes);
  a.temporary_bytes = executable.body()->temporary_bytes();
  a.generated_code_bytes = 0;
  std::ranges::fill(a.host, 0);
  a.peak_bytes = a.argument_bytes + a.output_bytes - a.alias_bytes + a.temporary_bytes;
}

void add_counts(abi::Api& api) {
  add<&abi::ExecutableDestroyArgs::executable, "executable">(
      api, [](abi::ExecutableDestroyArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        delete &executable;
        return {};
      });
  add<&abi::ExecutableNameArgs::name_size, "executable_name_size">(
      api, [](abi::ExecutableNameArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.name = executable.program->facts().name.data();
        a.name_size = executable.program->facts().name.size();
        return {};
      });
  add<&abi::ExecutableNumReplicasArgs::num_replicas, "num_replicas">(
      api, [](abi::ExecutableNumReplicasArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.num_replicas = static_cast<std::size_t>(executable.program->options().replicas);
        return {};
      });
  add<&abi::ExecutableNumPartitionsArgs::num_partitions, "num_partitions">(
      api, [](abi::ExecutableNumPartitionsArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.num_partitions = static_cast<std::size_t>(executable.program->options().partitions);
        return {};
      });
  add<&abi::ExecutableNumOutputsArgs::num_outputs, "num_outputs">(
      api, [](abi::ExecutableNumOutputsArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.num_outputs = executable.program->reported().output_types.size();
        return {};
      });
  // Kernels are chosen, not generated.
  add<&abi::ExecutableSizeOfGeneratedCodeInBytesArgs::size_in_bytes, "size_in_bytes">(
      api, [](abi::ExecutableSizeOfGeneratedCodeInBytesArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.size_in_bytes = 0;
        return {};
      });
}

// Without a place for the text, its size is asked for.
Status give_text(std::string_view text, abi::Program& program) {
  static constexpr std::string_view kFormat = "mlir";
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  if (program.code != nullptr) {
    if (program.code_size < text.size()) {
      return fail(ErrorCode::kInvalidArgument, "the program has " + std::to_string(text.size()) +
                                                   " bytes, the place " +
                                                   std::to_string(program.code_size));
    }
    std::ranges::copy(text, program.code);
  }
  program.code_size = text.size();
  return {};
}

void add_outputs(abi::Api& api) {
  add<&abi::ExecutableOptimizedProgramArgs::program, "program">(
      api, [](abi::ExecutableOptimizedProgramArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        if (a.program == nullptr || a.program->struct_size < abi::kStructSize<abi::Program>)
          return fail(ErrorCode::kInvalidArgument, "there is no place for the program");
        MILLRACE_TRY(const std::string_view text, executable.program->text());
        return give_text(text, *a.program);
      });

  add<&abi::ExecutableOutputElementTypesArgs::num_output_types, "num_output_types">(
      api, [](abi::ExecutableOutputElementTypesArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.output_types = executable.program->reported().output_types.data();
        a.num_output_types = executable.program->reported().output_types.size();
        return {};
      });
  add<&abi::ExecutableOutputDimensionsArgs::dim_sizes, "dim_sizes">(
      api, [](abi::ExecutableOutputDimensionsArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.num_outputs = executable.program->reported().output_ranks.size();
        a.dims = executable.program->reported().output_dims.data();
        a.dim_sizes = executable.program->reported().output_ranks.data();
        return {};
      });
  add<&abi::ExecutableOutputMemoryKindsArgs::kind_sizes, "memory_kind_sizes">(
      api, [](abi::ExecutableOutputMemoryKindsArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.num_outputs = executable.program->reported().output_kinds.size();
        a.kinds = executable.program->reported().output_kinds.data();
        a.kind_sizes = executable.program->reported().output_kind_sizes.data();
        return {};
      });
  add<&abi::ExecutableParameterMemoryKindsArgs::kind_sizes, "memory_kind_sizes">(
      api, [](abi::ExecutableParameterMemoryKindsArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.num_parameters = executable.program->reported().argument_kinds.size();
        a.kinds = executable.program->reported().argument_kinds.data();
        a.kind_sizes = executable.program->reported().argument_kind_sizes.data();
        return {};
      });
}

}  // namespace

void add_executables(abi::Api& api) {
  add_counts(api);
  add_outputs(api);
  add<&abi::ExecutableFingerprintArgs::fingerprint_size, "executable_fingerprint_size">(
      api, [](abi::ExecutableFingerprintArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.fingerprint = executable.program->fingerprint().data();
        a.fingerprint_size = executable.program->fingerprint().size();
        return {};
      });
  add<&abi::ExecutableGetCostAnalysisArgs::properties, "properties">(
      api, [](abi::ExecutableGetCostAnalysisArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        if (!executable.program->cost()) return std::unexpected(executable.program->cost().error());
        a.num_properties = executable.program->written_cost().size();
        a.properties = executable.program->written_cost().data();
        return {};
      });
  add<&abi::ExecutableGetCompileOptionsArgs::deleter, "serialized_compile_options_deleter">(
      api, [](abi::ExecutableGetCompileOptionsArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        give_bytes(a, executable.program->written_options());
        return {};
      });
  add<&abi::ExecutableGetCompiledMemoryStatsArgs::temporary_bytes, "temp_size_in_bytes">(
      api, [](abi::ExecutableGetCompiledMemoryStatsArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        report_memory(executable.program->executable(), a);
        return {};
      });
}

void add_loaded_executables(abi::Api& api) {
  add<&abi::LoadedExecutableDestroyArgs::executable, "executable">(
      api, [](abi::LoadedExecutableDestroyArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        delete &executable;
        return {};
      });
  add<&abi::LoadedExecutableGetExecutableArgs::executable, "executable">(
      api, [](abi::LoadedExecutableGetExecutableArgs& a) -> Status {
        MILLRACE_GIVEN(loaded, loaded_executable);
        a.executable = new abi::Executable(loaded.program);
        return {};
      });
  add<&abi::LoadedExecutableFingerprintArgs::fingerprint_size, "executable_fingerprint_size">(
      api, [](abi::LoadedExecutableFingerprintArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.fingerprint = executable.program->fingerprint().data();
        a.fingerprint_size = executable.program->fingerprint().size();
        return {};
      });
  add<&abi::LoadedExecutableAddressableDevicesArgs::num_devices, "num_addressable_devices">(
      api, [](abi::LoadedExecutableAddressableDevicesArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.devices = executable.devices.data();
        a.num_devices = executable.devices.size();
        return {};
      });
  add<&abi::LoadedExecutableAddressableDeviceLogicalIdsArgs::num_ids,
      "num_addressable_device_logical_ids">(
      api, [](abi::LoadedExecutableAddressableDeviceLogicalIdsArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.ids = executable.logical_ids.data();
        a.num_ids = executable.logical_ids.size();
        return {};
      });
  add<&abi::LoadedExecutableGetDeviceAssignmentArgs::deleter,
      "serialized_device_assignment_deleter">(
      api, [](abi::LoadedExecutableGetDeviceAssignmentArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        give_bytes(a, write_device_assignment(executable.program->options()));
        return {};
      });
  add<&abi::LoadedExecutableDeleteArgs::executable, "executable">(
      api, [](abi::LoadedExecutableDeleteArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        executable.deleted.store(true);
        return {};
      });
  add<&abi::LoadedExecutableIsDeletedArgs::is_deleted, "is_deleted">(
      api, [](abi::LoadedExecutableIsDeletedArgs& a) -> Status {
        MILLRACE_GIVEN(executable, executable);
        a.is_deleted = executable.deleted.load();
        return {};
      });
}

}  // namespace millrace::pjrt_plugin
