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
  if (epoch_ > 0 && awaited_.erase(rank) > 0) changed_ = true;
}

void WorldTable::ended(const JobMember& member) {
  left(member.rank);
  awaited_.erase(member.rank);
  over_.push_back(member);
}

std::optional<World> WorldTable::take_next() {
  if (asking_.size() < least_ || !std::ranges::includes(asking_, awaited_)) return std::nullopt;
  World world{.epoch = epoch_++,
              .ranks = {asking_.begin(), asking_.end()},
              .changed = std::exchange(changed_, false)};
  awaited_ = std::exchange(asking_, {});
  newcomer_ = false;
  return world;
}

std::optional<Error> WorldTable::refusal() const {
  if (over_.empty() || ranks_ - over_.size() >= least_) return std::nullopt;
  return Error(ErrorCode::kUnavailable,
               "the ranks of the job meet no more: " + to_string(over_.back()) +
                   " has ended for good, and at least " + std::to_string(least_) + " of " +
                   std::to_string(ranks_) + " ranks work together (launch --min)");
}

bool WorldTable::take_newcomer() { return std::exchange(newcomer_, false); }

}  // namespace millrace::net
