// EpochShare: what one rank has done in an epoch (or in the whole run). meet(): the ranks compare
// their shares at a rendezvous: at the end of an epoch, at the end of the run, and before a
// checkpoint gets its name. All shares must have the same epoch and the same number of steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/coroutine.h"
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

// What a rank keeps for itself: its sums for the reports. (Parameters, momenta and state are the
// same on every rank after a step.)
struct RankState {
  EpochShare epoch_share;
  EpochShare run_share;
};

// The same sums for so many ranks: where their number differs, the first one has those of all.
std::vector<RankState> spread_over(std::vector<RankState> ranks, std::size_t world);

// How long the ranks of a training wait for one that is missing.
inline constexpr Duration kRendezvousLimit = std::chrono::seconds(60);
inline constexpr Duration kNoRendezvousLimit = Duration::max();
// Sends the share of each of these ranks to the meeting of this tag; gives the shares of all ranks
// of the group together. states are those of all, in the order of the ranks. The rendezvous' error
// names a rank that is missing at the limit or at the call's own deadline, kInternal names ranks
// that are elsewhere.
Task<EpochShare> meet(std::vector<collectives::ProcessGroup> ranks, std::string tag,
                      std::vector<RankState> states, EpochShare RankState::* share,
                      CallOptions call, TimePoint limit);

}  // namespace millrace::train
