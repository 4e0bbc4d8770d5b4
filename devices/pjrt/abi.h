// The PJRT C API as this client speaks it: the layouts, values and slots of minor 115, which are
// facts of the ABI and shared by every plugin; a plugin's own headers are never needed. The sizes
// are those that real plugins demand (they refuse shorter structures), and each is checked against
// the layout below. Read next: plugin.h, which makes the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace::devices::pjrt::abi {

// What only the plugin looks into.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct SerializedExecutable;
struct TopologyDescription;
struct DeviceAttributes;

inline constexpr int kMajor = 0;
inline constexpr int kMinor = 115;       // that this client knows
inline constexpr int kOldestMinor = 68;  // what came before had no stable functions for memories

enum class Slot : std::size_t {
#define MILLRACE_PJRT_SLOT(name) k##name,
#include "millrace/devices/pjrt/slots.inc"
#undef MILLRACE_PJRT_SLOT
  kCount
};
// "PJRT_Client_Create".
std::string_view to_string(Slot slot);

// A function of the table. Error_Message and Error_Destroy give nothing back.
template <class A>
using Function = Error* (*)(A* args);
template <class A>
using QuietFunction = void (*)(A* args);

struct Version {
  std::size_t struct_size;
  void* extension_start;
  int major_version;
  int minor_version;
};

struct Api {
  std::size_t struct_size;
  void* extension_start;
  Version version;
  void* functions[static_cast<std::size_t>(Slot::kCount)];  // as many as struct_size says
};

struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};

// Every structure of a call begins with these.
struct Args {
  std::size_t struct_size = 0;
  void* extension_start = nullptr;
};

enum class ValueType : int { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 };

struct NamedValue : Args {
  const char* name = nullptr;
  std::size_t name_size = 0;
  ValueType type = ValueType::kString;
  union {
    const char* string;
    std::int64_t int64;
    const std::int64_t* int64_list;
    float number;
    bool boolean;
  } value = {};
  std::size_t value_size = 1;
};

enum class BufferType : int {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 13,
  kC64 = 14,
  kC128 = 15,
  kF8E5M2 = 16,
  kF8E4M3FN = 17,
  kF8E4M3B11FNUZ = 18,
  kF8E5M2FNUZ = 19,
  kF8E4M3FNUZ = 20,
  kS4 = 21,
  kU4 = 22,
  kToken = 23,
  kS2 = 24,
  kU2 = 25,
  kF8E4M3 = 26,
  kF8E3M4 = 27,
  kF8E8M0FNU = 28,
  kF4E2M1FN = 29,
  kS1 = 30,
  kU1 = 31,
  kF6E2M3FN = 32,
  kF6E3M2FN = 33,
};

struct ErrorDestroyArgs : Args {
  Error* error = nullptr;
};
struct ErrorMessageArgs : Args {
  const Error* error = nullptr;
  const char* message = nullptr;
  std::size_t message_size = 0;
};
struct ErrorGetCodeArgs : Args {
  const Error* error = nullptr;
  int code = 0;
};

struct PluginInitializeArgs : Args {};
struct PluginAttributesArgs : Args {
  const NamedValue* attributes = nullptr;
  std::size_t num_attributes = 0;
};

struct EventDestroyArgs : Args {
  Event* event = nullptr;
};
struct EventIsReadyArgs : Args {
  Event* event = nullptr;
  bool is_ready = false;
};
struct EventErrorArgs : Args {
  Event* event = nullptr;
};
struct EventAwaitArgs : Args {
  Event* event = nullptr;
};
struct EventOnReadyArgs : Args {
  Event* event = nullptr;
  void (*callback)(Error* error, void* user_arg) = nullptr;
  void* user_arg = nullptr;
};

