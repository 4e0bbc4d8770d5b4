// PJRT's layouts extension as layout.cc calls it: facts of the ABI.
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

// The functions behind the head of the extension; later minors have more of them.
enum class LayoutsSlot : std::size_t {
  kDestroy,
  kSerialize,
  kClientDefault,
  kBuffer,
  kTopologyDefault,
  kOutputs,
  kParameters,
};
struct LayoutsExtension : Extension {
  void* functions[7];  // as many as struct_size says
};

}  // namespace millrace::devices::pjrt::abi
