// TraceFile: writes what a TraceRecorder records into a file while the program runs, in the format
// of trace_encoder.h. What is in memory at a time is what the recorder's rings hold. It is written
// in place, unlike other files, so that a program that is killed leaves one that is good up to the
// last write. Read next: timeline.h (how it is read).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "millrace/core/async/environment.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/ref.h"
#include "millrace/core/observe/trace.h"
#include "millrace/tools/trace/trace_parts.h"

namespace millrace::trace {

struct TraceFileOptions {
  std::string path;
  std::string process = "millrace";  // its name in the timeline
  // Set in a job of several processes: each writes a file of its own, and close() of the last of
  // them makes path of all (trace_parts.h).
  std::optional<TracePart> part = {};
  // Between two writes: the rings must hold what is recorded in this time.
  Duration period = std::chrono::milliseconds(100);
};

// Detail of every error of a trace file.
struct TraceNotWritten {
  std::string path;
};

// Owned by the owner of the recorder, which outlives it, as the environment does. Thread-safety:
// thread-safe.
class TraceFile {
 public:
  // Opens or makes the file; what an old one holds stays until begin(). kNotFound,
  // kPermissionDenied, ... name the path. A pipe without a reader is kFailedPrecondition: none is
  // waited for.
  static Result<std::unique_ptr<TraceFile>> open(const Environment& environment,
                                                 const TraceRecorder& recorder,
                                                 const TraceFileOptions& options);
  // Once: empties the file, and writes from now on what has been recorded, also before. Without it,
  // close() leaves the file as it was. What it fails with, close() gives.
  void begin();
  // Writes nothing more; close() first.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Writes what has been recorded up to now, and ends. Completes on the blocking executor with the
  // first error of any write (kResourceExhausted: the disk is full; nothing was written after it).
  // Every call gives the same future.
  Future<void> close();
  // Events that came faster than they were written.
  std::uint64_t lost() const;

 private:
  class Core;
  explicit TraceFile(Ref<Core> core);
  const Ref<Core> core_;
};

}  // namespace millrace::trace
