// TrainingView: how a training's news look on a terminal, in a log file, or to a program. The views
// decide what to say and when; they know no stream and no clock, so that their tests are tables.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "millrace/core/base/clock.h"
#include "millrace/tools/commands/train_feed.h"

namespace millrace::commands {

using Sink = std::function<void(std::string_view)>;

// Owned by the train command; the base shows nothing. Thread-safety: confined.
class TrainingView {
 public:
  virtual ~TrainingView() = default;
  virtual void show(const TrainingNews& /*news*/, TimePoint /*now*/) {}
  // Before anything else is written to the stream: ends the line that is being redrawn.
  virtual void finish() {}
};

// One line, redrawn at most ten times a second: epoch, bar, step, loss, images/s, time left.
std::unique_ptr<TrainingView> make_bar_view(std::uint64_t epochs, std::function<int()> columns,
                                            Sink sink);
// A line at the start, at the end of each epoch, for each checkpoint and recovery, and at least
// every ten seconds.
std::unique_ptr<TrainingView> make_line_view(std::uint64_t epochs, Sink sink);
// JSON objects "start", "step" (the first, then about one a second), "epoch", "checkpoint" and
// "recovery", one per line.
std::unique_ptr<TrainingView> make_json_view(Sink sink);

// "0:07", "12:34", "1:02:03".
std::string clock_text(Duration time);

}  // namespace millrace::commands
