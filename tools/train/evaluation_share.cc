#include "millrace/tools/train/evaluation_share.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "millrace/tools/train/awaiting.h"

namespace millrace::train {

std::string EvaluationShare::to_payload() const {
  char text[96];
  std::snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %a", items, correct, loss_sum);
  return text;
}

Result<EvaluationShare> EvaluationShare::parse(const std::string& payload) {
  EvaluationShare share;
  int used = 0;
  const int fields = std::sscanf(payload.c_str(), "%" SCNu64 " %" SCNu64 " %la%n", &share.items,
                                 &share.correct, &share.loss_sum, &used);
  if (fields != 3 || static_cast<std::size_t>(used) != payload.size())
    return fail(ErrorCode::kInvalidArgument, "'" + payload + "' is no share of an evaluation");
  return share;
}

Result<EvaluationShare> sum_of_shares(const std::vector<std::string>& payloads) {
  EvaluationShare total;
  for (const std::string& payload : payloads) {
    MILLRACE_TRY(const EvaluationShare share, EvaluationShare::parse(payload));
    total.items += share.items;
    total.correct += share.correct;
    total.loss_sum += share.loss_sum;
  }
  return total;
}

Task<EvaluationShare> meet(std::vector<collectives::ProcessGroup> ranks,
                           std::vector<EvaluationShare> shares, CallOptions call, TimePoint limit) {
  call.deadline = std::min(call.deadline, limit);
  std::vector<Future<collectives::Payloads>> meetings;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    meetings.push_back(ranks[i].rendezvous("evaluation", shares[i].to_payload(), {}, call));
  MILLRACE_AWAIT(const auto answers, all_of(std::move(meetings)));
  co_return sum_of_shares(*answers.front());
}

}  // namespace millrace::train
