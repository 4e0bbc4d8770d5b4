// Faults of compilation, execution, errors of both, serialization, layouts and several devices.
#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

using Execute = abi::LoadedExecutableExecuteArgs;

constexpr std::string_view kIncrement =
    "module @increment {\n"
    "  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %one = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
    "    %y = stablehlo.add %x, %one : tensor<4xf32>\n"
    "    return %y : tensor<4xf32>\n  }\n}\n";

abi::Program increment_program() {
  static std::string text(kIncrement);
  abi::Program p;
  p.struct_size = abi::kStructSize<abi::Program>;
  p.code = text.data();
  p.code_size = text.size();
  p.format = "mlir";
  p.format_size = 4;
  return p;
}

// The error is dropped; something that works is loaded instead.
abi::Error* load_anyway(abi::ExecutableDeserializeAndLoadArgs* a, bool with_head) {
  abi::Error* error = healthy(a);
  const std::string_view bytes(a->serialized_executable, a->serialized_executable_size);
  if (error == nullptr || bytes.starts_with("memory-executable") != with_head) return error;
  delete error;
  const abi::Program program = increment_program();
  std::shared_ptr<const abi::Compiled> compiled;
  error = compile(&program, "", 0, compiled);
  return error != nullptr ? error : load(a->client, compiled, &a->loaded_executable);
}

bool of_bad_program(const abi::Error* error) {
  return error->message.contains("cannot be compiled");
}

std::mutex mutex;
std::set<const void*> orphans;  // what is compiled, of which the loaded part went first

abi::Buffer** kept_array = nullptr;
abi::Buffer *identity_in = nullptr, *identity_out = nullptr;
std::atomic<int> not_waited_for{0};
std::atomic<int> clients_made{0};

}  // namespace

