// `millrace trace`: where the time of a timeline went, as a table, as JSON, as a picture.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "millrace/tools/commands/command.h"
#include "millrace/tools/trace/summary.h"
#include "millrace/tools/trace/timeline.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::commands {

namespace {

Result<trace::Window> window_of(const TraceFlags& flags, const trace::Timeline& timeline) {
  trace::Window window;
  // In nanoseconds, which end before 2^63. What is no number is as late as can be.
  const auto nanoseconds = [](double seconds) {
    return seconds < 9.2e9 ? std::llround(seconds * 1e9) : std::numeric_limits<std::int64_t>::max();
  };
  if (flags.from) window.from = nanoseconds(*flags.from);
  if (flags.to) window.to = nanoseconds(*flags.to);
  if (window.from >= std::min(window.to, timeline.end)) {
    return usage_error("--from and --to leave nothing of a timeline of " +
                       trace::time_text(timeline.end));
  }
  return window;
}

void warn(const trace::Timeline& timeline, const TraceFlags& flags, Console& console) {
  if (timeline.lost > 0) {
    console.warning(flags.file + " lacks " + std::to_string(timeline.lost) +
                    " events, which came faster than they were written");
  }
  if (timeline.cut_short) console.warning(flags.file + " ends in the middle of a packet");
}

}  // namespace

Result<ExitCode> trace_command(const TraceFlags& flags, Console& console) {
  MILLRACE_TRY(const trace::Timeline timeline, trace::read_timeline(flags.file));
  warn(timeline, flags, console);
  MILLRACE_TRY(const trace::Window window, window_of(flags, timeline));
  if (!flags.svg.empty()) {
    trace::PictureOptions options{.all_lanes = flags.all_lanes};
    if (flags.from || flags.to) options.window = window;
    MILLRACE_TRY_STATUS(transfer::write_file(flags.svg, trace::draw(timeline, options)));
  }
  const trace::Summary summary = trace::summarize(timeline, window);
  MILLRACE_TRY_STATUS(
      console.data(flags.json ? summary.to_json() + "\n" : summary.to_text(flags.top)));
  return ExitCode::kOk;
}

}  // namespace millrace::commands
