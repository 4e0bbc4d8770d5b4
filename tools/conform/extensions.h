// Extensions of the table that checks know: their names, and the layouts of the ones they call.
#pragma once

#include <string>

#include "millrace/tools/conform/table.h"

namespace millrace::conform {

inline constexpr std::size_t kMostExtensions = 256;  // a longer chain is a loop
inline constexpr int kLayoutsExtension = 4;

namespace abi {

struct MemoryLayoutHandle;
struct LayoutDestroyArgs : Args {
  MemoryLayoutHandle* layout = nullptr;
};
struct LayoutSerializeArgs : Args {
  MemoryLayoutHandle* layout = nullptr;
  const char* bytes = nullptr;
  std::size_t bytes_size = 0;
  SerializedBytes* holder = nullptr;
  void (*deleter)(SerializedBytes* holder) = nullptr;
};
struct LayoutOfBufferArgs : Args {
  Buffer* buffer = nullptr;
  MemoryLayoutHandle* layout = nullptr;
};
struct LayoutsOfExecutableArgs : Args {
  Executable* executable = nullptr;
  std::size_t count = 0;
  MemoryLayoutHandle** layouts = nullptr;  // the plugin's array; the layouts are the caller's
};
struct LayoutsExtension : Extension {
  Function<LayoutDestroyArgs> destroy;
  Function<LayoutSerializeArgs> serialize;
  void* default_of_client;
  Function<LayoutOfBufferArgs> of_buffer;
  void* default_of_topology;
  Function<LayoutsOfExecutableArgs> of_outputs;
  Function<LayoutsOfExecutableArgs> of_parameters;
};
static_assert(sizeof(LayoutsExtension) == 80 && sizeof(LayoutSerializeArgs) == 56);

}  // namespace abi

const abi::Extension* first_extension(const Table& table);
// Null where there is none.
const abi::Extension* find_extension(const Table& table, int type);
// "Layouts", or "99" where nobody knows it.
std::string extension_name(int type);

}  // namespace millrace::conform
