// Which functions of plugins have not returned yet: for the errors of callers that cannot wait for
// them any longer. Internal to plugin.cc and the files of extensions.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "millrace/devices/device_scope.h"
#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::devices::pjrt {

// What we call that has no slot in the table: functions of extensions, and what gives the table.
enum class OtherCall : std::uint16_t {
  kLoad,
  kGetApi,
  kLayoutSerialize,
  kLayoutDestroy,
  kDefaultLayout,
  kProfilerCreate,
  kProfilerStart,
  kProfilerStop,
  kProfilerCollect,
  kProfilerDestroy,
  kCount
};
// "PJRT_Layouts_MemoryLayout_Serialize", "start of the profiler".
std::string_view to_string(OtherCall call);

// Says for which client this thread makes its calls from here on, where no device actor's scope
// does. Client: the devices::Client. Thread-safety: confined to its thread.
class CallsFor {
 public:
  explicit CallsFor(const Client* client) : outer_(client_) { client_ = client; }
  ~CallsFor() { client_ = outer_; }
  CallsFor(const CallsFor&) = delete;
  CallsFor& operator=(const CallsFor&) = delete;
  static const Client* current() { return client_; }

 private:
  static constinit thread_local const Client* client_;
  const Client* const outer_;
};

struct CallHere;

// Made around each call of a plugin's function, on the thread that makes it; calls nest where a
// plugin calls back. Costs two stores. Thread-safety: confined to its thread.
class CallUnderWay {
 public:
  // plugin: a number of its own; 0: there is no table yet. The device is the one on whose behalf
  // this thread runs (device_scope.h).
  CallUnderWay(std::uint32_t plugin, OtherCall call) : CallUnderWay(plugin) {
    mark(kOther | static_cast<Word>(call));
  }
  // For calls in a row, each of which is named next.
  explicit CallUnderWay(std::uint32_t plugin) : outer_(current_.load(std::memory_order_relaxed)) {
    if (!listed_) [[unlikely]]
      list_this_thread();
    const DeviceScope* const scope = DeviceScope::current();
    const Word device =
        scope == nullptr ? 0 : static_cast<Word>(index(scope->device()) + 1) & kPart;
    const Word client = mark_of(scope == nullptr ? CallsFor::current() : &scope->client());
    whose_ = client << kClientShift | (static_cast<Word>(plugin) & kPart) << kPluginShift |
             device << kDeviceShift;
  }
  void name(abi::Slot slot) { mark(static_cast<Word>(slot) + 1); }
  // relaxed: a thread that asks wants to know of calls that have lasted for seconds.
  ~CallUnderWay() { current_.store(outer_, std::memory_order_relaxed); }
  CallUnderWay(const CallUnderWay&) = delete;
  CallUnderWay& operator=(const CallUnderWay&) = delete;

 private:
  friend std::string calls_under_way(std::uint32_t plugin, const Client* client);
  friend std::string call_under_way_of(std::thread::id thread);
  friend CallHere call_here() noexcept;
  // One word, so that other threads see all of a call or nothing of it: a mark of the client above
  // (0: not known), then the plugin, the device and the slot, the last two from 1, or instead of
  // the slot another call; 0: no call.
  using Word = std::uint64_t;
  static constexpr int kClientShift = 48, kPluginShift = 32, kDeviceShift = 16;
  static constexpr Word kPart = 0xffff, kOther = 0x8000;
  struct Threads;
  struct Listed;

  void mark(Word function) { current_.store(whose_ | function, std::memory_order_relaxed); }
  // Not 0, and rarely that of another client: of its address, which is a large object's, 15 bits.
  static Word mark_of(const Client* client) {
    return client == nullptr ? 0 : (reinterpret_cast<std::uintptr_t>(client) >> 6 & kPart) | 1;
  }
  static void list_this_thread();
  static std::string_view name_of(Word function);

  static constinit thread_local std::atomic<Word> current_;
  static constinit thread_local bool listed_;
  const Word outer_;
  Word whose_;
};

// Where a thread is inside a plugin: "PJRT_Client_Create"; empty: it is in none. plugin: its name,
// for as long as it is there; "" if it has none yet.
struct CallHere {
  std::string_view function;
  const char* plugin = "";
};
// What CalledHere says of the plugin of this number; "" where nothing does. Locks nothing.
const char* name_of_plugin(std::uint64_t plugin) noexcept;
// The call of this thread. Locks and allocates nothing, for the handler of a signal.
CallHere call_here() noexcept;
// What a plugin of this number, or one without a number that this thread is about to load, is
// called until `name` ends: call_here() returns it.
class CalledHere {
 public:
  CalledHere(std::uint32_t plugin, const char* name) : plugin_(plugin), outer_(set(plugin, name)) {}
  ~CalledHere() { set(plugin_, outer_); }
  CalledHere(const CalledHere&) = delete;
  CalledHere& operator=(const CalledHere&) = delete;

 private:
  static const char* set(std::uint32_t plugin, const char* name);
  const std::uint32_t plugin_;
  const char* const outer_;
};

// Those of all threads, but for those that are known to be another client's where one is given:
// "PJRT_Client_Compile (2), PJRT_LoadedExecutable_Execute for device 0"; empty: there is none. Any
// thread.
std::string calls_under_way(std::uint32_t plugin, const Client* client = nullptr);
// The one that this thread is in, of any plugin: "PJRT_Client_Create"; empty: it is in none. Any
// thread.
std::string call_under_way_of(std::thread::id thread);

}  // namespace millrace::devices::pjrt
