// Which functions of plugins have not returned yet: for the errors of a close that cannot wait for
// them any longer. Internal to plugin.cc and to the files of extensions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/devices/pjrt/abi.h"

namespace millrace::devices::pjrt {

// The functions of extensions that we call: they have no slot in the table.
enum class ExtensionCall : std::uint16_t {
  kLayoutSerialize,
  kLayoutDestroy,
  kDefaultLayout,
  kBufferLayout,
  kParameterLayouts,
  kOutputLayouts,
  kProfilerCreate,
  kProfilerStart,
  kProfilerStop,
  kProfilerCollect,
  kProfilerDestroy,
  kCount
};
// "PJRT_Layouts_MemoryLayout_Serialize", "start of the profiler".
std::string_view to_string(ExtensionCall call);

// Made around each call of a plugin's function, on the thread that makes it; calls nest where a
// plugin calls back. Costs two stores. Thread-safety: confined to its thread.
class CallUnderWay {
 public:
  // plugin: a number of its own. The device is the one on whose behalf this thread runs
  // (device_scope.h).
  CallUnderWay(std::uint32_t plugin, abi::Slot slot);
  CallUnderWay(std::uint32_t plugin, ExtensionCall call);
  ~CallUnderWay();
  CallUnderWay(const CallUnderWay&) = delete;
  CallUnderWay& operator=(const CallUnderWay&) = delete;

 private:
  CallUnderWay(std::uint32_t plugin, std::uint64_t function);

  const std::uint64_t outer_;
};

// Those of all threads: "PJRT_Client_Compile (2), PJRT_LoadedExecutable_Execute for device 0";
// empty: there is none. Any thread.
std::string calls_under_way(std::uint32_t plugin);

}  // namespace millrace::devices::pjrt
