// Summary: where the time of a timeline went: per lane how busy it was and with what, and between
// lanes how long batches waited on their way; and a picture of it (picture.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/tools/trace/timeline.h"

namespace millrace::trace {

// A part of a timeline, in nanoseconds since its begin.
struct Window {
  std::int64_t from = 0;
  std::int64_t to = INT64_MAX;
};

struct EventSummary {
  std::string name;  // short_name
  std::uint64_t count = 0;
  std::int64_t total = 0;  // nanoseconds, of what lies in the window; so are the others
  std::int64_t median = 0;
  std::int64_t longest = 0;
};

struct LaneSummary {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t busy = 0;             // at least one event was under way
  int rows = 0;                      // events at once, at most
  std::vector<EventSummary> events;  // by total, the largest first
};

// From the end of a batch's last event on one lane to the begin of its next one on another;
// negative where the next began before.
struct WaitSummary {
  std::string from, to;  // lanes
  std::uint64_t count = 0;
  std::int64_t median = 0;
  std::int64_t p90 = 0;
  std::int64_t longest = 0;
};

struct Summary {
  std::int64_t length = 0;         // of the window
  std::vector<LaneSummary> lanes;  // with events, in the timeline's order
  std::vector<WaitSummary> waits;  // in the order of the batches' way

  std::string to_text(std::size_t events_per_lane) const;
  std::string to_json() const;  // one line
};

// Pure.
Summary summarize(const Timeline& timeline, const Window& window = {});

// A timeline as a picture: lanes from top to bottom, time from left to right, one batch's way
// through the lanes drawn as arrows.
struct PictureOptions {
  // Left out: around the way of a batch in the middle of the timeline, or everything where there
  // are no batches.
  std::optional<Window> window;
  bool all_lanes = false;  // also those that no batch touches
};

// SVG, with nothing in it that a browser would have to fetch. Pure.
std::string draw(const Timeline& timeline, const PictureOptions& options = {});

// "3.21 ms": three digits and the unit that suits; "-0.40 us".
std::string time_text(std::int64_t nanoseconds);

}  // namespace millrace::trace
