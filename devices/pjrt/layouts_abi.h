// PJRT's layouts extension: facts of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/devices/pjrt/abi.h"

namespace millrace::devices::pjrt::abi {

inline constexpr int kLayoutsExtension = 4;

struct Layout;
struct SerializedLayout;

struct LayoutDestroyArgs : Args {
  Layout* layout = nullptr;
};
struct LayoutSerializeArgs : Args {
  Layout* layout = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
  SerializedLayout* owner = nullptr;  // of the text
  void (*deleter)(SerializedLayout* owner) = nullptr;
};
struct ClientDefaultLayoutArgs : Args {
  Client* client = nullptr;
  BufferType type = BufferType::kInvalid;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  Layout* layout = nullptr;
};
struct BufferLayoutArgs : Args {
  Buffer* buffer = nullptr;
  Layout* layout = nullptr;
};
struct ExecutableLayoutsArgs : Args {
  Executable* executable = nullptr;
  std::size_t num_layouts = 0;
  Layout** layouts = nullptr;
};

// As many of the functions as struct_size says: later minors have more of them.
struct LayoutsExtension : Extension {
  Function<LayoutDestroyArgs> destroy;
  Function<LayoutSerializeArgs> serialize;
  Function<ClientDefaultLayoutArgs> client_default;
  Function<BufferLayoutArgs> of_buffer;
  void* topology_default;
  Function<ExecutableLayoutsArgs> of_outputs;
  Function<ExecutableLayoutsArgs> of_parameters;  // the layouts are the executable's
};
static_assert(sizeof(LayoutsExtension) == 80 && sizeof(LayoutSerializeArgs) == 56);

// Up to where an extension must reach to have this function.
template <class F>
std::size_t end_in_layouts(F LayoutsExtension::* function) {
  static const LayoutsExtension extension{};
  const auto* const begin = reinterpret_cast<const char*>(&extension);
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&(extension.*function)) - begin) +
         sizeof(F);
}

}  // namespace millrace::devices::pjrt::abi
