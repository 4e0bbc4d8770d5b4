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
  if (options.start_item > options.items) {
    return fail(ErrorCode::kInvalidArgument,
                what + "they cannot start at item " + std::to_string(options.start_item));
  }
  BatchPlan plan(options);
  if (plan.all_.steps == 0) {
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
      all_(part_from(0)),
      rest_(part_from(options.start_item)) {}

BatchPlan::Part BatchPlan::part_from(std::uint64_t item) const {
  const auto batch = static_cast<std::uint64_t>(options_.batch_size);
  const std::uint64_t items = options_.items - item;
  Part part{.first = item, .full_steps = items / batch, .rest = items % batch};
  const bool takes_rest = part.rest > 0 && options_.remainder != Remainder::kDrop;
  part.steps = part.full_steps + (takes_rest ? 1 : 0);
  return part;
}

Shard BatchPlan::shard(std::uint64_t epoch, std::uint64_t step, int shard) const {
  const bool is_start = epoch == options_.start_epoch;
  MILLRACE_DCHECK(step < all_.steps && (!is_start || step >= first_step()) && shard >= 0 &&
                      shard < options_.shards,
                  "a step and shard of this plan");
  const Part& part = is_start ? rest_ : all_;
  if (is_start) step -= first_step();
  const auto index = static_cast<std::uint64_t>(shard);
  const std::uint64_t start = part.first + step * static_cast<std::uint64_t>(options_.batch_size);
  if (step < part.full_steps)
    return {start + index * static_cast<std::uint64_t>(rows_), rows_, rows_};
  // The rest, as evenly as it goes: the first shards get one more.
  const std::uint64_t shards = static_cast<std::uint64_t>(options_.shards);
  const std::uint64_t each = part.rest / shards;
  const std::uint64_t more = part.rest % shards;
  const std::uint64_t first = start + index * each + (index < more ? index : more);
  const auto valid = static_cast<std::int64_t>(each + (index < more ? 1 : 0));
  return {first, options_.remainder == Remainder::kPad ? rows_ : valid, valid};
}

}  // namespace millrace::transfer
