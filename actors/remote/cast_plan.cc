#include "millrace/actors/remote/cast_plan.h"

#include <algorithm>
#include <limits>

#include "millrace/core/base/check.h"

namespace millrace::actors {
namespace {

std::size_t parts_of(std::size_t members, std::size_t each) { return (members + each - 1) / each; }

void split(CastPart all, std::size_t each, std::vector<CastPart>& into) {
  for (std::size_t from = all.begin; from < all.end; from += each)
    into.push_back({from, std::min(all.end, from + each)});
}

}  // namespace

std::vector<CastPart> split_cast(CastPart all, std::optional<std::size_t> own) {
  const CastPart before{all.begin, own.value_or(all.begin)};
  const CastPart after{own ? *own + 1 : all.begin, all.end};
  const std::size_t left = before.end - before.begin, right = after.end - after.begin;
  std::size_t each = std::max<std::size_t>(1, parts_of(left + right, kCastRadix));
  while (parts_of(left, each) + parts_of(right, each) > kCastRadix) ++each;
  std::vector<CastPart> parts;
  split(before, each, parts);
  split(after, each, parts);
  return parts;
}

CastRanks CastRanks::all(std::uint32_t size) {
  CastRanks ranks;
  ranks.add({0, size});
  return ranks;
}

CastRanks CastRanks::of(std::vector<std::uint32_t> listed) {
  std::ranges::sort(listed);
  CastRanks ranks;
  for (const std::uint32_t rank : listed) {
    if (!ranks.runs_.empty()) {
      RankRun& last = ranks.runs_.back();
      if (rank < last.first + last.count) continue;
      if (rank == last.first + last.count) {
        ++last.count;
        ++ranks.size_;
        continue;
      }
    }
    ranks.add({rank, 1});
  }
  return ranks;
}

std::optional<CastRanks> CastRanks::of_runs(std::vector<RankRun> runs, std::uint32_t size) {
  CastRanks ranks;
  std::uint64_t next = 0;  // the lowest rank that may follow
  for (const RankRun& run : runs) {
    const std::uint64_t end = std::uint64_t{run.first} + run.count;
    if (run.count == 0 || run.first < next || end > size) return std::nullopt;
    ranks.add(run);
    next = end + 1;
  }
  return ranks;
}

void CastRanks::add(RankRun run) {
  if (run.count == 0) return;
  runs_.push_back(run);
  size_ += run.count;
}

std::uint32_t CastRanks::at(std::size_t position) const {
  for (const RankRun& run : runs_) {
    if (position < run.count) return run.first + static_cast<std::uint32_t>(position);
    position -= run.count;
  }
  MILLRACE_CHECK(false, "a cast has no such position");
  return 0;
}

std::optional<std::size_t> CastRanks::find(std::uint32_t rank) const {
  std::size_t before = 0;
  for (const RankRun& run : runs_) {
    if (rank >= run.first && rank - run.first < run.count) return before + (rank - run.first);
    before += run.count;
  }
  return std::nullopt;
}

CastRanks CastRanks::part(CastPart part) const {
  CastRanks ranks;
  std::size_t before = 0;
  for (const RankRun& run : runs_) {
    const std::size_t from = std::max(part.begin, before),
                      to = std::min(part.end, before + run.count);
    if (from < to)
      ranks.add({run.first + static_cast<std::uint32_t>(from - before),
                 static_cast<std::uint32_t>(to - from)});
    before += run.count;
  }
  return ranks;
}

}  // namespace millrace::actors
