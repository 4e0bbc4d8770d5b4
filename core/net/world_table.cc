#include "millrace/core/net/world_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::net {

WorldTable::WorldTable(std::uint32_t ranks, std::uint32_t least) : ranks_(ranks), least_(least) {
  MILLRACE_CHECK(least >= 1 && least <= ranks, "a world has a rank, and no more than there are");
  for (std::uint32_t rank = 0; rank < ranks; ++rank) awaited_.insert(rank);
}

void WorldTable::asked(std::uint32_t rank) {
  MILLRACE_CHECK(rank < ranks_, "there is no such rank");
  asking_.insert(rank);
  if (awaited_.contains(rank)) return;
  changed_ = true;
  newcomer_ = true;
}

void WorldTable::left(std::uint32_t rank) {
  MILLRACE_CHECK(rank < ranks_, "there is no such rank");
  asking_.erase(rank);
  if (epoch_ == kFirst || awaited_.erase(rank) == 0) return;
  changed_ = true;
  leaving_.insert(rank);
}

void WorldTable::lost(std::uint32_t rank) {
  left(rank);
  leaving_.erase(rank);
}

void WorldTable::ended(const JobMember& member, bool well) {
  lost(member.rank);
  awaited_.erase(member.rank);
  over_.push_back(member);
  if (well) ++done_;
}

std::optional<World> WorldTable::take_next() {
  if (asking_.empty() || asking_.size() + done_ < least_ ||
      !std::ranges::includes(asking_, awaited_))
    return std::nullopt;
  // Those who would join may come too late: the last ones to leave say so when they end (JW-4).
  if (awaited_.empty() && !leaving_.empty()) return std::nullopt;
  World world{.epoch = epoch_++,
              .ranks = {asking_.begin(), asking_.end()},
              .changed = std::exchange(changed_, false)};
  awaited_ = std::exchange(asking_, {});
  newcomer_ = false;
  return world;
}

std::optional<WorldTable::Refusal> WorldTable::take_refusal() {
  if (over_.empty()) return std::nullopt;
  const std::string last = to_string(over_.back());
  std::set<std::uint32_t> refused;
  Error why(ErrorCode::kUnavailable, "");
  if (ranks_ - over_.size() + done_ < least_) {
    refused = asking_;
    why = Error(ErrorCode::kUnavailable,
                "the ranks of the job meet no more: " + last +
                    " has ended for good, and at least " + std::to_string(least_) + " of " +
                    std::to_string(ranks_) + " ranks work together (launch --min)");
  } else if (done_ > 0 && epoch_ > kFirst && awaited_.empty()) {
    refused = asking_;
    why = Error(ErrorCode::kUnavailable, "this rank comes too late: " + last + " has done its work")
              .with_detail(WorkDone());
  }
  if (refused.empty()) return std::nullopt;
  for (const std::uint32_t rank : refused) asking_.erase(rank);
  newcomer_ = false;
  return Refusal{std::move(refused), why};
}

bool WorldTable::take_newcomer() { return std::exchange(newcomer_, false); }

}  // namespace millrace::net
