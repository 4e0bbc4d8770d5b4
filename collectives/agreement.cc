#include "millrace/collectives/agreement.h"

#include <algorithm>
#include <span>

#include "millrace/collectives/collective_call.h"
#include "millrace/core/base/check.h"

namespace millrace::collectives {
namespace {

using Kind = AgreementMessage::Kind;

std::int64_t combine(AgreeOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case AgreeOp::kMin:
      return std::min(a, b);
    case AgreeOp::kMax:
      return std::max(a, b);
    case AgreeOp::kAnd:
      return a & b;
    case AgreeOp::kSum:
      break;
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// What a rank called, in the words of an error.
std::string words_of(AgreeOp op, const std::string& words) {
  return "agree(" + std::string(to_string(op)) + ") on " + words;
}

}  // namespace

std::string_view to_string(AgreeOp op) {
  constexpr std::string_view kWords[] = {"min", "max", "and", "sum"};
  return kWords[static_cast<std::size_t>(op)];
}

void Agreement::move(Entry& entry, State to) {
  const bool allowed = entry.state == State::kCollecting
                           ? to != State::kCollecting
                           : entry.state == State::kReported && to == State::kOver;
  MILLRACE_CHECK(allowed, "an agreement goes from collecting to reported to over");
  entry.state = to;
}

std::string Agreement::where(std::uint64_t sequence) const {
  return "agreement " + std::to_string(sequence) + " of group '" + group_ + "'";
}

Status Agreement::call(std::uint64_t sequence, AgreementCall call, Actions& actions) {
  if (failed_) {
    actions.done.emplace_back(sequence, std::unexpected(*failed_));
    return {};
  }
  if (sequence >= all_over_below_ + kMostOpen) {
    return fail(ErrorCode::kResourceExhausted,
                where(sequence) + ": " + std::to_string(all_over_below_) +
                    " is still open, and at most " + std::to_string(kMostOpen) +
                    " may be; await earlier ones");
  }
  if (is_over(sequence) || (entries_.contains(sequence) && entries_.at(sequence).own)) {
    return fail(ErrorCode::kAlreadyExists,
                where(sequence) + ": " + to_string(self_) + " has called it already");
  }
  const auto entry = entries_.try_emplace(sequence).first;
  entry->second.own = std::move(call);
  entry->second.waits = true;
  advance(entry, actions);
  return {};
}

Status Agreement::check_sender(Rank from, const AgreementMessage& message) const {
  const auto parent = tree_parent(index(self_));
  const TreeChildren below = children();
  const auto refuse = [&](const char* why) {
    return fail(ErrorCode::kInvalidArgument, where(message.sequence) + ": a message of " +
                                                 to_string(from) + " to " + to_string(self_) +
                                                 " is refused: " + why);
  };
  if (message.sequence >= all_over_below_ + kMostOpen) return refuse("its number is too high");
  const auto entry = entries_.find(message.sequence);
  if (message.kind == Kind::kDown) {
    if (!parent || from != Rank{*parent}) return refuse("only the parent sends the result");
    if (entry == entries_.end() || entry->second.state != State::kReported)
      return refuse("there can be no result yet");
    return {};
  }
  const int child = index(from) - below.first;
  if (below.count == 0 || child < 0 || child >= below.count) return refuse("it is no child");
  if (entry != entries_.end() && entry->second.children[static_cast<std::size_t>(child)])
    return refuse("it has sent this before");
  return {};
}

Status Agreement::receive(Rank from, AgreementMessage message, Actions& actions) {
  if (message.epoch != epoch_ || is_over(message.sequence) || failed_) {
    ++stale_;
    return {};
  }
  MILLRACE_TRY_STATUS(check_sender(from, message));
  const auto entry = entries_.try_emplace(message.sequence).first;
  if (message.kind == Kind::kDown) {
    take_result(entry, std::move(message), actions);
    return {};
  }
  const auto child = static_cast<std::size_t>(index(from) - children().first);
  entry->second.children[child] = std::move(message);
  advance(entry, actions);
  return {};
}

// Once this rank and all below it have called.
void Agreement::advance(Entries::iterator entry, Actions& actions) {
  Entry& e = entry->second;
  const auto count = static_cast<std::size_t>(children().count);
  const auto heard = std::span(e.children).first(count);
  if (!e.own || !std::ranges::all_of(heard, [](const auto& child) { return child.has_value(); }))
    return;
  AgreementMessage all = reduced(*entry);
  const auto parent = tree_parent(index(self_));
  if (!parent) return take_result(entry, std::move(all), actions);
  move(e, State::kReported);
  for (auto& child : e.children) child.reset();
  actions.sends.emplace_back(Rank{*parent}, std::move(all));
}

AgreementMessage Agreement::reduced(const Entries::value_type& entry) const {  // AG-2
  const AgreementCall& own = *entry.second.own;
  AgreementMessage all;
  all.kind = Kind::kUp;
  all.epoch = epoch_;
  all.sequence = entry.first;
  all.op = own.op;
  all.value = own.value;
  all.fingerprint = own.fingerprint;
  all.words = own.words;
  const TreeChildren below = children();
  for (int c = 0; c < below.count && !all.difference; ++c) {
    const AgreementMessage& child = *entry.second.children[static_cast<std::size_t>(c)];
    if (child.difference) {
      all.difference = child.difference;
    } else if (child.op != own.op || child.fingerprint != own.fingerprint) {
      all.difference = {self_, words_of(own.op, own.words), Rank{below.first + c},
                        words_of(child.op, child.words)};
    }
    all.value = combine(own.op, all.value, child.value);
  }
  return all;
}

void Agreement::take_result(Entries::iterator entry, AgreementMessage result, Actions& actions) {
  const std::uint64_t sequence = entry->first;
  result.kind = Kind::kDown;
  const TreeChildren below = children();
  for (int c = below.first; c < below.first + below.count; ++c)
    actions.sends.emplace_back(Rank{c}, result);
  if (entry->second.waits) {
    Result<std::int64_t> value = result.value;
    if (const auto& d = result.difference)
      value = std::unexpected(
          difference_error(where(sequence), d->one, d->words, d->other, d->other_words));
    actions.done.emplace_back(sequence, std::move(value));
  }
  move(entry->second, State::kOver);
  entries_.erase(entry);
  over_.insert(sequence);
  while (!over_.empty() && *over_.begin() == all_over_below_) {
    over_.erase(over_.begin());
    ++all_over_below_;
  }
}

void Agreement::expire(std::uint64_t sequence, const std::string& reason, Actions& actions) {
  const auto entry = entries_.find(sequence);
  if (entry == entries_.end() || !entry->second.waits) return;
  entry->second.waits = false;
  std::vector<Rank> silent;
  const TreeChildren below = children();
  for (int c = 0; entry->second.state == State::kCollecting && c < below.count; ++c) {
    if (!entry->second.children[static_cast<std::size_t>(c)])
      silent.push_back(Rank{below.first + c});
  }
  const AgreementCall& own = *entry->second.own;
  std::string text =
      where(sequence) + ", " + words_of(own.op, own.words) + ", was not complete " + reason + ": ";
  text += silent.empty() ? "all below " + to_string(self_) + " have called it, others have not"
                         : to_string(silent) + ", or ranks below, have not called it";
  actions.done.emplace_back(
      sequence, std::unexpected(Error(ErrorCode::kDeadlineExceeded, std::move(text))
                                    .with_detail(Culprits{Culprits::Kind::kMissing, silent})));
}

void Agreement::fail_all(const Error& error, Actions& actions) {
  if (failed_) return;
  failed_ = error;
  for (const auto& [sequence, entry] : entries_) {
    if (entry.waits)
      actions.done.emplace_back(sequence, std::unexpected(error.with_context(where(sequence))));
  }
  entries_.clear();
}

}  // namespace millrace::collectives
