// The objects behind the pointers of the memory plugin: a small PJRT plugin whose devices are host
// memory, for tests that want a healthy plugin without the network, or something to spoil (see
// tests/plugins/faulty). One thread per client does its copies and runs its programs, in the order
// of the calls. Read next: plugin.cc, the table; program.h, which programs it runs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/devices/pjrt/abi/extensions.h"
#include "millrace/devices/pjrt/abi/implement.h"
#include "tests/plugins/healthy/program.h"

namespace millrace::memory_plugin {

namespace abi = devices::pjrt::abi;

// How an operation ended; ok while code is 0.
struct Outcome {
  int code = 0;
  std::string message;
};

// What every handle of one event shares. Thread-safe; callbacks run on the thread that sets it, or
// in on_ready where it is set already, never under the lock.
class EventState {
 public:
  using Callback = void (*)(abi::Error*, void*);

  void set(Outcome outcome);
  bool ready() const;
  const Outcome& wait() const;
  void on_ready(Callback callback, void* user_arg);

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable set_;
  bool ready_ = false;
  Outcome outcome_;
  std::vector<std::pair<Callback, void*>> callbacks_;
};
using EventRef = std::shared_ptr<EventState>;

// Bytes of a buffer: its own, or lent ones, whose lender learns by `released` when they are free.
struct Storage {
  std::vector<std::byte> own;
  std::byte* data = nullptr;
  std::size_t size = 0;
  bool immutable = false;  // lent by a caller who forbids writing
  EventRef released;       // set when this goes
  void (*on_delete)(void*, void*) = nullptr;
  void* on_delete_arg = nullptr;

  static std::shared_ptr<Storage> make(std::size_t size);
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();
};

// Runs tasks one after another on a thread of its own. Destruction waits for them.
class Worker {
 public:
  Worker();
  ~Worker();
  void post(std::function<void()> task);

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};

abi::Error* make_error(int code, std::string message);
abi::Event* make_event(EventRef state);
abi::Event* make_ready_event();
EventRef ready_state();

inline constexpr int kInvalidArgument = 3, kNotFound = 5, kFailedPrecondition = 9,
                     kUnimplemented = 12, kDataLoss = 15;

}  // namespace millrace::memory_plugin

namespace millrace::devices::pjrt::abi {

struct Error {
  int code;
  std::string message;
};

struct Event {
  memory_plugin::EventRef state;
};

struct DeviceDescription {
  int id = 0;
  std::string debug, text;
};

struct Memory {
  int id = 0;
  Device* device = nullptr;
};

struct Device {
  Client* client = nullptr;
  DeviceDescription description;
  Memory memory;
  Memory* memories[1] = {};
  std::atomic<std::int64_t> bytes_in_use{0};
};

struct TopologyDescription {
  std::vector<DeviceDescription> own;
  std::vector<DeviceDescription*> descriptions;
};

struct Client {
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Device*> device_list;
  std::vector<Memory*> memory_list;
  std::unique_ptr<TopologyDescription> topology;
  std::unique_ptr<memory_plugin::Worker> worker;  // last: goes first
};

// The data may be in flight: `ready` tells when they are there, or why they never will be.
struct Buffer {
  Device* device = nullptr;
  BufferType type = BufferType::kF32;
  std::vector<std::int64_t> dims;
  std::size_t bytes = 0;
  memory_plugin::EventRef ready;
  std::mutex mutex;
  std::shared_ptr<memory_plugin::Storage> storage;  // none: deleted or donated
  int external_references = 0;
  std::shared_ptr<memory_plugin::Storage> held;  // while there are some: theirs, deleted or not
};

// What is compiled; handles share it.
struct Compiled {
  memory_plugin::Program program;
  std::string text, options, fingerprint;
  int replicas = 1, partitions = 1;
  bool portable = true;
  std::vector<std::int64_t> device_ids;  // replicas x partitions; none where portable
  // As PJRT tells them.
  std::vector<BufferType> output_types;
  std::vector<std::int64_t> output_dims;
  std::vector<std::size_t> output_ranks;
  std::vector<const char*> output_kinds, input_kinds;
  std::vector<std::size_t> output_kind_sizes, input_kind_sizes;
};

struct Executable {
  std::shared_ptr<const Compiled> compiled;
};

struct LoadedExecutable {
  Client* client = nullptr;
  std::shared_ptr<const Compiled> compiled;
  std::vector<Device*> devices;
  std::vector<LogicalDeviceIds> logical_ids;
  std::atomic<bool> deleted{false};
};

struct TransferManager {
  Device* device = nullptr;
  std::vector<std::unique_ptr<Buffer>> buffers;  // until they are retrieved
  std::vector<std::shared_ptr<memory_plugin::Storage>> storages;
  std::vector<memory_plugin::EventRef> ready;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::memory_plugin {

// Parts of the table, each of which fills its slots.
void add_errors_and_events(abi::Api& api);
void add_clients(abi::Api& api);
void add_devices(abi::Api& api);
void add_topologies(abi::Api& api);
void add_executables(abi::Api& api);
void add_execution(abi::Api& api);
void add_buffers(abi::Api& api);
void add_copies(abi::Api& api);
void add_transfers(abi::Api& api);

// The plugin's extensions.
struct Extensions {
  abi::LayoutsExtension layouts;
  abi::AbiVersionExtension abi_versions;
  abi::StreamExtension streams;
};
abi::LayoutsExtension make_layouts();
abi::AbiVersionExtension make_abi_versions();
abi::StreamExtension make_streams();
// Those of the table of make_api, chained: there is one set of them.
Extensions& extensions();

// A healthy table of its own, full: what the plugin lacks says so.
abi::Api make_api();

inline abi::Error* refuse(std::string_view call, std::size_t given, std::size_t needed,
                          const char* /*field*/) {
  return make_error(kInvalidArgument, std::string(call) + ": a structure of " +
                                          std::to_string(given) + " bytes, where " +
                                          std::to_string(needed) + " are needed");
}

// The function, a lambda without captures, for callers whose structures have room for all that it
// needs and tells.
template <class F>
void add(abi::Api& api, F function) {
  abi::implement_whole<&refuse>(api, function, +function);
}

std::size_t element_bytes(abi::BufferType type);  // 0: of no type that the plugin knows
abi::Buffer* make_buffer(abi::Device* device, abi::BufferType type, std::vector<std::int64_t> dims,
                         std::shared_ptr<Storage> storage, EventRef ready);
// The storage, or an error where the buffer was deleted.
abi::Error* live_storage(abi::Buffer* buffer, std::shared_ptr<Storage>& storage);
abi::Error* load(abi::Client* client, std::shared_ptr<const abi::Compiled> compiled,
                 abi::LoadedExecutable** loaded);
abi::Error* compile(const abi::Program* program, const char* options, std::size_t options_size,
                    std::shared_ptr<const abi::Compiled>& compiled);

}  // namespace millrace::memory_plugin