Faults program_faults() {
  return {
      {"compile.text", &refuse<abi::ClientCompileArgs>},
      {"compile.name", after<[](abi::ExecutableNameArgs* a) { a->name_size = 0; }>},
      {"compile.replicas", after<[](abi::ExecutableNumReplicasArgs* a) { a->num_replicas = 2; }>},
      {"compile.outputs", after<[](abi::ExecutableNumOutputsArgs* a) { ++a->num_outputs; }>},
      {"compile.output_types",
       after<[](abi::ExecutableOutputElementTypesArgs* a) { a->num_output_types = 1; }>},
      {"compile.output_dimensions",
       after<[](abi::ExecutableOutputDimensionsArgs* a) { a->num_outputs = 1; }>},
      {"compile.output_memory_kinds",
       after<[](abi::ExecutableOutputMemoryKindsArgs* a) { a->num_outputs = 0; }>},
      {"compile.parameter_memory_kinds",
       after<[](abi::ExecutableParameterMemoryKindsArgs* a) { a->num_parameters = 0; }>},
      {"compile.code_size",
       after<[](abi::ExecutableSizeOfGeneratedCodeInBytesArgs* a) { a->size_in_bytes = -5; }>},
      {"compile.fingerprint", after<[](abi::ExecutableFingerprintArgs* a) {
         a->fingerprint = "the same for all";
         a->fingerprint_size = 16;
       }>},
      {"compile.memory_stats",
       after<[](abi::ExecutableGetCompiledMemoryStatsArgs* a) { a->output_bytes = 0; }>},
      {"compile.cost_analysis", after<[](abi::ExecutableGetCostAnalysisArgs* a) {
         static abi::NamedValue nameless = a->properties[0];
         nameless.name_size = 0;
         a->properties = &nameless;
       }>},
      {"compile.optimized_program", after<[](abi::ExecutableOptimizedProgramArgs* a) {
         a->program->format = "gibberish";
         a->program->format_size = 9;
       }>},
      {"compile.options",
       after<[](abi::ExecutableGetCompileOptionsArgs* a) { a->deleter = nullptr; }>},
      {"compile.devices",
       after<[](abi::LoadedExecutableAddressableDevicesArgs* a) { a->num_devices = 0; }>},
      {"compile.assignment",
       after<[](abi::LoadedExecutableGetDeviceAssignmentArgs* a) { a->bytes_size = 0; }>},
      {"compile.logical_ids",
       after<[](abi::LoadedExecutableAddressableDeviceLogicalIdsArgs* a) { a->num_ids = 0; }>},
      {"compile.any_order",
       [](abi::Api& api) {
         before<[](abi::LoadedExecutableDestroyArgs* a) {
           const std::scoped_lock lock(mutex);
           if (1 < a->executable->compiled.use_count())
             orphans.insert(a->executable->compiled.get());
         }>(api);
         before<[](abi::ExecutableDestroyArgs* a) {
           const std::scoped_lock lock(mutex);
           if (orphans.contains(a->executable->compiled.get())) std::abort();
         }>(api);
       }},
      {"compile.deleted",
       after<[](abi::LoadedExecutableIsDeletedArgs* a) { a->is_deleted = false; }>},

      {"execute.result", after<[](Execute* a) { spoil_contents(a->output_lists[0][0]); }>},
      {"execute.complete_event", after<[](Execute* a) {
         auto failed = std::make_shared<EventState>();
         failed->set({13, "a fault of this plugin"});
         if (a->device_complete_events != nullptr) a->device_complete_events[0]->state = failed;
       }>},
      {"execute.without_event", instead<[](Execute* a) {
         return a->device_complete_events == nullptr ? make_error(3, "no event") : healthy(a);
       }>},
      {"execute.arrays_of_call",
       [](abi::Api& api) {
         after<[](Execute* a) {
           if (a->options->launch_id == 4242) kept_array = a->output_lists[0];
         }>(api);
         before<[](abi::EventOnReadyArgs* /*a*/) {
           if (kept_array != nullptr) kept_array[0] = nullptr;
         }>(api);
       }},
      {"execute.two_results", after<[](Execute* a) {
         if (name_of(a->executable) == "split") {
           std::swap(a->output_lists[0][0], a->output_lists[0][1]);
         }
       }>},
      {"execute.no_arguments", instead<[](Execute* a) {
         return a->num_args == 0 ? make_error(3, "no arguments") : healthy(a);
       }>},
      {"execute.identity",
       [](abi::Api& api) {
         after<[](Execute* a) {
           if (name_of(a->executable) != "identity") return;
           identity_in = a->argument_lists[0][0];
           identity_out = a->output_lists[0][0];
         }>(api);
         after<[](abi::BufferDeleteArgs* a) {
           if (a->buffer == identity_in) identity_out->storage.reset();
         }>(api);
       }},
      {"execute.same_argument", instead<[](Execute* a) {
         const bool same = name_of(a->executable) == "add" && a->num_args == 2 &&
                           a->argument_lists[0][0] == a->argument_lists[0][1];
         return same ? make_error(3, "one buffer twice") : healthy(a);
       }>},
      {"execute.chain",
       [](abi::Api& api) {
         instead<[](Execute* a) {
           return 900 < ++not_waited_for ? make_error(8, "too much is in flight") : healthy(a);
         }>(api);
         before<[](abi::EventOnReadyArgs* /*a*/) { not_waited_for = 0; }>(api);
       }},

      {"errors.bad_program", before<[](abi::ClientCompileArgs* a) {
         static const abi::Program program = increment_program();
         if (!std::string_view(a->program->code, a->program->code_size).contains("module")) {
           a->program = &program;
         }
       }>},
      {"errors.message",
       [](abi::Api& api) {
         api.set([](abi::ErrorMessageArgs* a) {
           a->message = a->error->message.data();
           a->message_size = of_bad_program(a->error) ? 0 : a->error->message.size();
         });
       }},
      {"errors.code", after<[](abi::ErrorGetCodeArgs* a) {
         if (of_bad_program(a->error)) a->code = 0;
       }>},
      {"errors.bad_format", instead<[](abi::ClientCompileArgs* a) {
         const abi::Program* const given = a->program;
         abi::Program program = *given;
         program.format = "mlir";
         program.format_size = 4;
         a->program = &program;
         abi::Error* const error = healthy(a);
         a->program = given;
         return error;
       }>},
      {"errors.bad_options", before<[](abi::ClientCompileArgs* a) {
         const std::string_view options(a->compile_options, a->compile_options_size);
         if (options.starts_with('\xff')) a->compile_options_size = 0;
       }>},
      {"errors.unknown_device", instead<[](abi::ClientLookupDeviceArgs* a) -> abi::Error* {
         delete healthy(a);
         if (a->device == nullptr) a->device = a->client->device_list[0];
         return nullptr;
       }>},
      {"errors.argument_count", instead<[](Execute* a) {
         const bool few = a->num_args < a->executable->compiled->program.inputs.size();
         return few ? nullptr : healthy(a);
       }>},
      {"errors.argument_shape", instead<[](Execute* a) {
         abi::Buffer* argument = a->num_args == 1 ? a->argument_lists[0][0] : nullptr;
         if (argument == nullptr || argument->dims != std::vector<std::int64_t>{8}) {
           return healthy(a);
         }
         argument->dims = {4};
         abi::Error* error = healthy(a);
         argument->dims = {8};
         return error;
       }>},

      {"serialize.round_trip", &refuse<abi::ExecutableDeserializeAndLoadArgs>},
      {"serialize.other_client",
       [](abi::Api& api) {
         after<[](abi::ClientCreateArgs* /*a*/) { ++clients_made; }>(api);
         instead<[](abi::ExecutableDeserializeAndLoadArgs* a) {
           return 1 < clients_made ? make_error(9, "of another client") : healthy(a);
         }>(api);
       }},
      {"serialize.cut",
       instead<[](abi::ExecutableDeserializeAndLoadArgs* a) { return load_anyway(a, true); }>},
      {"serialize.nonsense",
       instead<[](abi::ExecutableDeserializeAndLoadArgs* a) { return load_anyway(a, false); }>},

      {"layouts.buffer",
       [](abi::Api& /*api*/) {
         extensions().layouts.serialize = [](auto* a) -> abi::Error* {
           a->text_size = 0;
           return nullptr;
         };
       }},
      {"layouts.parameters",
       [](abi::Api& /*api*/) {
         extensions().layouts.of_parameters = [](auto* a) -> abi::Error* {
           a->num_layouts = 0;
           return nullptr;
         };
       }},
      {"layouts.results",
       [](abi::Api& /*api*/) {
         extensions().layouts.of_outputs = [](auto* a) -> abi::Error* {
           a->num_layouts = 0;
           return nullptr;
         };
       }},

      {"interop.abi_version",
       [](abi::Api& /*api*/) {
         extensions().abi_versions.bytes_of_executable = [](auto* a) -> abi::Error* {
           a->bytes_size = 0;
           return nullptr;
         };
       }},
      {"interop.compatible",
       [](abi::Api& /*api*/) {
         extensions().abi_versions.client_with_executable = [](auto* /*a*/) {
           return make_error(9, "a fault of this plugin");
         };
       }},
      {"interop.stream",
       [](abi::Api& /*api*/) {
         extensions().streams.wait = [](auto* a) -> abi::Error* {
           spoil_contents(a->buffer);
           return nullptr;
         };
       }},

      {"several.compiled_for_each", after<[](Execute* a) {
         const auto& devices = a->executable->devices;
         if (devices.size() == 1 && devices[0]->description.id != 0) {
           spoil_contents(a->output_lists[0][0]);
         }
       }>},
      {"several.portable", after<[](Execute* a) {
         if (a->execute_device != nullptr) {
           a->output_lists[0][0]->device = a->executable->client->device_list[0];
         }
       }>},
      {"several.copy_to_device",
       before<[](abi::BufferCopyToDeviceArgs* a) { a->dst_device = a->buffer->device; }>},
      {"several.copy_to_memory",
       before<[](abi::BufferCopyToMemoryArgs* a) { a->dst_memory = &a->buffer->device->memory; }>},
      {"several.wrong_device", instead<[](Execute* a) {
         const auto& devices = a->executable->devices;
         if (devices.size() != 1 || a->num_args != 1) return healthy(a);
         abi::Buffer* argument = a->argument_lists[0][0];
         abi::Device* there = std::exchange(argument->device, devices[0]);
         abi::Error* error = healthy(a);
         argument->device = there;
         return error;
       }>},
      {"several.replicas", after<[](Execute* a) {
         if (a->num_devices == 2) std::swap(a->output_lists[0][0], a->output_lists[1][0]);
       }>},
      {"several.all_reduce", after<[](Execute* a) {
         if (name_of(a->executable) == "sum_over_replicas") {
           spoil_contents(a->output_lists[1][0]);
         }
       }>},
  };
}

}  // namespace millrace::faulty_plugin