// Makes an error of the plugin.
using CallbackError = Error* (*)(int code, const char* message, std::size_t message_size);
// What the plugin calls; user_arg is ClientCreateArgs'.
struct KeyValueGetArgs : Args {
  const char* key = nullptr;
  std::size_t key_size = 0;
  int timeout_in_ms = 0;
  CallbackError* callback_error = nullptr;
  void* user_arg = nullptr;
  char* value = nullptr;
  std::size_t value_size = 0;
  void (*deleter)(char* value) = nullptr;  // of value, which the plugin copies
};
struct KeyValueTryGetArgs : Args {
  const char* key = nullptr;
  std::size_t key_size = 0;
  CallbackError* callback_error = nullptr;
  void* user_arg = nullptr;
  char* value = nullptr;
  std::size_t value_size = 0;
  void (*deleter)(char* value) = nullptr;
};
struct KeyValuePutArgs : Args {
  const char* key = nullptr;
  std::size_t key_size = 0;
  const char* value = nullptr;
  std::size_t value_size = 0;
  CallbackError* callback_error = nullptr;
  void* user_arg = nullptr;
};
static_assert(sizeof(KeyValueGetArgs) == 80 && sizeof(KeyValueTryGetArgs) == 72 &&
              sizeof(KeyValuePutArgs) == 64);

struct ClientCreateArgs : Args {
  const NamedValue* create_options = nullptr;
  std::size_t num_options = 0;
  void* kv_get_callback = nullptr;
  void* kv_get_user_arg = nullptr;
  void* kv_put_callback = nullptr;
  void* kv_put_user_arg = nullptr;
  Client* client = nullptr;
  void* kv_try_get_callback = nullptr;
  void* kv_try_get_user_arg = nullptr;
};
struct ClientDestroyArgs : Args {
  Client* client = nullptr;
};
struct ClientPlatformNameArgs : Args {
  Client* client = nullptr;
  const char* platform_name = nullptr;
  std::size_t platform_name_size = 0;
};
struct ClientPlatformVersionArgs : Args {
  Client* client = nullptr;
  const char* platform_version = nullptr;
  std::size_t platform_version_size = 0;
};
struct ClientAddressableDevicesArgs : Args {
  Client* client = nullptr;
  Device* const* devices = nullptr;
  std::size_t num_devices = 0;
};
struct Program : Args {
  char* code = nullptr;
  std::size_t code_size = 0;
  const char* format = nullptr;
  std::size_t format_size = 0;
};
struct ClientCompileArgs : Args {
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;
  std::size_t compile_options_size = 0;
  LoadedExecutable* executable = nullptr;
};
enum class LayoutType : int { kTiled = 0, kStrides = 1 };
struct TiledLayout : Args {
  const std::int64_t* minor_to_major = nullptr;
  std::size_t minor_to_major_size = 0;
  const std::int64_t* tile_dims = nullptr;
  const std::size_t* tile_dim_sizes = nullptr;
  std::size_t num_tiles = 0;
};
// The tiled member stands for both: it is the larger.
struct MemoryLayout : Args {
  TiledLayout tiled;
  LayoutType type = LayoutType::kTiled;
};
struct ClientBufferFromHostBufferArgs : Args {
  Client* client = nullptr;
  const void* data = nullptr;
  BufferType type = BufferType::kInvalid;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  const std::int64_t* byte_strides = nullptr;
  std::size_t num_byte_strides = 0;
  int host_buffer_semantics = 0;
  Device* device = nullptr;
  Memory* memory = nullptr;
  MemoryLayout* device_layout = nullptr;
  Event* done_with_host_buffer = nullptr;
  Buffer* buffer = nullptr;
};

struct ClientDmaMapArgs : Args {
  Client* client = nullptr;
  void* data = nullptr;
  std::size_t size = 0;
};
struct ClientDmaUnmapArgs : Args {
  Client* client = nullptr;
  void* data = nullptr;
};
struct ClientTopologyDescriptionArgs : Args {
  Client* client = nullptr;
  TopologyDescription* topology = nullptr;  // the client's
};
struct TopologyDescriptionAttributesArgs : Args {
  TopologyDescription* topology = nullptr;
  const NamedValue* attributes = nullptr;
  std::size_t num_attributes = 0;
};

