// StepPlan: where in the data the steps of an attempt are. It counts items, since attempts of one
// run may have batches of different sizes: as many rows as there are ranks. Pure. Read next:
// ../../transfer/batch_plan.h, which makes batches in the same way.
#pragma once

#include <cstdint>
#include <optional>

namespace millrace::train {

// Where a step begins.
struct Position {
  std::uint64_t step = 0;  // of the whole run
  std::uint64_t epoch = 0;
  std::uint64_t item = 0;  // of that epoch
  bool operator==(const Position&) const = default;
};

// Value type. Thread-safety: immutable.
class StepPlan {
 public:
  // The attempt begins at start. batch: rows of all ranks, positive, and at most items. Of each
  // epoch the items that do not fill a batch are left out.
  StepPlan(const Position& start, std::uint64_t items, std::uint64_t batch, std::uint64_t epochs,
           std::optional<std::uint64_t> most_steps);

  const Position& start() const { return start_; }
  std::uint64_t steps_per_epoch() const { return per_epoch_; }
  // What is left of the start's epoch is less than a batch: start() is in the next one.
  bool leaves_epoch() const { return leaves_epoch_; }
  // Where the run ends.
  std::uint64_t last_step() const { return last_; }
  // The run ends before the start.
  bool is_past_end() const { return past_end_; }
  // step: at least start().step; one that is the last of its epoch ends it.
  std::uint64_t epoch_of(std::uint64_t step) const {
    return start_.epoch + index(step) / per_epoch_;
  }
  bool ends_epoch(std::uint64_t step) const { return (index(step) + 1) % per_epoch_ == 0; }
  Position at(std::uint64_t step) const;

 private:
  // As if start's epoch had begun with whole steps.
  std::uint64_t index(std::uint64_t step) const { return step - start_.step + skipped_; }

  Position start_;
  std::uint64_t batch_;
  std::uint64_t per_epoch_;
  std::uint64_t skipped_ = 0;  // steps of an epoch that are not in the start's
  bool leaves_epoch_ = false;
  bool past_end_ = false;
  std::uint64_t last_ = 0;
};

}  // namespace millrace::train
