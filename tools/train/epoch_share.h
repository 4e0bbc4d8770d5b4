// EpochShare: what one rank has done in an epoch (or in the whole run), and says at the rendezvous
// that ends it. Pure. The shares of all ranks must tell of the same epoch and the same number of
// steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::train {

struct EpochShare {
  std::uint64_t epoch = 0;
  std::uint64_t steps = 0;
  std::int64_t rows = 0;
  double loss_sum = 0;  // over the rows

  void add(double loss, std::int64_t step_rows) {
    ++steps;
    rows += step_rows;
    loss_sum += loss * static_cast<double>(step_rows);
  }
  double mean_loss() const { return rows > 0 ? loss_sum / static_cast<double>(rows) : 0; }
  // One line of text, exact for the loss; parse() reads it back or gives kInvalidArgument.
  std::string to_payload() const;
  static Result<EpochShare> parse(const std::string& payload);
};

// Rows and losses of all ranks together; payloads[r] is rank r's. kInternal names the ranks that
// disagree.
Result<EpochShare> combine_shares(const std::vector<std::string>& payloads);

}  // namespace millrace::train
