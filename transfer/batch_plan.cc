#include "millrace/transfer/batch_plan.h"

#include <string>

#include "millrace/core/base/check.h"

namespace millrace::transfer {

Result<BatchPlan> BatchPlan::create(const BatchPlanOptions& options) {
  const std::string what = "planning batches of " + std::to_string(options.batch_size) +
                           " rows over " + std::to_string(options.shards) + " shards from " +
                           std::to_string(options.items) + " items: ";
  if (options.items == 0 || options.batch_size <= 0 || options.shards <= 0) {
    return fail(ErrorCode::kInvalidArgument, what + "each of these must be positive");
  }
  if (options.batch_size % options.shards != 0) {
    return fail(ErrorCode::kInvalidArgument,
                what + "the batch size is global and must be a multiple of the number of shards");
  }
  BatchPlan plan(options);
  if (plan.steps_ == 0) {
    return fail(
        ErrorCode::kInvalidArgument,
        what +
            "there is no full batch, and the remainder would be dropped; take a smaller batch, "
            "or pad the last one");
  }
  return plan;
}

BatchPlan::BatchPlan(const BatchPlanOptions& options)
    : options_(options),
      rows_(options.batch_size / options.shards),
      full_steps_(options.items / static_cast<std::uint64_t>(options.batch_size)),
      rest_(options.items % static_cast<std::uint64_t>(options.batch_size)),
      steps_(full_steps_ + (rest_ > 0 && options.remainder != Remainder::kDrop ? 1 : 0)) {}

Shard BatchPlan::shard(std::uint64_t step, int shard) const {
  MILLRACE_DCHECK(step < steps_ && shard >= 0 && shard < options_.shards,
                  "a step and shard of this plan");
  const auto index = static_cast<std::uint64_t>(shard);
  const std::uint64_t start = step * static_cast<std::uint64_t>(options_.batch_size);
  if (step < full_steps_) return {start + index * static_cast<std::uint64_t>(rows_), rows_, rows_};
  // The rest, as evenly as it goes: the first shards get one more.
  const std::uint64_t shards = static_cast<std::uint64_t>(options_.shards);
  const std::uint64_t each = rest_ / shards;
  const std::uint64_t more = rest_ % shards;
  const std::uint64_t first = start + index * each + (index < more ? index : more);
  const auto valid = static_cast<std::int64_t>(each + (index < more ? 1 : 0));
  return {first, options_.remainder == Remainder::kPad ? rows_ : valid, valid};
}

}  // namespace millrace::transfer