struct DeviceGetAttributesArgs : Args {
  Device* device = nullptr;
  const NamedValue* attributes = nullptr;
  std::size_t num_attributes = 0;
  DeviceAttributes* owner = nullptr;  // of what they point to
  void (*deleter)(DeviceAttributes* owner) = nullptr;
};
struct DeviceGetDescriptionArgs : Args {
  Device* device = nullptr;
  DeviceDescription* description = nullptr;
};
struct DeviceDescriptionIdArgs : Args {
  DeviceDescription* description = nullptr;
  int id = 0;
};
struct DeviceDescriptionProcessIndexArgs : Args {
  DeviceDescription* description = nullptr;
  int process_index = 0;
};
struct DeviceDescriptionAttributesArgs : Args {
  DeviceDescription* description = nullptr;
  std::size_t num_attributes = 0;
  const NamedValue* attributes = nullptr;
};
struct DeviceDescriptionKindArgs : Args {
  DeviceDescription* description = nullptr;
  const char* kind = nullptr;
  std::size_t kind_size = 0;
};
struct DeviceAddressableMemoriesArgs : Args {
  Device* device = nullptr;
  Memory* const* memories = nullptr;
  std::size_t num_memories = 0;
};
struct DeviceDefaultMemoryArgs : Args {
  Device* device = nullptr;
  Memory* memory = nullptr;
};
struct MaybeInt64 {
  std::int64_t value;
  bool is_set;
};
struct DeviceMemoryStatsArgs : Args {
  Device* device = nullptr;
  std::int64_t bytes_in_use = 0;
  MaybeInt64 peak_bytes_in_use = {};
  MaybeInt64 num_allocs = {};
  MaybeInt64 largest_alloc_size = {};
  MaybeInt64 bytes_limit = {};
  MaybeInt64 bytes_reserved = {};
  MaybeInt64 peak_bytes_reserved = {};
  MaybeInt64 bytes_reservable_limit = {};
  MaybeInt64 largest_free_block_bytes = {};
  MaybeInt64 pool_bytes = {};
  MaybeInt64 peak_pool_bytes = {};
};
struct MemoryIdArgs : Args {
  Memory* memory = nullptr;
  int id = 0;
};
struct MemoryKindArgs : Args {
  Memory* memory = nullptr;
  const char* kind = nullptr;
  std::size_t kind_size = 0;
};

