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
struct Program : Args {
  char* code = nullptr;
  std::size_t code_size = 0;
  const char* format = nullptr;
  std::size_t format_size = 0;
};
struct MaybeInt64 {
  std::int64_t value;
  bool is_set;
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
struct LogicalDeviceIds {
  int replica;
  int partition;
};
struct ShapeSpec : Args {
  const std::int64_t* dims = nullptr;
  std::size_t num_dims = 0;
  BufferType type = BufferType::kInvalid;
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

// The slot that takes a structure, and the size that the structure states.
template <class A>
struct Call;
// Also of a structure that is no call's.
template <class A>
inline constexpr std::size_t kStructSize = Call<A>::kSize;

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

#define MILLRACE_PJRT_CALL(slot, name, size, ...) \
  struct name##Args : Args {                      \
    MILLRACE_PJRT_FIELDS(__VA_ARGS__)             \
  };                                              \
  template <>                                     \
  struct Call<name##Args> {                       \
    static constexpr Slot kSlot = Slot::k##slot;  \
    static constexpr std::size_t kSize = size;    \
  };                                              \
  static_assert(sizeof(name##Args) - size < alignof(name##Args), #name);
#include "millrace/devices/pjrt/abi/calls.inc"

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
template <>
inline constexpr std::size_t kStructSize<RoomyExecuteOptions> = 200;
template <>
inline constexpr std::size_t kStructSize<ShapeSpec> = 36;
static_assert(sizeof(NamedValue) == 56 && sizeof(Program) == 48 && sizeof(TiledLayout) == 56 &&
              sizeof(MemoryLayout) == 80 && sizeof(ExecuteOptions) == 112 &&
              sizeof(RoomyExecuteOptions) == 200 && sizeof(ShapeSpec) == 40);

}  // namespace millrace::devices::pjrt::abi
