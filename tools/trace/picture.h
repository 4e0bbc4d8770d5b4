// A timeline as a picture: lanes from top to bottom, time from left to right, one batch's way
// through the lanes drawn as arrows. SVG, with nothing in it that a browser would have to fetch.
#pragma once

#include <optional>
#include <string>

#include "millrace/tools/trace/summary.h"
#include "millrace/tools/trace/timeline.h"

namespace millrace::trace {

struct PictureOptions {
  // Left out: around the way of a batch in the middle of the timeline, or everything where there
  // are no batches.
  std::optional<Window> window;
  bool all_lanes = false;  // also those that no batch touches
};

// Pure.
std::string draw(const Timeline& timeline, const PictureOptions& options = {});

}  // namespace millrace::trace
