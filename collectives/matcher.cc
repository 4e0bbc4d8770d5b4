#include "millrace/collectives/matcher.h"

#include <algorithm>

namespace millrace::collectives {

Matcher::Answer Matcher::call(Rank rank, std::uint64_t sequence, const CollectiveCall& call,
                              const Status& valid) {
  const auto where = [&] {
    return "collective " + std::to_string(sequence) + " of group '" + group_ + "'";
  };
  if (sequence < erased_below_ && !entries_.contains(sequence)) {
    return {Verdict::kLate,
            Error(ErrorCode::kAborted, where() + ": it has ended in an error, and " +
                                           std::to_string(kRemembered) + " later ones since; " +
                                           to_string(rank) + " comes too late to hear which")};
  }
  Entry& entry = entry_of(sequence);
  if (entry.count == 0) {
    entry.first = call;
    entry.first_rank = rank;
  }
  if (entry.called[place(rank)]) {
    return {Verdict::kLate, Error(ErrorCode::kAlreadyExists,
                                  where() + ": " + to_string(rank) + " has called it already")};
  }
  entry.called[place(rank)] = true;
  const bool last = ++entry.count == size_;
  Answer answer{Verdict::kWaiting, std::nullopt};
  if (entry.ended) {
    answer = {Verdict::kLate, entry.ended};
  } else if (!valid) {
    const Error error = valid.error().with_context(where() + ": " + to_string(rank) + " called " +
                                                   call.to_string());
    finish(entry, error.with_detail(Culprits{Culprits::Kind::kInvalid, {rank}}));
    answer = {Verdict::kFailed, entry.ended};
  } else if (!(entry.first == call)) {
    finish(entry, difference_error(where(), entry.first_rank, entry.first.to_string(), rank,
                                   call.to_string()));
    answer = {Verdict::kFailed, entry.ended};
  } else if (last) {
    answer = {Verdict::kMatched, std::nullopt};
  }
  if (last) {  // MA-3
    if (entry.ended) --ended_;
    entries_.erase(sequence);
  }
  if (ended_ > kRemembered) erase_oldest();
  return answer;
}

Matcher::Entry& Matcher::entry_of(std::uint64_t sequence) {
  const auto [place, fresh] = entries_.try_emplace(sequence);
  if (fresh) place->second.called.resize(static_cast<std::size_t>(size_));
  return place->second;
}

void Matcher::end_early(std::uint64_t sequence, Error error) {
  if (sequence < erased_below_) return;
  entry_of(sequence);
  end(sequence, std::move(error));
}

void Matcher::end(std::uint64_t sequence, Error error) {
  const auto at = entries_.find(sequence);
  if (at == entries_.end() || at->second.ended) return;
  finish(at->second, std::move(error));
  if (ended_ > kRemembered) erase_oldest();
}

void Matcher::finish(Entry& entry, Error error) {
  entry.ended = std::move(error);
  ++ended_;
}

void Matcher::erase_oldest() {
  auto at = entries_.begin();
  while (!at->second.ended) ++at;
  erased_below_ = std::max(erased_below_, at->first + 1);
  entries_.erase(at);
  --ended_;
}

}  // namespace millrace::collectives