struct ExecutableDestroyArgs : Args {
  Executable* executable = nullptr;
};
struct ExecutableNumReplicasArgs : Args {
  Executable* executable = nullptr;
  std::size_t num_replicas = 0;
};
struct ExecutableNumPartitionsArgs : Args {
  Executable* executable = nullptr;
  std::size_t num_partitions = 0;
};
struct ExecutableNumOutputsArgs : Args {
  Executable* executable = nullptr;
  std::size_t num_outputs = 0;
};
struct ExecutableOutputElementTypesArgs : Args {
  Executable* executable = nullptr;
  const BufferType* output_types = nullptr;
  std::size_t num_output_types = 0;
};
struct ExecutableOutputDimensionsArgs : Args {
  Executable* executable = nullptr;
  std::size_t num_outputs = 0;
  const std::int64_t* dims = nullptr;
  const std::size_t* dim_sizes = nullptr;
};
struct ExecutableParameterMemoryKindsArgs : Args {
  Executable* executable = nullptr;
  std::size_t num_parameters = 0;
  const char* const* kinds = nullptr;
  const std::size_t* kind_sizes = nullptr;
};
struct ExecutableOptimizedProgramArgs : Args {
  Executable* executable = nullptr;
  Program* program = nullptr;
};
struct ExecutableSerializeArgs : Args {
  const Executable* executable = nullptr;
  const char* serialized_bytes = nullptr;
  std::size_t serialized_bytes_size = 0;
  SerializedExecutable* serialized_executable = nullptr;
  void (*serialized_executable_deleter)(SerializedExecutable*) = nullptr;
};
struct ExecutableGetCompiledMemoryStatsArgs : Args {
  Executable* executable = nullptr;
  std::int64_t generated_code_bytes = 0;
  std::int64_t argument_bytes = 0;
  std::int64_t output_bytes = 0;
  std::int64_t alias_bytes = 0;
  std::int64_t temporary_bytes = 0;
  std::int64_t host[5] = {};
  std::int64_t peak_bytes = 0;
};
struct ExecutableGetCostAnalysisArgs : Args {
  Executable* executable = nullptr;
  std::size_t num_properties = 0;
  const NamedValue* properties = nullptr;
};
struct LoadedExecutableDestroyArgs : Args {
  LoadedExecutable* executable = nullptr;
};
struct LoadedExecutableGetExecutableArgs : Args {
  LoadedExecutable* loaded_executable = nullptr;
  Executable* executable = nullptr;
};
struct LoadedExecutableAddressableDevicesArgs : Args {
  LoadedExecutable* executable = nullptr;
  Device* const* devices = nullptr;
  std::size_t num_devices = 0;
};
struct ExecuteOptions : Args {
  void** send_callbacks = nullptr;
  void** recv_callbacks = nullptr;
  std::size_t num_send_ops = 0;
  std::size_t num_recv_ops = 0;
  int launch_id = 0;
  const std::int64_t* non_donatable_input_indices = nullptr;
  std::size_t num_non_donatable_input_indices = 0;
  void* context = nullptr;
  const char* call_location = nullptr;
  std::size_t num_tasks = 0;
  int* task_ids = nullptr;
  std::int64_t* incarnation_ids = nullptr;
};
// With room for what later minors append (table_size.h tells how much of it each has).
struct RoomyExecuteOptions : ExecuteOptions {
  unsigned char later[88] = {};
};
struct LoadedExecutableExecuteArgs : Args {
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* argument_lists = nullptr;
  std::size_t num_devices = 0;
  std::size_t num_args = 0;
  Buffer** const* output_lists = nullptr;
  Event** device_complete_events = nullptr;
  Device* execute_device = nullptr;
};
struct ExecutableDeserializeAndLoadArgs : Args {
  Client* client = nullptr;
  const char* serialized_executable = nullptr;
  std::size_t serialized_executable_size = 0;
  LoadedExecutable* loaded_executable = nullptr;
  const char* overridden_compile_options = nullptr;
  std::size_t overridden_compile_options_size = 0;
};

struct BufferDestroyArgs : Args {
  Buffer* buffer = nullptr;
};
struct BufferGetMemoryLayoutArgs : Args {
  Buffer* buffer = nullptr;
  MemoryLayout layout;
};
struct BufferOnDeviceSizeInBytesArgs : Args {
  Buffer* buffer = nullptr;
  std::size_t on_device_size_in_bytes = 0;
};
struct BufferDeleteArgs : Args {
  Buffer* buffer = nullptr;
};
struct BufferIsDeletedArgs : Args {
  Buffer* buffer = nullptr;
  bool is_deleted = false;
};
struct BufferCopyToDeviceArgs : Args {
  Buffer* buffer = nullptr;
  Device* dst_device = nullptr;
  Buffer* dst_buffer = nullptr;
};
struct BufferCopyToMemoryArgs : Args {
  Buffer* buffer = nullptr;
  Memory* dst_memory = nullptr;
  Buffer* dst_buffer = nullptr;
};
struct BufferToHostBufferArgs : Args {
  Buffer* src = nullptr;
  MemoryLayout* host_layout = nullptr;
  void* dst = nullptr;
  std::size_t dst_size = 0;
  Event* event = nullptr;
};
struct BufferIsOnCpuArgs : Args {
  Buffer* buffer = nullptr;
  bool is_on_cpu = false;
};
struct BufferReadyEventArgs : Args {
  Buffer* buffer = nullptr;
  Event* event = nullptr;
};
struct BufferIncreaseExternalReferenceCountArgs : Args {
  Buffer* buffer = nullptr;
};
struct BufferDecreaseExternalReferenceCountArgs : Args {
  Buffer* buffer = nullptr;
};
struct BufferOpaqueDeviceMemoryDataPointerArgs : Args {
  Buffer* buffer = nullptr;
  void* device_memory_ptr = nullptr;
};

// The slot that takes a structure, and the size that it states: up to the last field, without
// padding.
template <class A>
struct Call;

