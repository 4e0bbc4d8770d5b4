// TrainingFeed: what a training reports, on its way from the training's executor to the main
// thread, which may take its time to print it. Read next: train_view.h.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "millrace/tools/train/training.h"

namespace millrace::commands {

struct EpochEnd {
  std::uint64_t epoch = 0;
  double mean_loss = 0;
};

// All that has happened since the last look. Only the last step is kept, so a slow reader costs
// nothing.
struct TrainingNews {
  std::optional<train::TrainingStart> start;
  std::optional<train::StepReport> step;
  std::vector<EpochEnd> epochs;
  std::vector<train::CheckpointReport> checkpoints;
  std::vector<train::RecoveryReport> recoveries;
  bool ended = false;
};

// Thread-safety: thread-safe; one reader.
class TrainingFeed final : public train::TrainingListener {
 public:
  void on_start(const train::TrainingStart& start) override;
  void on_step(const train::StepReport& step) override;
  void on_epoch(std::uint64_t epoch, double mean_loss) override;
  void on_checkpoint(const train::CheckpointReport& checkpoint) override;
  void on_recovery(const train::RecoveryReport& recovery) override;
  // Nothing comes after it.
  void end();

  // Blocks until something has happened; `ended` stays true once it is.
  TrainingNews wait_blocking();
  // Steps of the whole run; 0 before the first step has ended.
  std::uint64_t steps_done() const;
  // For messages: "after step 3 of 1404", "before the first step".
  std::string progress() const;

 private:
  template <class F>
  void change(F&& f);

  // Not core's Mutex: it is waited on together with a condition.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_news_ = false;
  TrainingNews news_;
  std::uint64_t steps_done_ = 0;
  std::uint64_t steps_ = 0;  // of the whole run, once that is known
};

}  // namespace millrace::commands
