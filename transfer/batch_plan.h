// BatchPlan: which items make up which batch of which device. Pure arithmetic: it answers any
// (epoch, step, shard) in constant time and memory. So all ranks agree without communication, and a
// run resumes anywhere. Read next: loader_schedule.h, which walks through a plan.
#pragma once

#include <cstdint>

#include "millrace/core/base/error.h"
#include "millrace/transfer/permutation.h"

namespace millrace::transfer {

// What becomes of the items that do not fill the last global batch of an epoch. Under every policy
// each shard has the same number of steps, so that collectives of a step always find every rank.
enum class Remainder {
  kDrop,  // left out in this epoch (other ones in the next, where items are shuffled)
  kPad,  // a full last batch whose first rows are valid; the others repeat items and must not count
  kUneven,  // a smaller last batch; a shard may get fewer rows than the others, or none
};

struct BatchPlanOptions {
  std::uint64_t items = 0;
  std::int64_t batch_size = 0;  // global: rows of all shards together
  int shards = 1;               // usually one per device
  Remainder remainder = Remainder::kDrop;
  bool shuffle = false;  // a new order in every epoch, from (seed, epoch)
  std::uint64_t seed = 0;
  // To resume, with any batch size: items of this epoch before start_item are left out.
  std::uint64_t start_epoch = 0;
  std::uint64_t start_item = 0;
};

// The rows of one shard in one step.
struct Shard {
  std::uint64_t first = 0;  // position of the first row in the epoch's order
  std::int64_t rows = 0;    // of the batch's arrays
  std::int64_t valid = 0;   // rows that count; the first ones
};

// Value type. Thread-safety: immutable.
class BatchPlan {
 public:
  // kInvalidArgument, with the numbers, if a count is not positive, the batch does not divide
  // evenly over the shards, or the policy leaves nothing to do.
  static Result<BatchPlan> create(const BatchPlanOptions& options);

  const BatchPlanOptions& options() const { return options_; }
  std::uint64_t steps_per_epoch() const { return all_.steps; }
  std::int64_t rows_per_shard() const { return rows_; }

  // Of the start epoch, the first that there is: its last step has the number that every epoch's
  // has. steps_per_epoch(): none is left.
  std::uint64_t first_step() const { return all_.steps - rest_.steps; }

  // step < steps_per_epoch(), in the start epoch at least first_step(); shard < shards.
  Shard shard(std::uint64_t epoch, std::uint64_t step, int shard) const;
  // The items of an epoch by position; past the end (padding) it starts over.
  class Epoch {
   public:
    std::uint64_t item(std::uint64_t position) const {
      position %= order_.size();
      return shuffle_ ? order_(position) : position;
    }

   private:
    friend class BatchPlan;
    Epoch(Permutation order, bool shuffle) : order_(order), shuffle_(shuffle) {}
    Permutation order_;
    bool shuffle_;
  };
  Epoch epoch(std::uint64_t epoch) const {
    return Epoch(Permutation(options_.items, options_.seed, epoch), options_.shuffle);
  }

 private:
  // Consecutive items of an epoch, in steps.
  struct Part {
    std::uint64_t first = 0;
    std::uint64_t full_steps = 0;
    std::uint64_t rest = 0;  // items beyond the full steps
    std::uint64_t steps = 0;
  };
  explicit BatchPlan(const BatchPlanOptions& options);
  Part part_from(std::uint64_t item) const;

  BatchPlanOptions options_;
  std::int64_t rows_;
  Part all_;
  Part rest_;  // of the start epoch
};

}  // namespace millrace::transfer
