// Profiler: the plugin's own profiler, where its extension is there: what its devices and its
// threads did, as events of our timeline.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "millrace/core/base/clock.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/pjrt/abi/extensions.h"
#include "millrace/devices/pjrt/plugin.h"

namespace millrace::devices::pjrt {

// One session, from create to finish or destruction. One per process at a time, as the profilers
// of plugins have it. Thread-safety: external. Every call blocks.
class Profiler {
 public:
  // Started. kUnimplemented if the plugin has no such extension; its own errors.
  static Result<std::unique_ptr<Profiler>> create(const Plugin& plugin);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler();
  // Stops, and gives what was recorded: a serialized XSpace.
  Result<std::string> finish();

 private:
  Profiler(const Plugin& plugin, const abi::ProfilerApi& api) : plugin_(plugin), api_(api) {}
  template <class A>
  Status call(abi::ProfilerError* (*function)(A*), A& args, OtherCall name) const;

  const Plugin& plugin_;
  const abi::ProfilerApi& api_;
  abi::ProfilerHandle* handle_ = nullptr;
};

// Records the events of an XSpace, a lane for each of its lines: "/device:GPU:0 Stream #7". Its
// times are those of the system's clock; offset: what is added to make them the recorder's.
// kDataLoss for bytes that are none. Gives the number of events.
Result<std::size_t> record_xspace(std::string_view bytes, Duration offset, TraceRecorder& trace);

}  // namespace millrace::devices::pjrt
