#include "millrace/tools/train/meeting.h"

#include <algorithm>
#include <utility>

#include "millrace/tools/train/awaiting.h"

namespace millrace::train {

Task<EpochShare> meet(std::vector<collectives::ProcessGroup> ranks, std::string tag,
                      std::vector<RankState> states, EpochShare RankState::* share,
                      CallOptions call) {
  std::vector<Future<collectives::Payloads>> meetings;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    meetings.push_back(ranks[r].rendezvous(tag, (states[r].*share).to_payload(), {}, call));
  MILLRACE_AWAIT(const auto answers, all_of(std::move(meetings)));
  co_return combine_shares(*answers.front());
}

CallOptions sooner(CallOptions call, TimePoint deadline) {
  call.deadline = std::min(call.deadline, deadline);
  return call;
}

}  // namespace millrace::train
