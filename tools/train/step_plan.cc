#include "millrace/tools/train/step_plan.h"

#include <algorithm>

#include "millrace/core/base/check.h"

namespace millrace::train {

StepPlan::StepPlan(const Position& start, std::uint64_t items, std::uint64_t batch,
                   std::uint64_t epochs, std::optional<std::uint64_t> most_steps)
    : start_(start), batch_(batch), per_epoch_(items / batch) {
  MILLRACE_CHECK(per_epoch_ > 0 && start.item <= items, "a batch, and a place in the data");
  std::uint64_t left = (items - start.item) / batch;
  past_end_ = start.epoch > epochs || (start.epoch == epochs && start.item > 0);
  if (left == 0) {
    leaves_epoch_ = true;
    start_ = {.step = start.step, .epoch = start.epoch + 1};
    left = per_epoch_;
  }
  skipped_ = per_epoch_ - left;
  last_ = start_.step;
  if (start_.epoch < epochs) last_ += left + (epochs - start_.epoch - 1) * per_epoch_;
  if (!most_steps) return;
  past_end_ = past_end_ || *most_steps < start_.step;
  last_ = std::max(start_.step, std::min(last_, *most_steps));
}

Position StepPlan::at(std::uint64_t step) const {
  if (step == start_.step) return start_;
  const std::uint64_t epoch = epoch_of(step);
  const std::uint64_t item = epoch == start_.epoch ? start_.item + (step - start_.step) * batch_
                                                   : index(step) % per_epoch_ * batch_;
  return {.step = step, .epoch = epoch, .item = item};
}

}  // namespace millrace::train
