// EvaluationShare: what a rank has found of the test data. meet(): the ranks add up their shares at
// a rendezvous, in the order of the ranks, so that all have the same sums to the bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/error.h"

namespace millrace::train {

struct EvaluationShare {
  std::uint64_t items = 0;
  std::uint64_t correct = 0;
  double loss_sum = 0;

  // One line of text, exact for the loss; parse() reads it back or gives kInvalidArgument.
  std::string to_payload() const;
  static Result<EvaluationShare> parse(const std::string& payload);
};

// payloads[r] is rank r's.
Result<EvaluationShare> sum_of_shares(const std::vector<std::string>& payloads);

// shares are those of ranks, in their order; gives the sum over all ranks of the group. The
// rendezvous' error names a rank that is missing at the limit.
Task<EvaluationShare> meet(std::vector<collectives::ProcessGroup> ranks,
                           std::vector<EvaluationShare> shares, CallOptions call, TimePoint limit);

}  // namespace millrace::train
