#include "millrace/tools/train/meeting.h"

namespace millrace::train {

Task<EpochShare> meet(std::vector<collectives::ProcessGroup> ranks, std::string tag,
                      std::vector<EpochShare> shares, CallOptions options) {
  std::vector<Future<collectives::Payloads>> meetings;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    meetings.push_back(ranks[r].rendezvous(tag, shares[r].to_payload(), {}, options));
  }
  std::vector<Result<collectives::Payloads>> answers;
  for (const auto& meeting : meetings) answers.push_back(co_await meeting);
  for (const auto& answer : answers) {
    if (!answer) co_return answer.error();
  }
  co_return combine_shares(**answers.front());
}

}  // namespace millrace::train
