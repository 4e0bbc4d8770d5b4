// No faults, though chosen as these are: a plugin that lacks what a client can do without, and one
// that counts the calls of each thread.
#include <cstring>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

template <class A>
void lack(abi::Api& api) {
  api.set([](A* /*a*/) -> abi::Error* { return make_error(kUnimplemented, "not here"); });
}

// The optimized program in a form that only its maker reads.
void hide_program(abi::Api& api) {
  instead<[](abi::ExecutableOptimizedProgramArgs* a) -> abi::Error* {
    constexpr std::string_view kBytecode = "ML\xefR and so on";
    a->program->format = "mlir";
    a->program->format_size = 4;
    a->program->code_size = kBytecode.size();
    if (a->program->code != nullptr)
      std::memcpy(a->program->code, kBytecode.data(), kBytecode.size());
    return nullptr;
  }>(api);
}

struct Calls {
  int count = 0;
  const char* last = "";
};
thread_local Calls calls;

MILLRACE_PJRT_UNTYPED abi::Error* count_call(abi::Slot slot, void* args) {
  ++calls.count;
  calls.last = to_string(slot).data();
  void* const function = healthy_api().functions[static_cast<std::size_t>(slot)];
  return reinterpret_cast<abi::Error* (*)(void*)>(function)(args);
}

}  // namespace

Faults lacking_faults() {
  return {
      {"lacks.optimized_program", lack<abi::ExecutableOptimizedProgramArgs>},
      {"lacks.readable_program", hide_program},
      {"lacks.parameters",
       [](abi::Api& api) {
         hide_program(api);
         lack<abi::ExecutableParameterMemoryKindsArgs>(api);
       }},
      {"lacks.outputs",
       [](abi::Api& api) {
         lack<abi::ExecutableOutputElementTypesArgs>(api);
         lack<abi::ExecutableOutputDimensionsArgs>(api);
       }},
      {"lacks.memories",
       [](abi::Api& api) {
         lack<abi::DeviceAddressableMemoriesArgs>(api);
         lack<abi::DeviceDefaultMemoryArgs>(api);
       }},
      {"lacks.default_memory", lack<abi::DeviceDefaultMemoryArgs>},
      {"lacks.any_memory",
       after<[](abi::DeviceAddressableMemoriesArgs* a) { a->num_memories = 0; }>},
      {"lacks.mapping", lack<abi::ClientDmaMapArgs>},
      {"counts.calls", [](abi::Api& api) { api.set_all<count_call>(); }},
  };
}

}  // namespace millrace::faulty_plugin

// Exported by the plugin that counts: the calls of this thread, and the last of them.
extern "C" __attribute__((visibility("default"))) int millrace_calls_here() {
  return millrace::faulty_plugin::calls.count;
}
extern "C" __attribute__((visibility("default"))) const char* millrace_last_call_here() {
  return millrace::faulty_plugin::calls.last;
}
