// Extensions of the table that checks know: their names, and the layouts of the ones they call.
#pragma once

#include <string>

#include "millrace/devices/pjrt/layouts_abi.h"
#include "millrace/tools/conform/table.h"

namespace millrace::conform {

inline constexpr std::size_t kMostExtensions = 256;  // a longer chain is a loop
inline constexpr int kStreamExtension = 3;
using devices::pjrt::abi::kLayoutsExtension;
inline constexpr int kAbiVersionExtension = 20;

namespace abi {

// These begin with their size alone.
struct AbiVersionHandle;  // of a client or of an executable
struct AbiVersionOfClientArgs {
  std::size_t struct_size = 0;
  Client* client = nullptr;
  AbiVersionHandle* version = nullptr;
};
struct AbiVersionOfExecutableArgs {
  std::size_t struct_size = 0;
  Executable* executable = nullptr;
  AbiVersionHandle* version = nullptr;
};
struct AbiVersionDestroyArgs {
  std::size_t struct_size = 0;
  AbiVersionHandle* version = nullptr;
};
struct AbiVersionCompatibleArgs {
  std::size_t struct_size = 0;
  AbiVersionHandle* version = nullptr;
  AbiVersionHandle* other = nullptr;
};
struct AbiVersionBytesArgs {
  std::size_t struct_size = 0;
  AbiVersionHandle* version = nullptr;
  const char* bytes = nullptr;
  std::size_t bytes_size = 0;
  SerializedBytes* holder = nullptr;
  void (*deleter)(SerializedBytes* holder) = nullptr;
};
struct AbiVersionExtension : Extension {
  Function<AbiVersionOfClientArgs> of_client;
  Function<AbiVersionOfExecutableArgs> of_executable;
  Function<AbiVersionDestroyArgs> destroy_of_client;
  Function<AbiVersionCompatibleArgs> client_with_client;
  Function<AbiVersionCompatibleArgs> client_with_executable;
  Function<AbiVersionBytesArgs> bytes_of_client;
  void* platform_of_client;
  Function<AbiVersionDestroyArgs> destroy_of_executable;
  Function<AbiVersionBytesArgs> bytes_of_executable;
  void* platform_of_executable;
};
struct StreamOfDeviceArgs {
  std::size_t struct_size = 0;
  Device* device = nullptr;
  std::intptr_t stream = 0;
};
struct StreamWaitArgs {
  std::size_t struct_size = 0;
  std::intptr_t stream = 0;
  Buffer* buffer = nullptr;
};
struct StreamExtension : Extension {
  Function<StreamOfDeviceArgs> of_device;
  Function<StreamWaitArgs> wait;
};
static_assert(sizeof(AbiVersionExtension) == 24 + 10 * 8 && sizeof(StreamExtension) == 40);

}  // namespace abi

const abi::Extension* first_extension(const Table& table);
// Null where there is none.
const abi::Extension* find_extension(const Table& table, int type);
// "Layouts", or "99" where nobody knows it.
std::string extension_name(int type);

}  // namespace millrace::conform
