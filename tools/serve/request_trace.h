// RequestTrace: inferences in the timeline, by the trace of their client (W3C Trace Context), so
// that a slow span elsewhere is found here. Read next: core/observe/trace.h.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "millrace/core/observe/trace.h"

namespace millrace::serve {

struct TraceParent {
  std::string_view trace_id = {};  // 32 hexadecimal digits
  bool sampled = false;
};
// The header traceparent: "00-TRACE-SPAN-FLAGS". nullopt: it is none, and is passed on unread.
// https://www.w3.org/TR/trace-context/
std::optional<TraceParent> parse_traceparent(std::string_view text);

// An event per inference on the lane "inferences", from its arrival to its answer, with the status
// as its value. Those that the client samples have their trace in their name. Thread-safety:
// confined.
class RequestTrace {
 public:
  // nullptr: it records nothing.
  explicit RequestTrace(TraceRecorder* recorder);

  void record(const std::string& model, std::string_view traceparent, int status, TimePoint begin,
              TimePoint end);
  // A recorder keeps each name, so that it gets this many with a trace; later ones have none.
  static constexpr std::size_t kMostTraces = 4096;

 private:
  TraceRecorder* const recorder_;
  TraceLane lane_{};
  std::set<std::string, std::less<>> traces_;  // that have been named
};

}  // namespace millrace::serve
