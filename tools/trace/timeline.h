// Timeline: a trace file in memory: lanes and what happened on them. Reads what trace_file.h
// writes, and of any other Perfetto trace its track events. Read next: summary.h (where the time
// went, and what it looks like).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::trace {

// Times are nanoseconds since the first begin of the timeline.
struct Slice {
  std::uint32_t lane = 0;
  std::uint32_t name = 0;
  std::uint32_t row = 0;  // of the lane: those that overlap lie in rows of their own
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t value = 0;
  std::vector<std::uint64_t> flows;  // the batches that it was done for
};

struct Timeline {
  std::vector<std::string> lanes;  // in the order in which they are shown
  std::vector<std::string> names;
  std::vector<Slice> slices;  // by begin, then lane
  std::int64_t end = 0;       // of the last slice
  std::uint64_t lost = 0;     // events that its writer could not keep
  std::uint64_t unended = 0;  // slices without an end: they reach to the end of the timeline
  bool cut_short = false;     // its last part is missing

  std::optional<std::uint32_t> find_lane(std::string_view text) const;
};

// kInvalidArgument for what is no Perfetto trace or has no track events. A last packet that is cut
// off is only noted.
Result<Timeline> parse_timeline(std::string_view bytes);
// Blocks. File errors name the path.
Result<Timeline> read_timeline(const std::string& path);

// How an event is called in tables and pictures: the name of a program without its folders and its
// ending.
std::string short_name(std::string_view name);

}  // namespace millrace::trace
