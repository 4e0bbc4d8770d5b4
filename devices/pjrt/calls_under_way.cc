#include "millrace/devices/pjrt/calls_under_way.h"

#include <array>
#include <atomic>
#include <map>
#include <set>

#include "millrace/core/mutex.h"
#include "millrace/devices/device_scope.h"

namespace millrace::devices::pjrt {
namespace {

// One word, so that other threads see all of a call or nothing of it: the plugin above, then the
// device and the slot, both from 1, or instead of the slot a function of an extension; 0: no call.
using Word = std::uint64_t;
constexpr int kPluginShift = 32, kDeviceShift = 16;
constexpr Word kPart = 0xffff, kOfExtension = 0x8000;

constexpr std::array<std::string_view, static_cast<std::size_t>(ExtensionCall::kCount)> kNames = {
    "PJRT_Layouts_MemoryLayout_Serialize",
    "PJRT_Layouts_MemoryLayout_Destroy",
    "PJRT_Layouts_PJRT_Client_GetDefaultLayout",
    "PJRT_Layouts_PJRT_Buffer_MemoryLayout",
    "PJRT_Layouts_PJRT_Executable_GetParameterLayouts",
    "PJRT_Layouts_PJRT_Executable_GetOutputLayouts",
    "create of the profiler",
    "start of the profiler",
    "stop of the profiler",
    "collect_data of the profiler",
    "destroy of the profiler",
};

std::string_view name_of(Word function) {
  return (function & kOfExtension) != 0
             ? to_string(static_cast<ExtensionCall>(function & ~kOfExtension))
             : abi::to_string(static_cast<abi::Slot>(function - 1));
}

// relaxed: whoever asks wants to know of calls that have lasted for seconds.
constinit thread_local std::atomic<Word> this_call{0};
constinit thread_local bool listed = false;

struct Threads {
  Mutex mutex;
  std::set<const std::atomic<Word>*> all MILLRACE_GUARDED_BY(mutex);
};
Threads& threads() {
  static Threads* const instance = new Threads;  // never destroyed: plugins' threads run on
  return *instance;
}

// This thread's call in the list, for as long as the thread lives.
struct Listed {
  Listed() {
    MutexLock lock(threads().mutex);
    threads().all.insert(&this_call);
  }
  ~Listed() {
    MutexLock lock(threads().mutex);
    threads().all.erase(&this_call);
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
};

void list_this_thread() {
  thread_local const Listed here;
  listed = true;
}

Word device_part() {
  const DeviceScope* const scope = DeviceScope::current();
  return scope == nullptr ? 0 : static_cast<Word>(index(scope->device()) + 1) & kPart;
}

}  // namespace

std::string_view to_string(ExtensionCall call) { return kNames[static_cast<std::size_t>(call)]; }

CallUnderWay::CallUnderWay(std::uint32_t plugin, abi::Slot slot)
    : CallUnderWay(plugin, static_cast<Word>(slot) + 1) {}
CallUnderWay::CallUnderWay(std::uint32_t plugin, ExtensionCall call)
    : CallUnderWay(plugin, kOfExtension | static_cast<Word>(call)) {}

CallUnderWay::CallUnderWay(std::uint32_t plugin, std::uint64_t function)
    : outer_(this_call.load(std::memory_order_relaxed)) {
  if (!listed) [[unlikely]]
    list_this_thread();
  const Word word =
      static_cast<Word>(plugin) << kPluginShift | device_part() << kDeviceShift | function;
  this_call.store(word, std::memory_order_relaxed);
}

CallUnderWay::~CallUnderWay() { this_call.store(outer_, std::memory_order_relaxed); }

std::string calls_under_way(std::uint32_t plugin) {
  std::map<Word, int> calls;
  {
    MutexLock lock(threads().mutex);
    for (const std::atomic<Word>* call : threads().all) {
      const Word word = call->load(std::memory_order_relaxed);
      if (word != 0 && word >> kPluginShift == plugin) ++calls[word & 0xffff'ffff];
    }
  }
  std::string text;
  for (const auto& [word, count] : calls) {
    const Word device = word >> kDeviceShift;
    if (!text.empty()) text += ", ";
    text += name_of(word & kPart);
    if (device != 0) text += " for device " + std::to_string(device - 1);
    if (count > 1) text += " (" + std::to_string(count) + ")";
  }
  return text;
}

}  // namespace millrace::devices::pjrt
