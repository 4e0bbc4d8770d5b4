#include <array>

#include "tests/memory_plugin/objects.h"

namespace millrace::memory_plugin {
namespace {

#if defined(__clang__)
#define MILLRACE_UNTYPED [[clang::no_sanitize("function")]]  // as in a plugin that is written in C
#else
#define MILLRACE_UNTYPED
#endif

template <std::size_t I>
MILLRACE_UNTYPED abi::Error* lacking(void* /*args*/) {
  static constexpr std::array<const char*, static_cast<std::size_t>(abi::Slot::kCount)> kNames = {
#define MILLRACE_PJRT_SLOT(name) "PJRT_" #name,
#include "millrace/devices/pjrt/slots.inc"
#undef MILLRACE_PJRT_SLOT
  };
  return make_error(kUnimplemented, std::string(kNames[I]) + " is not implemented here");
}

template <std::size_t... I>
void fill(abi::Api& api, std::index_sequence<I...> /*slots*/) {
  ((api.functions[I] = reinterpret_cast<void*>(&lacking<I>)), ...);
}

}  // namespace

Extensions& extensions() {
  static Extensions all = {make_layouts(), make_abi_versions(), make_streams()};
  all.layouts.next = &all.abi_versions;
  all.abi_versions.next = &all.streams;
  return all;
}

abi::Api make_api() {
  abi::Api api{};
  api.struct_size = sizeof(api);
  api.version = {.struct_size = sizeof(abi::Version),
                 .extension_start = nullptr,
                 .major_version = abi::kMajor,
                 .minor_version = abi::kMinor};
  fill(api, std::make_index_sequence<static_cast<std::size_t>(abi::Slot::kCount)>());
  add_errors_and_events(api);
  add_clients(api);
  add_devices(api);
  add_topologies(api);
  add_executables(api);
  add_execution(api);
  add_buffers(api);
  add_copies(api);
  add_transfers(api);
  api.extension_start = &extensions().layouts;
  return api;
}

}  // namespace millrace::memory_plugin
