// The rest of the PJRT C API: structures of functions that the client does not call, as
// devices/pjrt/abi.h has those that it does. Facts of the ABI, as of minor 115; sizes are checked
// against the layouts. Read next: table.h, which makes the calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/devices/pjrt/abi.h"

// One namespace with all of them; what the client comes to call moves there.
namespace millrace::conform::abi {
using namespace devices::pjrt::abi;  // NOLINT(google-build-using-namespace)

using Topology = TopologyDescription;
struct TransferManager;
struct SerializedTopology;
struct SerializedBytes;

struct EventCreateArgs : Args {
  Event* event = nullptr;
};
struct EventSetArgs : Args {
  Event* event = nullptr;
  int error_code = 0;
  const char* error_message = nullptr;
  std::size_t error_message_size = 0;
};

struct ClientDevicesArgs : Args {
  Client* client = nullptr;
  Device* const* devices = nullptr;
  std::size_t num_devices = 0;
};
struct ClientProcessIndexArgs : Args {
  Client* client = nullptr;
  int process_index = 0;
};
struct ClientLookupDeviceArgs : Args {
  Client* client = nullptr;
  int id = 0;
  Device* device = nullptr;
};
struct ClientLookupAddressableDeviceArgs : Args {
  Client* client = nullptr;
  int local_hardware_id = 0;
  Device* device = nullptr;
};
struct ClientAddressableMemoriesArgs : Args {
  Client* client = nullptr;
  Memory* const* memories = nullptr;
  std::size_t num_memories = 0;
};
struct ClientDefaultDeviceAssignmentArgs : Args {
  Client* client = nullptr;
  int num_replicas = 0;
  int num_partitions = 0;
  std::size_t size = 0;  // of the caller's array
  int* assignment = nullptr;
};
struct ClientCreateUninitializedBufferArgs : Args {
  Client* client = nullptr;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  BufferType type = BufferType::kInvalid;
  MemoryLayout* layout = nullptr;
  Device* device = nullptr;
  Memory* memory = nullptr;
  Buffer* buffer = nullptr;
};
struct ClientCreateErrorBufferArgs : Args {
  Client* client = nullptr;
  int error_code = 0;
  const char* error_message = nullptr;
  std::size_t error_message_size = 0;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  BufferType type = BufferType::kInvalid;
  MemoryLayout* layout = nullptr;
  Memory* memory = nullptr;
  Buffer* buffer = nullptr;
  void* payload = nullptr;
  std::size_t num_payload = 0;
};
struct ClientCreateViewOfDeviceBufferArgs : Args {
  Client* client = nullptr;
  void* device_buffer_ptr = nullptr;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  BufferType type = BufferType::kInvalid;
  MemoryLayout* layout = nullptr;
  Device* device = nullptr;
  void (*on_delete_callback)(void* device_buffer_ptr, void* user_arg) = nullptr;
  void* on_delete_callback_arg = nullptr;
  std::intptr_t stream = 0;
  Buffer* buffer = nullptr;
  Memory* memory = nullptr;
};

struct DeviceDescriptionDebugStringArgs : Args {
  DeviceDescription* description = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
};
struct DeviceDescriptionToStringArgs : Args {
  DeviceDescription* description = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
};
struct DeviceIsAddressableArgs : Args {
  Device* device = nullptr;
  bool is_addressable = false;
};
struct DeviceLocalHardwareIdArgs : Args {
  Device* device = nullptr;
  int local_hardware_id = 0;
};
struct DeviceClearMemoryStatsArgs : Args {
  Device* device = nullptr;
};
struct MemoryDebugStringArgs : Args {
  Memory* memory = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
};
struct MemoryToStringArgs : Args {
  Memory* memory = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
};
struct MemoryAddressableByDevicesArgs : Args {
  Memory* memory = nullptr;
  Device* const* devices = nullptr;
  std::size_t num_devices = 0;
};
struct MemoryKindIdArgs : Args {
  Memory* memory = nullptr;
  int kind_id = 0;
};

struct ExecutableNameArgs : Args {
  Executable* executable = nullptr;
  const char* name = nullptr;
  std::size_t name_size = 0;
};
struct ExecutableSizeOfGeneratedCodeInBytesArgs : Args {
  Executable* executable = nullptr;
  std::int64_t size_in_bytes = 0;
};
struct ExecutableOutputMemoryKindsArgs : Args {
  Executable* executable = nullptr;
  std::size_t num_outputs = 0;
  const char* const* kinds = nullptr;
  const std::size_t* kind_sizes = nullptr;
};
struct ExecutableFingerprintArgs : Args {
  Executable* executable = nullptr;
  const char* fingerprint = nullptr;
  std::size_t fingerprint_size = 0;
};
struct ExecutableGetCompileOptionsArgs : Args {
  Executable* executable = nullptr;
  const char* bytes = nullptr;
  std::size_t bytes_size = 0;
  SerializedBytes* holder = nullptr;
  void (*deleter)(SerializedBytes* holder) = nullptr;
};
struct LoadedExecutableDeleteArgs : Args {
  LoadedExecutable* executable = nullptr;
};
struct LoadedExecutableIsDeletedArgs : Args {
  LoadedExecutable* executable = nullptr;
  bool is_deleted = false;
};
struct LoadedExecutableGetDeviceAssignmentArgs : Args {
  LoadedExecutable* executable = nullptr;
  const char* bytes = nullptr;
  std::size_t bytes_size = 0;
  SerializedBytes* holder = nullptr;
  void (*deleter)(SerializedBytes* holder) = nullptr;
};
struct LogicalDeviceIds {
  int replica;
  int partition;
};
struct LoadedExecutableAddressableDeviceLogicalIdsArgs : Args {
  LoadedExecutable* executable = nullptr;
  LogicalDeviceIds* ids = nullptr;
  std::size_t num_ids = 0;
};

struct BufferElementTypeArgs : Args {
  Buffer* buffer = nullptr;
  BufferType type = BufferType::kInvalid;
};
struct BufferDimensionsArgs : Args {
  Buffer* buffer = nullptr;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
};
struct BufferUnpaddedDimensionsArgs : Args {
  Buffer* buffer = nullptr;
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
};
struct BufferDeviceArgs : Args {
  Buffer* buffer = nullptr;
  Device* device = nullptr;
};
struct BufferMemoryArgs : Args {
  Buffer* buffer = nullptr;
  Memory* memory = nullptr;
};
struct BufferUnsafePointerArgs : Args {
  Buffer* buffer = nullptr;
  std::uintptr_t pointer = 0;
};
struct BufferCopyRawToHostArgs : Args {
  Buffer* buffer = nullptr;
  void* dst = nullptr;
  std::int64_t offset = 0;
  std::int64_t transfer_size = 0;
  Event* event = nullptr;
};

struct TopologyDestroyArgs : Args {
  Topology* topology = nullptr;
};
struct TopologyCreateArgs : Args {
  const char* name = nullptr;
  std::size_t name_size = 0;
  const NamedValue* create_options = nullptr;
  std::size_t num_options = 0;
  Topology* topology = nullptr;
};
struct TopologyPlatformNameArgs : Args {
  Topology* topology = nullptr;
  const char* name = nullptr;
  std::size_t name_size = 0;
};
struct TopologyPlatformVersionArgs : Args {
  Topology* topology = nullptr;
  const char* version = nullptr;
  std::size_t version_size = 0;
};
struct TopologyGetDeviceDescriptionsArgs : Args {
  Topology* topology = nullptr;
  DeviceDescription* const* descriptions = nullptr;
  std::size_t num_descriptions = 0;
};
struct TopologySerializeArgs : Args {
  Topology* topology = nullptr;
  const char* bytes = nullptr;
  std::size_t bytes_size = 0;
  SerializedTopology* holder = nullptr;
  void (*deleter)(SerializedTopology* holder) = nullptr;
};
struct TopologyDeserializeArgs : Args {
  const char* bytes = nullptr;
  std::size_t bytes_size = 0;
  Topology* topology = nullptr;
};
struct TopologyFingerprintArgs : Args {
  Topology* topology = nullptr;
  std::uint64_t fingerprint = 0;
};
struct CompileArgs : Args {
  const Topology* topology = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;
  std::size_t compile_options_size = 0;
  Client* client = nullptr;  // may be null: no device is needed
  Executable* executable = nullptr;
};

struct ExecuteContextCreateArgs : Args {
  void* context = nullptr;
};
struct ExecuteContextDestroyArgs : Args {
  void* context = nullptr;
};

struct ShapeSpec : Args {
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  BufferType type = BufferType::kInvalid;
};
struct ClientCreateBuffersForAsyncHostToDeviceArgs : Args {
  Client* client = nullptr;
  ShapeSpec* shapes = nullptr;
  std::size_t num_shapes = 0;
  MemoryLayout** layouts = nullptr;
  std::size_t num_layouts = 0;
  Memory* memory = nullptr;
  TransferManager* manager = nullptr;
};
struct TransferManagerDestroyArgs : Args {
  TransferManager* manager = nullptr;
};
struct TransferManagerTransferDataArgs : Args {
  TransferManager* manager = nullptr;
  int buffer_index = 0;
  const void* data = nullptr;
  std::int64_t offset = 0;
  std::int64_t transfer_size = 0;
  bool is_last_transfer = false;
  Event* done = nullptr;
};
struct TransferManagerRetrieveBufferArgs : Args {
  TransferManager* manager = nullptr;
  int buffer_index = 0;
  Buffer* buffer = nullptr;
};
struct TransferManagerDeviceArgs : Args {
  TransferManager* manager = nullptr;
  Device* device = nullptr;
};
struct TransferManagerBufferCountArgs : Args {
  TransferManager* manager = nullptr;
  std::size_t buffer_count = 0;
};
struct TransferManagerBufferSizeArgs : Args {
  TransferManager* manager = nullptr;
  int buffer_index = 0;
  std::size_t buffer_size = 0;
};
struct TransferManagerSetBufferErrorArgs : Args {
  TransferManager* manager = nullptr;
  int buffer_index = 0;
  int error_code = 0;
  const char* error_message = nullptr;
  std::size_t error_message_size = 0;
};

}  // namespace millrace::conform::abi

