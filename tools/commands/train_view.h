// TrainingFeed: what a training reports, on its way from the training's executor to the main
// thread, which may take its time to print it. TrainingView: how that looks on a terminal, in a log
// file, or to a program. The views decide what to say and when; they know no stream and no clock,
// so that their tests are tables.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/tools/train/training.h"

namespace millrace::commands {

struct EpochEnd {
  std::uint64_t epoch = 0;
  double mean_loss = 0;
};
using TrainingEvent = std::variant<train::TrainingStart, train::StepReport, EpochEnd,
                                   train::CheckpointReport, train::RecoveryReport>;

// Thread-safety: thread-safe; one reader.
class TrainingFeed final : public train::TrainingListener {
 public:
  // All that has happened since the last look, in order. Of steps that follow each other only the
  // last is kept, so a slow reader costs nothing.
  struct News {
    std::vector<TrainingEvent> events;
    bool ended = false;
  };

  void on_start(const train::TrainingStart& start) override { add(start); }
  void on_step(const train::StepReport& step) override { add(step); }
  void on_epoch(std::uint64_t epoch, double mean_loss) override { add(EpochEnd{epoch, mean_loss}); }
  void on_checkpoint(const train::CheckpointReport& checkpoint) override { add(checkpoint); }
  void on_recovery(const train::RecoveryReport& recovery) override { add(recovery); }
  // Nothing comes after it.
  void end();

  // Blocks until something has happened; `ended` stays true once it is.
  News wait_blocking();
  // Steps of the whole run; 0 before the first step has ended.
  std::uint64_t steps_done() const;
  // For messages: "after step 3 of 1404", "before the first step".
  std::string progress() const;

 private:
  void add(TrainingEvent event);

  // Not core's Mutex: it is waited on together with a condition.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  News news_;
  std::uint64_t steps_done_ = 0;
  std::uint64_t steps_ = 0;  // of the whole run, once that is known
};

using Sink = std::function<void(std::string_view)>;

// Owned by the train command; the base shows nothing. Thread-safety: confined.
class TrainingView {
 public:
  virtual ~TrainingView() = default;
  virtual void show(const TrainingEvent& /*event*/, TimePoint /*now*/) {}
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
