// RunRecording: what the devices of all clients of this process do while a profiler asks for it.
// Read next: profiler_extension.cc, whose sessions use it; xspace.h, what they give.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/trace.h"

namespace millrace::pjrt_plugin {

// A program that a device ran, or an array that it was given.
struct DeviceEvent {
  enum class Kind { kProgram, kPut };
  int device = 0;
  Kind kind = Kind::kProgram;
  std::string name;
  std::int64_t begin_ns = 0;  // of the system's clock, since 1970
  std::int64_t duration_ns = 0;
};

// What was recorded, by begin.
struct DeviceEvents {
  std::vector<DeviceEvent> events;
  std::uint64_t lost = 0;  // that made room for newer ones
};

// Off or on; a launch that finds it off pays one relaxed load. Thread-safety: thread-safe.
class RunRecording {
 public:
  // Never destroyed: threads may record until the process ends.
  static RunRecording& of_process();

  // For the devices: where they record, and while what is true.
  TraceRecorder& recorder() { return recorder_; }
  const std::atomic<bool>& is_on() const { return is_on_; }

  // From off to on. kFailedPrecondition if it is on: what one session records is not another's.
  Status begin();
  // From on to off: what has ended since begin().
  DeviceEvents end();

 private:
  RunRecording() = default;

  TraceRecorder recorder_{steady_clock()};
  std::atomic<bool> is_on_{false};
  Mutex mutex_;
  TraceCursor cursor_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::pjrt_plugin