// A structure that is no call's, but states its size too.
template <class A>
inline constexpr std::size_t kStructSize = Call<A>::kSize;

#define MILLRACE_PJRT_CALL(name, slot, size)     \
  template <>                                    \
  struct Call<name##Args> {                      \
    static constexpr Slot kSlot = Slot::k##slot; \
    static constexpr std::size_t kSize = size;   \
  };                                             \
  static_assert(sizeof(name##Args) - kStructSize<name##Args> < alignof(name##Args), #name)

MILLRACE_PJRT_CALL(ErrorDestroy, Error_Destroy, 24);
MILLRACE_PJRT_CALL(ErrorMessage, Error_Message, 40);
MILLRACE_PJRT_CALL(ErrorGetCode, Error_GetCode, 28);
MILLRACE_PJRT_CALL(PluginInitialize, Plugin_Initialize, 16);
MILLRACE_PJRT_CALL(PluginAttributes, Plugin_Attributes, 32);
MILLRACE_PJRT_CALL(EventDestroy, Event_Destroy, 24);
MILLRACE_PJRT_CALL(EventIsReady, Event_IsReady, 25);
MILLRACE_PJRT_CALL(EventError, Event_Error, 24);
MILLRACE_PJRT_CALL(EventAwait, Event_Await, 24);
MILLRACE_PJRT_CALL(EventOnReady, Event_OnReady, 40);
MILLRACE_PJRT_CALL(ClientCreate, Client_Create, 88);
MILLRACE_PJRT_CALL(ClientDestroy, Client_Destroy, 24);
MILLRACE_PJRT_CALL(ClientPlatformName, Client_PlatformName, 40);
MILLRACE_PJRT_CALL(ClientPlatformVersion, Client_PlatformVersion, 40);
MILLRACE_PJRT_CALL(ClientAddressableDevices, Client_AddressableDevices, 40);
MILLRACE_PJRT_CALL(ClientCompile, Client_Compile, 56);
MILLRACE_PJRT_CALL(ClientBufferFromHostBuffer, Client_BufferFromHostBuffer, 120);
MILLRACE_PJRT_CALL(ClientDmaMap, Client_DmaMap, 40);
MILLRACE_PJRT_CALL(ClientDmaUnmap, Client_DmaUnmap, 32);
MILLRACE_PJRT_CALL(ClientTopologyDescription, Client_TopologyDescription, 32);
MILLRACE_PJRT_CALL(TopologyDescriptionAttributes, TopologyDescription_Attributes, 40);
MILLRACE_PJRT_CALL(DeviceGetAttributes, Device_GetAttributes, 56);
MILLRACE_PJRT_CALL(DeviceGetDescription, Device_GetDescription, 32);
MILLRACE_PJRT_CALL(DeviceDescriptionId, DeviceDescription_Id, 28);
MILLRACE_PJRT_CALL(DeviceDescriptionProcessIndex, DeviceDescription_ProcessIndex, 28);
MILLRACE_PJRT_CALL(DeviceDescriptionAttributes, DeviceDescription_Attributes, 40);
MILLRACE_PJRT_CALL(DeviceDescriptionKind, DeviceDescription_Kind, 40);
MILLRACE_PJRT_CALL(DeviceAddressableMemories, Device_AddressableMemories, 40);
MILLRACE_PJRT_CALL(DeviceDefaultMemory, Device_DefaultMemory, 32);
MILLRACE_PJRT_CALL(DeviceMemoryStats, Device_MemoryStats, 185);
MILLRACE_PJRT_CALL(MemoryId, Memory_Id, 28);
MILLRACE_PJRT_CALL(MemoryKind, Memory_Kind, 40);
MILLRACE_PJRT_CALL(ExecutableDestroy, Executable_Destroy, 24);
MILLRACE_PJRT_CALL(ExecutableNumReplicas, Executable_NumReplicas, 32);
MILLRACE_PJRT_CALL(ExecutableNumPartitions, Executable_NumPartitions, 32);
MILLRACE_PJRT_CALL(ExecutableNumOutputs, Executable_NumOutputs, 32);
MILLRACE_PJRT_CALL(ExecutableOutputElementTypes, Executable_OutputElementTypes, 40);
MILLRACE_PJRT_CALL(ExecutableOutputDimensions, Executable_OutputDimensions, 48);
MILLRACE_PJRT_CALL(ExecutableParameterMemoryKinds, Executable_ParameterMemoryKinds, 48);
MILLRACE_PJRT_CALL(ExecutableOptimizedProgram, Executable_OptimizedProgram, 32);
MILLRACE_PJRT_CALL(ExecutableSerialize, Executable_Serialize, 56);
MILLRACE_PJRT_CALL(ExecutableGetCompiledMemoryStats, Executable_GetCompiledMemoryStats, 112);
MILLRACE_PJRT_CALL(ExecutableGetCostAnalysis, Executable_GetCostAnalysis, 40);
MILLRACE_PJRT_CALL(LoadedExecutableDestroy, LoadedExecutable_Destroy, 24);
MILLRACE_PJRT_CALL(LoadedExecutableGetExecutable, LoadedExecutable_GetExecutable, 32);
MILLRACE_PJRT_CALL(LoadedExecutableAddressableDevices, LoadedExecutable_AddressableDevices, 40);
MILLRACE_PJRT_CALL(LoadedExecutableExecute, LoadedExecutable_Execute, 80);
MILLRACE_PJRT_CALL(ExecutableDeserializeAndLoad, Executable_DeserializeAndLoad, 64);
MILLRACE_PJRT_CALL(BufferDestroy, Buffer_Destroy, 24);
MILLRACE_PJRT_CALL(BufferGetMemoryLayout, Buffer_GetMemoryLayout, 104);
MILLRACE_PJRT_CALL(BufferOnDeviceSizeInBytes, Buffer_OnDeviceSizeInBytes, 32);
MILLRACE_PJRT_CALL(BufferDelete, Buffer_Delete, 24);
MILLRACE_PJRT_CALL(BufferIsDeleted, Buffer_IsDeleted, 25);
MILLRACE_PJRT_CALL(BufferCopyToDevice, Buffer_CopyToDevice, 40);
MILLRACE_PJRT_CALL(BufferCopyToMemory, Buffer_CopyToMemory, 40);
MILLRACE_PJRT_CALL(BufferToHostBuffer, Buffer_ToHostBuffer, 56);
MILLRACE_PJRT_CALL(BufferIsOnCpu, Buffer_IsOnCpu, 25);
MILLRACE_PJRT_CALL(BufferReadyEvent, Buffer_ReadyEvent, 32);
MILLRACE_PJRT_CALL(BufferIncreaseExternalReferenceCount, Buffer_IncreaseExternalReferenceCount, 24);
MILLRACE_PJRT_CALL(BufferDecreaseExternalReferenceCount, Buffer_DecreaseExternalReferenceCount, 24);
MILLRACE_PJRT_CALL(BufferOpaqueDeviceMemoryDataPointer, Buffer_OpaqueDeviceMemoryDataPointer, 32);
#undef MILLRACE_PJRT_CALL

template <>
inline constexpr std::size_t kStructSize<NamedValue> = 56;
template <>
inline constexpr std::size_t kStructSize<Program> = 48;
template <>
inline constexpr std::size_t kStructSize<TiledLayout> = 56;
template <>
inline constexpr std::size_t kStructSize<MemoryLayout> = 76;
template <>
inline constexpr std::size_t kStructSize<ExecuteOptions> = 112;
static_assert(sizeof(NamedValue) == 56 && sizeof(Program) == 48 && sizeof(TiledLayout) == 56);
template <>
inline constexpr std::size_t kStructSize<RoomyExecuteOptions> = 200;
static_assert(sizeof(MemoryLayout) == 80 && sizeof(ExecuteOptions) == 112 &&
              sizeof(RoomyExecuteOptions) == 200);
static_assert(sizeof(Version) == 24 && offsetof(Api, functions) == 40);

}  // namespace millrace::devices::pjrt::abi
