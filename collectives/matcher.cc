#include "millrace/collectives/matcher.h"

#include <algorithm>

namespace millrace::collectives {

std::string CollectiveCall::to_string() const {
  constexpr const char* kNames[] = {"all_reduce(", "all_gather(", "broadcast(", "barrier("};
  std::string text = kNames[static_cast<std::size_t>(kind)];
  if (kind == Kind::kAllReduce) text += millrace::collectives::to_string(op);
  if (kind == Kind::kBroadcast) text += "root " + std::to_string(index(root));
  constexpr std::size_t kListed = 4;
  for (std::size_t i = 0; i < shapes.size() && i < kListed; ++i) {
    if (text.back() != '(') text += ", ";
    text += shapes[i].to_string();
  }
  if (shapes.size() > kListed) text += ", ... " + std::to_string(shapes.size()) + " arrays";
  return text + ")";
}

Status check_call(const CollectiveCall& call, Rank caller, bool has_arrays, int size) {
  using Kind = CollectiveCall::Kind;
  for (std::size_t i = 0; i < call.shapes.size(); ++i) {
    if (call.shapes[i].dtype() != devices::DType::kInvalid) continue;
    return fail(ErrorCode::kInvalidArgument,
                "array " + std::to_string(i) +
                    (has_arrays ? " is an empty Buffer" : " has a Shape of no element type"));
  }
  if (call.kind == Kind::kAllReduce) {
    for (const devices::Shape& shape : call.shapes)
      MILLRACE_TRY_STATUS(check_reducible(call.op, shape.dtype()));
  }
  if (call.kind != Kind::kBroadcast) return {};
  if (index(call.root) < 0 || index(call.root) >= size) {
    return fail(ErrorCode::kInvalidArgument, "there is no " +
                                                 millrace::collectives::to_string(call.root) +
                                                 ", the group has " + std::to_string(size));
  }
  if (caller == call.root && !has_arrays && !call.shapes.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "the root gives shapes but no arrays; only the others may receive without arrays");
  }
  return {};
}

Matcher::Answer Matcher::call(Rank rank, std::uint64_t sequence, const CollectiveCall& call,
                              const Status& valid) {
  const auto where = [&] {
    return "collective " + std::to_string(sequence) + " of group '" + group_ + "': ";
  };
  if (sequence < erased_below_ && !entries_.contains(sequence)) {
    return {Verdict::kLate,
            Error(ErrorCode::kAborted, where() + "it has ended in an error, and " +
                                           std::to_string(kRemembered) + " later ones since; " +
                                           to_string(rank) + " comes too late to hear which")};
  }
  auto [place, fresh] = entries_.try_emplace(sequence);
  Entry& entry = place->second;
  if (fresh) {
    entry.first = call;
    entry.first_rank = rank;
    entry.called.resize(static_cast<std::size_t>(size_));
  }
  if (entry.called[at(rank)]) {
    return {Verdict::kLate,
            Error(ErrorCode::kAlreadyExists, where() + to_string(rank) + " has called it already")};
  }
  entry.called[at(rank)] = true;
  const bool last = ++entry.count == size_;
  Answer answer{Verdict::kWaiting, std::nullopt};
  if (entry.ended) {
    answer = {Verdict::kLate, entry.ended};
  } else if (!valid) {
    const Error error =
        valid.error().with_context(where() + to_string(rank) + " called " + call.to_string());
    finish(entry, error.with_detail(Culprits{Culprits::Kind::kInvalid, {rank}}));
    answer = {Verdict::kFailed, entry.ended};
  } else if (!(entry.first == call)) {
    Error error(ErrorCode::kFailedPrecondition,
                where() + to_string(entry.first_rank) + " called " + entry.first.to_string() +
                    ", " + to_string(rank) + " called " + call.to_string() +
                    "; all ranks must make the same calls in the same order");
    finish(entry, error.with_detail(Culprits{Culprits::Kind::kMismatch, {entry.first_rank, rank}}));
    answer = {Verdict::kFailed, entry.ended};
  } else if (last) {
    answer = {Verdict::kMatched, std::nullopt};
  }
  if (last) {  // MA-3
    if (entry.ended) --ended_;
    entries_.erase(place);
  }
  if (ended_ > kRemembered) erase_oldest();
  return answer;
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
