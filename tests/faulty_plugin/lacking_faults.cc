// No faults, though chosen as these are: a plugin that lacks what a client can do without, and one
// that counts the calls of each thread.
#include <array>
#include <cstring>

#include "tests/faulty_plugin/faults.h"

namespace millrace::faulty_plugin {
namespace {

template <class A>
void lack(abi::Api& api) {
  set(api, +[](A* /*a*/) -> abi::Error* { return make_error(kUnimplemented, "not here"); });
}

// The optimized program in a form that only its maker reads.
void hide_program(abi::Api& api) {
  instead<abi::ExecutableOptimizedProgramArgs>(api, [](auto* a) -> abi::Error* {
    constexpr std::string_view kBytecode = "ML\xefR and so on";
    a->program->format = "mlir";
    a->program->format_size = 4;
    a->program->code_size = kBytecode.size();
    if (a->program->code != nullptr)
      std::memcpy(a->program->code, kBytecode.data(), kBytecode.size());
    return nullptr;
  });
}

constexpr auto kSlots = static_cast<std::size_t>(abi::Slot::kCount);
constexpr std::array<const char*, kSlots> kNames = {
#define MILLRACE_PJRT_SLOT(name) "PJRT_" #name,
#include "millrace/devices/pjrt/slots.inc"
#undef MILLRACE_PJRT_SLOT
};
struct Calls {
  int count = 0;
  const char* last = "";
};
thread_local Calls calls;

#if defined(__clang__)
#define MILLRACE_UNTYPED [[clang::no_sanitize("function")]]  // as in a plugin that is written in C
#else
#define MILLRACE_UNTYPED
#endif

template <std::size_t I>
MILLRACE_UNTYPED void* count_call(void* args) {
  ++calls.count;
  calls.last = kNames[I];
  return reinterpret_cast<void* (*)(void*)>(healthy_api().functions[I])(args);
}
template <std::size_t... I>
void count_calls(abi::Api& api, std::index_sequence<I...> /*slots*/) {
  ((api.functions[I] = reinterpret_cast<void*>(&count_call<I>)), ...);
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
       [](abi::Api& api) {
         after<abi::DeviceAddressableMemoriesArgs>(api, [](auto* a) { a->num_memories = 0; });
       }},
      {"lacks.mapping", lack<abi::ClientDmaMapArgs>},
      {"counts.calls", [](abi::Api& api) { count_calls(api, std::make_index_sequence<kSlots>()); }},
  };
}

}  // namespace millrace::faulty_plugin

// Of the plugin that counts: the calls of this thread, and the last of them.
extern "C" __attribute__((visibility("default"))) int millrace_calls_here() {
  return millrace::faulty_plugin::calls.count;
}
extern "C" __attribute__((visibility("default"))) const char* millrace_last_call_here() {
  return millrace::faulty_plugin::calls.last;
}
