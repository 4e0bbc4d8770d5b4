// Extensions of the PJRT C API that the tree calls or offers, each a table of its own at the API's
// chain. The structures of layouts begin as those of the API do; those of the others, with their
// size. Facts of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::devices::pjrt::abi {

inline constexpr int kProfilerExtension = 1;
inline constexpr int kStreamExtension = 3;
inline constexpr int kLayoutsExtension = 4;
inline constexpr int kShardingsExtension = 19;
inline constexpr int kAbiVersionExtension = 20;

struct Layout;
struct SerializedLayout;
struct ProfilerHandle;
struct ProfilerError;
struct AbiVersionHandle;  // of a client or of an executable

#define MILLRACE_PJRT_SIZED_ARGS(name, ...)       \
  struct name##Args {                             \
    std::size_t struct_size = sizeof(name##Args); \
    MILLRACE_PJRT_FIELDS(__VA_ARGS__)             \
  };
// clang-format off
MILLRACE_PJRT_ARGS(LayoutDestroy, Layout* layout)
MILLRACE_PJRT_ARGS(LayoutSerialize, Layout* layout, const char* text, std::size_t text_size,
    SerializedLayout* owner, void (*deleter)(SerializedLayout* owner))
MILLRACE_PJRT_ARGS(ClientDefaultLayout, Client* client, BufferType type, const std::int64_t* dims,
    std::size_t num_dims, Layout* layout)
MILLRACE_PJRT_ARGS(TopologyDefaultLayout, Topology* topology, BufferType type,
    const std::int64_t* dims, std::size_t num_dims, Layout* layout)
MILLRACE_PJRT_ARGS(BufferLayout, Buffer* buffer, Layout* layout)
MILLRACE_PJRT_ARGS(ExecutableLayouts, Executable* executable, std::size_t num_layouts,
    Layout** layouts)
MILLRACE_PJRT_ARGS(ExecutableShardings, Executable* executable, std::size_t num_shardings,
    const char* const* shardings, const std::size_t* sharding_sizes)

MILLRACE_PJRT_SIZED_ARGS(ProfilerErrorDestroy, void* unused, ProfilerError* error)
MILLRACE_PJRT_SIZED_ARGS(ProfilerErrorMessage, void* unused, const ProfilerError* error,
    const char* message, std::size_t message_size)
MILLRACE_PJRT_SIZED_ARGS(ProfilerErrorGetCode, void* unused, const ProfilerError* error, int code)
MILLRACE_PJRT_SIZED_ARGS(ProfilerCreate, const char* options, std::size_t options_size,
    ProfilerHandle* profiler)
MILLRACE_PJRT_SIZED_ARGS(Profiler, ProfilerHandle* profiler)
MILLRACE_PJRT_SIZED_ARGS(ProfilerCollectData, ProfilerHandle* profiler, std::uint8_t* buffer,
    std::size_t buffer_size)

MILLRACE_PJRT_SIZED_ARGS(AbiVersionOfClient, Client* client, AbiVersionHandle* version)
MILLRACE_PJRT_SIZED_ARGS(AbiVersionOfExecutable, Executable* executable, AbiVersionHandle* version)
MILLRACE_PJRT_SIZED_ARGS(AbiVersionDestroy, AbiVersionHandle* version)
MILLRACE_PJRT_SIZED_ARGS(AbiVersionCompatible, AbiVersionHandle* version, AbiVersionHandle* other)
MILLRACE_PJRT_SIZED_ARGS(AbiVersionBytes, AbiVersionHandle* version, const char* bytes,
    std::size_t bytes_size, SerializedBytes* holder, void (*deleter)(SerializedBytes* holder))

MILLRACE_PJRT_SIZED_ARGS(StreamOfDevice, Device* device, std::intptr_t stream)
MILLRACE_PJRT_SIZED_ARGS(StreamWait, std::intptr_t stream, Buffer* buffer)
// clang-format on
#undef MILLRACE_PJRT_SIZED_ARGS

// As many of the functions as struct_size says: later minors have more of them.
struct LayoutsExtension : Extension {
  Function<LayoutDestroyArgs> destroy;
  Function<LayoutSerializeArgs> serialize;
  Function<ClientDefaultLayoutArgs> client_default;
  Function<BufferLayoutArgs> of_buffer;
  Function<TopologyDefaultLayoutArgs> topology_default;
  Function<ExecutableLayoutsArgs> of_outputs;
  Function<ExecutableLayoutsArgs> of_parameters;  // the layouts are the executable's
};
static_assert(sizeof(LayoutsExtension) == 80 && sizeof(LayoutSerializeArgs) == 56);

// How each argument and result lies on the devices: messages OpSharding of XLA's,
// which are the executable's; none where it does not say.
struct ShardingsExtension : Extension {
  Function<ExecutableShardingsArgs> of_parameters;
  Function<ExecutableShardingsArgs> of_outputs;
};
static_assert(sizeof(ShardingsExtension) == 40 && sizeof(ExecutableShardingsArgs) == 48);

// Its errors are its own.
struct ProfilerApi {
  std::size_t struct_size;
  void* unused;
  void (*error_destroy)(ProfilerErrorDestroyArgs*);
  void (*error_message)(ProfilerErrorMessageArgs*);
  ProfilerError* (*error_get_code)(ProfilerErrorGetCodeArgs*);
  ProfilerError* (*create)(ProfilerCreateArgs*);
  ProfilerError* (*destroy)(ProfilerArgs*);
  ProfilerError* (*start)(ProfilerArgs*);
  ProfilerError* (*stop)(ProfilerArgs*);
  ProfilerError* (*collect_data)(ProfilerCollectDataArgs*);
};
struct ProfilerExtension : Extension {
  const ProfilerApi* api;
};
static_assert(sizeof(ProfilerApi) == 80 && sizeof(ProfilerErrorDestroyArgs) == 24 &&
              sizeof(ProfilerErrorMessageArgs) == 40 && sizeof(ProfilerErrorGetCodeArgs) == 32 &&
              sizeof(ProfilerCreateArgs) == 32 && sizeof(ProfilerArgs) == 16 &&
              sizeof(ProfilerCollectDataArgs) == 32);

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
struct StreamExtension : Extension {
  Function<StreamOfDeviceArgs> of_device;
  Function<StreamWaitArgs> wait;
};
static_assert(sizeof(AbiVersionExtension) == 24 + 10 * 8 && sizeof(StreamExtension) == 40);

}  // namespace millrace::devices::pjrt::abi
