// A client as PJRT has it, with its devices and memories, over the embedded CPU devices. What they
// are does not change after creation, so questions about them take no lock and wait for nothing.
//  - PP-3 a client that is destroyed lives on while buffers, executables and launches of it do;
//    its devices and memories with it.
//  - PP-4 destroying a client waits for the launches and copies that it has begun, and for no
//    callback. Aliases that are open fail, since only a call with the client could fulfill them.
//    While a caller has yet to bring other bytes it waits for nothing: that caller may be the one
//    that destroys it. What waits for those bytes ends when they come or are given up (PP-3).
//  - PP-8 a child that the process has forked has none of its threads: what was made before is left
//    there as it is.
// Read next: buffer.h, executable.h.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/mutex.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/tools/pjrt_plugin/create_options.h"
#include "millrace/tools/pjrt_plugin/launch_limit.h"
#include "millrace/tools/pjrt_plugin/topology.h"

namespace millrace::pjrt_plugin {

class ClientBody;

// The kinds of each device's memories. All of them are the same host memory: an array is of the
// kind in which its caller wants to see it.
inline constexpr std::string_view kMemoryKinds[] = {"device", "pinned_host", "unpinned_host"};

}  // namespace millrace::pjrt_plugin

namespace millrace::devices::pjrt::abi {

// With the caller's own data, kept by keys of the caller's. Thread-safety: thread-safe.
struct Memory final {
  Memory(Device* of, int device_number, int kind_number);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();
  bool is_live() const;

  const MemoryTable* const table;  // first: facts of the ABI
  Device* const device;
  const int id, kind_id;
  const std::string debug_string, text;

  void* user_data(const void* key);
  void set_user_data(const void* key, void* data, void (*destructor)(void*));

 private:
  struct UserData {
    void* data = nullptr;
    void (*destructor)(void*) = nullptr;
    void end() const {
      if (destructor != nullptr) destructor(data);
    }
  };
  Mutex mutex_;
  std::map<const void*, UserData> user_data_ MILLRACE_GUARDED_BY(mutex_);
};

// Thread-safety: immutable, but for launches.
struct Device final : pjrt_plugin::Handle<Device> {
  Device(pjrt_plugin::ClientBody& client, DeviceDescription& of);
  pjrt_plugin::ClientBody& body;
  DeviceDescription& description;
  DeviceId id() const { return DeviceId{description.id}; }
  std::vector<std::unique_ptr<Memory>> memories;  // by kind
  std::vector<Memory*> memory_list;
  pjrt_plugin::LaunchLimit launches;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {

// What a client's handle and all that was made by it share. Thread-safety: thread-safe.
class ClientBody final : public RefCounted {
 public:
  explicit ClientBody(const CreateOptions& options);
  ~ClientBody() override;

  devices::cpu::CpuClient& cpu() const { return *parts_->cpu; }
  abi::TopologyDescription& topology() { return topology_; }
  const std::vector<abi::Device*>& devices() const { return device_list_; }
  const std::vector<abi::Memory*>& memories() const { return memory_list_; }
  // The calling thread runs programs of this client.
  bool on_own_thread() const { return parts_->threads->on_own_thread(); }
  // kInvalidArgument for a device, or a memory, of another client.
  Status check(const abi::Device& device) const;
  Status check(const abi::Memory& memory) const { return check(*memory.device); }
  // Until it completes, launches and copies may wait for what a caller has yet to bring.
  void note_late(const Future<void>& brought);
  // close() calls end, once, unless its owner has removed it before close() began.
  using End = std::function<void(const Error&)>;
  void add_end(const void* owner, End end);
  void remove_end(const void* owner);
  // Refuses new work, ends what only the client could, waits for what is under way (PP-4).
  void close();

 private:
  bool is_forked() const;
  void call_ends();

  struct Parts {
    std::unique_ptr<PoolExecutor> threads;
    std::unique_ptr<devices::cpu::CpuClient> cpu;
  };

  const int process_;  // that has the threads
  std::unique_ptr<Parts> parts_;
  // What callers have yet to bring. Shared with the ends of these, which may outlive this.
  const std::shared_ptr<std::atomic<int>> late_ = std::make_shared<std::atomic<int>>(0);
  Mutex mutex_;
  std::map<const void*, End> ends_ MILLRACE_GUARDED_BY(mutex_);
  abi::TopologyDescription topology_;
  std::vector<std::unique_ptr<abi::Device>> devices_;
  std::vector<abi::Device*> device_list_;
  std::vector<abi::Memory*> memory_list_;
};

}  // namespace millrace::pjrt_plugin

namespace millrace::devices::pjrt::abi {

struct Client final : pjrt_plugin::Handle<Client> {
  explicit Client(Ref<pjrt_plugin::ClientBody> shared) : body(std::move(shared)) {}
  const Ref<pjrt_plugin::ClientBody> body;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {

void add_clients(abi::Api& api);
void add_devices(abi::Api& api);
void add_memories(abi::Api& api);

}  // namespace millrace::pjrt_plugin
