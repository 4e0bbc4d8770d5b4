// TraceEncoder: events of a TraceRecorder as bytes of a Perfetto trace, which ui.perfetto.dev
// opens. A trace is a list of packets and every part of the list is one, so it is written as it
// comes, and a file that breaks off is good up to there. Read next: trace_file.h (who writes it),
// perfetto.proto (the format).
//
// Why this format and not Chrome's JSON, which Perfetto opens as well: an event takes about 60
// bytes instead of 250, a file may end anywhere, and an arrow (a flow) is a property of the events
// that it joins, so an event may be on several.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/core/observe/trace.h"

namespace millrace::trace {

// Pure: no I/O, no clock. Thread-safety: external.
class TraceEncoder {
 public:
  // The names of lanes and events are asked of the recorder, once each; a program's path becomes
  // its short_name.
  explicit TraceEncoder(const TraceRecorder& recorder) : recorder_(recorder) {}

  // Appended to bytes. First of all, once. part: what this trace is a part of has parts of others,
  // too, each with another number.
  void begin(const std::string& process, int pid, std::string& bytes, std::uint32_t part = 0);
  // A lane is written with its first event. Events of a lane that overlap go to tracks of the same
  // name, which a viewer shows as rows of one.
  void add(const TraceBatch& batch, std::string& bytes);

 private:
  struct LaneTracks {
    bool named = false;
    std::string text;
    std::vector<std::uint64_t> free_from;  // by row, in nanoseconds: the end of its last event
  };
  LaneTracks& lane(TraceLane lane);

  const TraceRecorder& recorder_;
  std::uint32_t part_ = 0;
  std::vector<LaneTracks> lanes_;
  std::vector<bool> names_;  // those that are written
};

}  // namespace millrace::trace
