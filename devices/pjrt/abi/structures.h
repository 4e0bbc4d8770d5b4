// The values and structures of the PJRT C API, of minor 115: facts of the ABI, shared by every
// plugin; a plugin's own headers are never needed. The sizes are those that real plugins demand
// (they refuse shorter structures), and each is checked against the layout. Read next: calls.inc,
// from which the structures of the functions come; api.h.
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
struct TransferManager;
struct SerializedTopology;
struct SerializedBytes;
struct AliasEnd;  // of an array that will take another's bytes
struct AsyncTrackingEvent;
using Topology = TopologyDescription;

inline constexpr int kMajor = 0;
inline constexpr int kMinor = 115;       // that this client knows
inline constexpr int kOldestMinor = 68;  // what came before had no stable functions for memories

enum class Slot : std::size_t {
#define MILLRACE_PJRT_CALL(slot, ...) k##slot,
#define MILLRACE_PJRT_SLOT(slot) k##slot,
#include "millrace/devices/pjrt/abi/calls.inc"
  kCount
};
inline constexpr auto kSlots = static_cast<std::size_t>(Slot::kCount);
// "PJRT_Client_Create".
constexpr std::string_view to_string(Slot slot) {
  constexpr std::string_view kNames[] = {
#define MILLRACE_PJRT_CALL(slot, ...) "PJRT_" #slot,
#define MILLRACE_PJRT_SLOT(slot) "PJRT_" #slot,
#include "millrace/devices/pjrt/abi/calls.inc"
  };
  return kNames[static_cast<std::size_t>(slot)];
}

// Every structure of a call begins with these.
struct Args {
  std::size_t struct_size = 0;
  void* extension_start = nullptr;
};

// MILLRACE_PJRT_FIELDS(int a, void* b) is `int a = {}; void* b = {};`, for up to 20 fields: each
// scan of a macro's arguments takes one.
#define MILLRACE_PJRT_SCAN_4(...) \
  MILLRACE_PJRT_SCAN_1(           \
      MILLRACE_PJRT_SCAN_1(MILLRACE_PJRT_SCAN_1(MILLRACE_PJRT_SCAN_1(__VA_ARGS__))))
#define MILLRACE_PJRT_SCAN_16(...) \
  MILLRACE_PJRT_SCAN_4(            \
      MILLRACE_PJRT_SCAN_4(MILLRACE_PJRT_SCAN_4(MILLRACE_PJRT_SCAN_4(__VA_ARGS__))))
#define MILLRACE_PJRT_SCAN_1(...) __VA_ARGS__
#define MILLRACE_PJRT_PARENTHESES ()
#define MILLRACE_PJRT_FIELD(field, ...) \
  field = {};                           \
  __VA_OPT__(MILLRACE_PJRT_NEXT MILLRACE_PJRT_PARENTHESES(__VA_ARGS__))
#define MILLRACE_PJRT_NEXT() MILLRACE_PJRT_FIELD
#define MILLRACE_PJRT_FIELDS(...) \
  __VA_OPT__(MILLRACE_PJRT_SCAN_16(MILLRACE_PJRT_FIELD(__VA_ARGS__)))

// A structure of the ABI that begins as those of calls do.
#define MILLRACE_PJRT_STRUCT(name, ...) \
  struct name : Args {                  \
    MILLRACE_PJRT_FIELDS(__VA_ARGS__)   \
  };
#define MILLRACE_PJRT_ARGS(name, ...) MILLRACE_PJRT_STRUCT(name##Args, __VA_ARGS__)

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
#define MILLRACE_PJRT_BUFFER_TYPE(name, ...) name,
#include "millrace/devices/pjrt/abi/buffer_types.inc"
};

enum class LayoutType : int { kTiled = 0, kStrides = 1 };
// clang-format off
MILLRACE_PJRT_STRUCT(TiledLayout, const std::int64_t* minor_to_major,
    std::size_t minor_to_major_size, const std::int64_t* tile_dims,
    const std::size_t* tile_dim_sizes, std::size_t num_tiles)
