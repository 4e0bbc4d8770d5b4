// Memories: what callers ask of them, and what callers keep with them. Read next: client.h.
#include <utility>

#include "millrace/tools/pjrt_plugin/client.h"
#include "millrace/tools/pjrt_plugin/error.h"

namespace millrace::devices::pjrt::abi {
namespace {

void* get_user_data(Memory* memory, const void* key) { return memory->user_data(key); }
void set_user_data(Memory* memory, const void* key, void* data, void (*destructor)(void*)) {
  memory->set_user_data(key, data, destructor);
}

constexpr MemoryTable kTable{.struct_size = sizeof(MemoryTable),
                             .extension_start = nullptr,
                             .instance_size = sizeof(Memory),
                             .get_user_data = &get_user_data,
                             .set_user_data = &set_user_data};

}  // namespace

Memory::Memory(Device* of, int device_number, int kind_number)
    : table(&kTable),
      device(of),
      id(device_number * static_cast<int>(std::size(pjrt_plugin::kMemoryKinds)) + kind_number),
      kind_id(kind_number),
      debug_string("cpu:" + std::to_string(device_number) + " " +
                   std::string(pjrt_plugin::kMemoryKinds[kind_number])),
      text("CpuMemory(id=" + std::to_string(id) +
           ", kind=" + std::string(pjrt_plugin::kMemoryKinds[kind_number]) + ")") {}

Memory::~Memory() {
  for (const auto& [key, kept] : user_data_) kept.end();
}

bool Memory::is_live() const { return table == &kTable; }

void* Memory::user_data(const void* key) {
  MutexLock lock(mutex_);
  const auto found = user_data_.find(key);
  return found == user_data_.end() ? nullptr : found->second.data;
}

void Memory::set_user_data(const void* key, void* data, void (*destructor)(void*)) {
  UserData before;
  {
    MutexLock lock(mutex_);
    before = std::exchange(user_data_[key], UserData{data, destructor});
  }
  before.end();
}

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {

void add_memories(abi::Api& api) {
  add<&abi::MemoryIdArgs::id, "id">(api, [](abi::MemoryIdArgs& a) -> Status {
    MILLRACE_GIVEN(memory, memory);
    a.id = memory.id;
    return {};
  });
  add<&abi::MemoryKindArgs::kind_size, "kind_size">(api, [](abi::MemoryKindArgs& a) -> Status {
    MILLRACE_GIVEN(memory, memory);
    a.kind = kMemoryKinds[memory.kind_id].data();
    a.kind_size = kMemoryKinds[memory.kind_id].size();
    return {};
  });
  add<&abi::MemoryKindIdArgs::kind_id, "kind_id">(api, [](abi::MemoryKindIdArgs& a) -> Status {
    MILLRACE_GIVEN(memory, memory);
    a.kind_id = memory.kind_id;
    return {};
  });
  add<&abi::MemoryDebugStringArgs::text_size, "debug_string_size">(
      api, [](abi::MemoryDebugStringArgs& a) -> Status {
        MILLRACE_GIVEN(memory, memory);
        a.text = memory.debug_string.data();
        a.text_size = memory.debug_string.size();
        return {};
      });
  add<&abi::MemoryToStringArgs::text_size, "to_string_size">(
      api, [](abi::MemoryToStringArgs& a) -> Status {
        MILLRACE_GIVEN(memory, memory);
        a.text = memory.text.data();
        a.text_size = memory.text.size();
        return {};
      });
  add<&abi::MemoryAddressableByDevicesArgs::num_devices, "num_devices">(
      api, [](abi::MemoryAddressableByDevicesArgs& a) -> Status {
        MILLRACE_GIVEN(memory, memory);
        a.devices = &memory.device;
        a.num_devices = 1;
        return {};
      });
}

}  // namespace millrace::pjrt_plugin
