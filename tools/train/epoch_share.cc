#include "millrace/tools/train/epoch_share.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "millrace/tools/train/awaiting.h"

namespace millrace::train {

std::string EpochShare::to_payload() const {
  char text[128];
  std::snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRId64 " %a", epoch, steps, rows,
                loss_sum);
  return text;
}

Result<EpochShare> EpochShare::parse(const std::string& payload) {
  EpochShare share;
  int used = 0;
  const int fields = std::sscanf(payload.c_str(), "%" SCNu64 " %" SCNu64 " %" SCNd64 " %la%n",
                                 &share.epoch, &share.steps, &share.rows, &share.loss_sum, &used);
  if (fields != 4 || static_cast<std::size_t>(used) != payload.size()) {
    return fail(ErrorCode::kInvalidArgument, "'" + payload + "' is no share of an epoch");
  }
  return share;
}

Result<EpochShare> combine_shares(const std::vector<std::string>& payloads) {
  EpochShare total;
  for (std::size_t rank = 0; rank < payloads.size(); ++rank) {
    MILLRACE_TRY(const EpochShare share, EpochShare::parse(payloads[rank]));
    if (rank == 0) {
      total = share;
      continue;
    }
    if (share.epoch != total.epoch || share.steps != total.steps) {
      const auto where = [](std::size_t r, const EpochShare& s) {
        return "rank " + std::to_string(r) + " ends epoch " + std::to_string(s.epoch) + " after " +
               std::to_string(s.steps) + " steps";
      };
      return fail(ErrorCode::kInternal, "the ranks disagree where they are: " + where(0, total) +
                                            ", " + where(rank, share));
    }
    total.rows += share.rows;
    total.loss_sum += share.loss_sum;
  }
  return total;
}

std::vector<RankState> spread_over(std::vector<RankState> ranks, std::size_t world) {
  if (ranks.size() == world || ranks.empty()) return ranks;
  RankState all = ranks.front();
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    for (EpochShare RankState::* const share : {&RankState::epoch_share, &RankState::run_share}) {
      (all.*share).rows += (ranks[r].*share).rows;
      (all.*share).loss_sum += (ranks[r].*share).loss_sum;
    }
  }
  RankState none = ranks.front();
  for (EpochShare RankState::* const share : {&RankState::epoch_share, &RankState::run_share})
    (none.*share).rows = 0, (none.*share).loss_sum = 0;
  ranks.assign(world, none);
  ranks.front() = all;
  return ranks;
}

Task<EpochShare> meet(std::vector<collectives::ProcessGroup> ranks, std::string tag,
                      std::vector<RankState> states, EpochShare RankState::* share,
                      CallOptions call, TimePoint limit) {
  call.deadline = std::min(call.deadline, limit);
  std::vector<Future<collectives::Payloads>> meetings;
  for (const collectives::ProcessGroup& rank : ranks) {
    const EpochShare& mine = states[collectives::at(rank.rank())].*share;
    meetings.push_back(rank.rendezvous(tag, mine.to_payload(), {}, call));
  }
  MILLRACE_AWAIT(const auto answers, all_of(std::move(meetings)));
  co_return combine_shares(*answers.front());
}

}  // namespace millrace::train