// The tiled member stands for both: it is the larger.
MILLRACE_PJRT_STRUCT(MemoryLayout, TiledLayout tiled, LayoutType type)
MILLRACE_PJRT_STRUCT(Program, char* code, std::size_t code_size, const char* format,
    std::size_t format_size)
MILLRACE_PJRT_STRUCT(ExecuteOptions, void** send_callbacks, void** recv_callbacks,
    std::size_t num_send_ops, std::size_t num_recv_ops, int launch_id,
    const std::int64_t* non_donatable_input_indices, std::size_t num_non_donatable_input_indices,
    void* context, const char* call_location, std::size_t num_tasks, int* task_ids,
    std::int64_t* incarnation_ids)
MILLRACE_PJRT_STRUCT(ShapeSpec, const std::int64_t* dims, std::size_t num_dims, BufferType type)

// Makes an error of the plugin.
using CallbackError = Error* (*)(int code, const char* message, std::size_t message_size);
// What the plugin calls; user_arg is ClientCreateArgs'. deleter: of value, which the plugin copies.
MILLRACE_PJRT_ARGS(KeyValueGet, const char* key, std::size_t key_size, int timeout_in_ms,
    CallbackError* callback_error, void* user_arg, char* value, std::size_t value_size,
    void (*deleter)(char* value))
MILLRACE_PJRT_ARGS(KeyValueTryGet, const char* key, std::size_t key_size,
    CallbackError* callback_error, void* user_arg, char* value, std::size_t value_size,
    void (*deleter)(char* value))
MILLRACE_PJRT_ARGS(KeyValuePut, const char* key, std::size_t key_size, const char* value,
    std::size_t value_size, CallbackError* callback_error, void* user_arg)
// clang-format on
static_assert(sizeof(KeyValueGetArgs) == 80 && sizeof(KeyValueTryGetArgs) == 72 &&
              sizeof(KeyValuePutArgs) == 64);

// What a caller says to a function that the plugin gave it, with that function's data. code: 0
// where it went well. The text counts where it did not.
struct DestinationReady {
  std::size_t struct_size = 48;
  void* data = nullptr;
  int error_code = 0;
  const char* error_message = nullptr;
  std::size_t error_message_size = 0;
  void* destination = nullptr;
};
struct DependencyReady {
  std::size_t struct_size = 40;
  void* data = nullptr;
  int error_code = 0;
  const char* error_message = nullptr;
  std::size_t error_message_size = 0;
};
static_assert(sizeof(DestinationReady) == 48 && sizeof(DependencyReady) == 40);

struct MaybeInt64 {
  std::int64_t value;
  bool is_set;
};
// With room for what later minors append (api.h says how much of it each has).
struct RoomyExecuteOptions : ExecuteOptions {
  unsigned char later[88] = {};
};
struct LogicalDeviceIds {
  int replica;
  int partition;
};

// The slot that takes a structure, and the size that the structure states.
template <class A>
struct Call;

#define MILLRACE_PJRT_CALL(slot, name, size, ...) \
  MILLRACE_PJRT_ARGS(name, __VA_ARGS__)           \
  template <>                                     \
  struct Call<name##Args> {                       \
    static constexpr Slot kSlot = Slot::k##slot;  \
    static constexpr std::size_t kSize = size;    \
  };                                              \
  static_assert(sizeof(name##Args) - size < alignof(name##Args), #name);
#include "millrace/devices/pjrt/abi/calls.inc"

// The size that a structure states which is no call's: up to its last field, without padding.
template <class A>
inline constexpr std::size_t kStructSize = sizeof(A);
template <>
inline constexpr std::size_t kStructSize<MemoryLayout> = 76;
template <>
inline constexpr std::size_t kStructSize<ShapeSpec> = 36;
static_assert(sizeof(NamedValue) == 56 && sizeof(Program) == 48 && sizeof(TiledLayout) == 56 &&
              sizeof(MemoryLayout) == 80 && sizeof(ExecuteOptions) == 112 &&
              sizeof(RoomyExecuteOptions) == 200 && sizeof(ShapeSpec) == 40);

}  // namespace millrace::devices::pjrt::abi
