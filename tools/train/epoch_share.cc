#include "millrace/tools/train/epoch_share.h"

#include <cinttypes>
#include <cstdio>

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
      std::string text =
          "the ranks disagree where they are: rank 0 ends epoch " + std::to_string(total.epoch);
      text += " after " + std::to_string(total.steps) + " steps, rank " + std::to_string(rank);
      text +=
          " ends epoch " + std::to_string(share.epoch) + " after " + std::to_string(share.steps);
      return fail(ErrorCode::kInternal, std::move(text));
    }
    total.rows += share.rows;
    total.loss_sum += share.loss_sum;
  }
  return total;
}

}  // namespace millrace::train