namespace millrace::devices::pjrt::abi {

#define MILLRACE_CONFORM_CALL(name, slot, size)                                            \
  template <>                                                                              \
  struct Call<conform::abi::name##Args> {                                                  \
    static constexpr Slot kSlot = Slot::k##slot;                                           \
    static constexpr std::size_t kSize = size;                                             \
  };                                                                                       \
  static_assert(sizeof(conform::abi::name##Args) - kStructSize<conform::abi::name##Args> < \
                    alignof(conform::abi::name##Args),                                     \
                #name)

MILLRACE_CONFORM_CALL(EventCreate, Event_Create, 24);
MILLRACE_CONFORM_CALL(EventSet, Event_Set, 48);
MILLRACE_CONFORM_CALL(ClientDevices, Client_Devices, 40);
MILLRACE_CONFORM_CALL(ClientProcessIndex, Client_ProcessIndex, 28);
MILLRACE_CONFORM_CALL(ClientLookupDevice, Client_LookupDevice, 40);
MILLRACE_CONFORM_CALL(ClientLookupAddressableDevice, Client_LookupAddressableDevice, 40);
MILLRACE_CONFORM_CALL(ClientAddressableMemories, Client_AddressableMemories, 40);
MILLRACE_CONFORM_CALL(ClientDefaultDeviceAssignment, Client_DefaultDeviceAssignment, 48);
MILLRACE_CONFORM_CALL(ClientCreateUninitializedBuffer, Client_CreateUninitializedBuffer, 80);
MILLRACE_CONFORM_CALL(ClientCreateErrorBuffer, Client_CreateErrorBuffer, 112);
MILLRACE_CONFORM_CALL(ClientCreateViewOfDeviceBuffer, Client_CreateViewOfDeviceBuffer, 112);
MILLRACE_CONFORM_CALL(DeviceDescriptionDebugString, DeviceDescription_DebugString, 40);
MILLRACE_CONFORM_CALL(DeviceDescriptionToString, DeviceDescription_ToString, 40);
MILLRACE_CONFORM_CALL(DeviceIsAddressable, Device_IsAddressable, 25);
MILLRACE_CONFORM_CALL(DeviceLocalHardwareId, Device_LocalHardwareId, 28);
MILLRACE_CONFORM_CALL(DeviceClearMemoryStats, Device_ClearMemoryStats, 24);
MILLRACE_CONFORM_CALL(MemoryDebugString, Memory_DebugString, 40);
MILLRACE_CONFORM_CALL(MemoryToString, Memory_ToString, 40);
MILLRACE_CONFORM_CALL(MemoryAddressableByDevices, Memory_AddressableByDevices, 40);
MILLRACE_CONFORM_CALL(MemoryKindId, Memory_Kind_Id, 28);
MILLRACE_CONFORM_CALL(ExecutableName, Executable_Name, 40);
MILLRACE_CONFORM_CALL(ExecutableSizeOfGeneratedCodeInBytes, Executable_SizeOfGeneratedCodeInBytes,
                      32);
MILLRACE_CONFORM_CALL(ExecutableOutputMemoryKinds, Executable_OutputMemoryKinds, 48);
MILLRACE_CONFORM_CALL(ExecutableFingerprint, Executable_Fingerprint, 40);
MILLRACE_CONFORM_CALL(ExecutableGetCompileOptions, Executable_GetCompileOptions, 56);
MILLRACE_CONFORM_CALL(LoadedExecutableDelete, LoadedExecutable_Delete, 24);
MILLRACE_CONFORM_CALL(LoadedExecutableIsDeleted, LoadedExecutable_IsDeleted, 25);
MILLRACE_CONFORM_CALL(LoadedExecutableGetDeviceAssignment, LoadedExecutable_GetDeviceAssignment,
                      56);
MILLRACE_CONFORM_CALL(LoadedExecutableAddressableDeviceLogicalIds,
                      LoadedExecutable_AddressableDeviceLogicalIds, 40);
MILLRACE_CONFORM_CALL(BufferElementType, Buffer_ElementType, 28);
MILLRACE_CONFORM_CALL(BufferDimensions, Buffer_Dimensions, 40);
MILLRACE_CONFORM_CALL(BufferUnpaddedDimensions, Buffer_UnpaddedDimensions, 40);
MILLRACE_CONFORM_CALL(BufferDevice, Buffer_Device, 32);
MILLRACE_CONFORM_CALL(BufferMemory, Buffer_Memory, 32);
MILLRACE_CONFORM_CALL(BufferUnsafePointer, Buffer_UnsafePointer, 32);
MILLRACE_CONFORM_CALL(BufferCopyRawToHost, Buffer_CopyRawToHost, 56);
MILLRACE_CONFORM_CALL(TopologyDestroy, TopologyDescription_Destroy, 24);
MILLRACE_CONFORM_CALL(TopologyCreate, TopologyDescription_Create, 56);
MILLRACE_CONFORM_CALL(TopologyPlatformName, TopologyDescription_PlatformName, 40);
MILLRACE_CONFORM_CALL(TopologyPlatformVersion, TopologyDescription_PlatformVersion, 40);
MILLRACE_CONFORM_CALL(TopologyGetDeviceDescriptions, TopologyDescription_GetDeviceDescriptions, 40);
MILLRACE_CONFORM_CALL(TopologySerialize, TopologyDescription_Serialize, 56);
MILLRACE_CONFORM_CALL(TopologyDeserialize, TopologyDescription_Deserialize, 40);
MILLRACE_CONFORM_CALL(TopologyFingerprint, TopologyDescription_Fingerprint, 32);
MILLRACE_CONFORM_CALL(Compile, Compile, 64);
MILLRACE_CONFORM_CALL(ExecuteContextCreate, ExecuteContext_Create, 24);
MILLRACE_CONFORM_CALL(ExecuteContextDestroy, ExecuteContext_Destroy, 24);
MILLRACE_CONFORM_CALL(ClientCreateBuffersForAsyncHostToDevice,
                      Client_CreateBuffersForAsyncHostToDevice, 72);
MILLRACE_CONFORM_CALL(TransferManagerDestroy, AsyncHostToDeviceTransferManager_Destroy, 24);
MILLRACE_CONFORM_CALL(TransferManagerTransferData, AsyncHostToDeviceTransferManager_TransferData,
                      72);
MILLRACE_CONFORM_CALL(TransferManagerRetrieveBuffer,
                      AsyncHostToDeviceTransferManager_RetrieveBuffer, 40);
MILLRACE_CONFORM_CALL(TransferManagerDevice, AsyncHostToDeviceTransferManager_Device, 32);
MILLRACE_CONFORM_CALL(TransferManagerBufferCount, AsyncHostToDeviceTransferManager_BufferCount, 32);
MILLRACE_CONFORM_CALL(TransferManagerBufferSize, AsyncHostToDeviceTransferManager_BufferSize, 40);
MILLRACE_CONFORM_CALL(TransferManagerSetBufferError,
                      AsyncHostToDeviceTransferManager_SetBufferError, 48);
#undef MILLRACE_CONFORM_CALL

template <>
inline constexpr std::size_t kStructSize<conform::abi::ShapeSpec> = 36;
static_assert(sizeof(conform::abi::ShapeSpec) == 40);

}  // namespace millrace::devices::pjrt::abi
