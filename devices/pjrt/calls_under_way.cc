#include "millrace/devices/pjrt/calls_under_way.h"

#include <array>
#include <map>
#include <utility>

#include "millrace/core/base/mutex.h"

namespace millrace::devices::pjrt {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(OtherCall::kCount)> kNames = {
    "dlopen",
    "GetPjrtApi",
    "PJRT_Layouts_MemoryLayout_Serialize",
    "PJRT_Layouts_MemoryLayout_Destroy",
    "PJRT_Layouts_PJRT_Client_GetDefaultLayout",
    "create of the profiler",
    "start of the profiler",
    "stop of the profiler",
    "collect_data of the profiler",
    "destroy of the profiler",
};

}  // namespace

std::string_view to_string(OtherCall call) { return kNames[static_cast<std::size_t>(call)]; }

constinit thread_local std::atomic<CallUnderWay::Word> CallUnderWay::current_{0};
constinit thread_local bool CallUnderWay::listed_ = false;
constinit thread_local const Client* CallsFor::client_ = nullptr;

struct CallUnderWay::Threads {
  Mutex mutex;
  std::map<std::thread::id, const std::atomic<Word>*> all MILLRACE_GUARDED_BY(mutex);

  static Threads& get() {
    static Threads* const instance = new Threads;  // never destroyed: plugins' threads run on
    return *instance;
  }
};

// This thread's call in the list, for as long as the thread lives.
struct CallUnderWay::Listed {
  Listed() {
    MutexLock lock(Threads::get().mutex);
    Threads::get().all.insert_or_assign(std::this_thread::get_id(), &current_);
  }
  ~Listed() {
    MutexLock lock(Threads::get().mutex);
    Threads::get().all.erase(std::this_thread::get_id());
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
};

void CallUnderWay::list_this_thread() {
  thread_local const Listed here;
  listed_ = true;
}

std::string_view CallUnderWay::name_of(Word function) {
  return (function & kOther) != 0 ? to_string(static_cast<OtherCall>(function & ~kOther))
                                  : abi::to_string(static_cast<abi::Slot>(function - 1));
}

std::string calls_under_way(std::uint32_t plugin, const Client* client) {
  using Call = CallUnderWay;
  const Call::Word mine = Call::mark_of(client);
  std::map<Call::Word, int> calls;
  {
    MutexLock lock(Call::Threads::get().mutex);
    for (const auto& [thread, call] : Call::Threads::get().all) {
      const Call::Word word = call->load(std::memory_order_relaxed);
      const Call::Word its = word >> Call::kClientShift;
      if (word == 0 || (word >> Call::kPluginShift & Call::kPart) != plugin) continue;
      if (mine == 0 || its == 0 || its == mine) ++calls[word & 0xffff'ffff];
    }
  }
  std::string text;
  for (const auto& [word, count] : calls) {
    const Call::Word device = word >> Call::kDeviceShift;
    if (!text.empty()) text += ", ";
    text += Call::name_of(word & Call::kPart);
    if (device != 0) text += " for device " + std::to_string(device - 1);
    if (count > 1) text += " (" + std::to_string(count) + ")";
  }
  return text;
}

namespace {

// Plugins beyond these have no name here.
constexpr std::size_t kNamed = 256;
std::array<std::atomic<const char*>, kNamed> names{};
constinit thread_local const char* name_of_unnumbered = nullptr;

}  // namespace

const char* CalledHere::set(std::uint32_t plugin, const char* name) {
  if (plugin == 0) return std::exchange(name_of_unnumbered, name);
  return plugin < kNamed ? names[plugin].exchange(name) : nullptr;
}

const char* name_of_plugin(std::uint64_t plugin) noexcept {
  const char* const name = plugin == 0       ? name_of_unnumbered
                           : plugin < kNamed ? names[plugin].load()
                                             : nullptr;
  return name != nullptr ? name : "";
}

CallHere call_here() noexcept {
  using Call = CallUnderWay;
  const Call::Word word = Call::current_.load(std::memory_order_relaxed);
  if (word == 0) return {};
  return {Call::name_of(word & Call::kPart),
          name_of_plugin(word >> Call::kPluginShift & Call::kPart)};
}

std::string call_under_way_of(std::thread::id thread) {
  using Call = CallUnderWay;
  Call::Threads& threads = Call::Threads::get();
  MutexLock lock(threads.mutex);
  const auto found = threads.all.find(thread);
  if (found == threads.all.end()) return {};
  const Call::Word word = found->second->load(std::memory_order_relaxed);
  return word == 0 ? std::string() : std::string(Call::name_of(word & Call::kPart));
}

}  // namespace millrace::devices::pjrt
