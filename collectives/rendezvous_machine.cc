#include "millrace/collectives/rendezvous_machine.h"

#include <algorithm>

#include "millrace/collectives/fingerprint.h"
#include "millrace/collectives/tree.h"
#include "millrace/core/base/check.h"

namespace millrace::collectives {
namespace {

using Message = RendezvousMessage;

Message make(Message::Kind kind, const RendezvousKey& key, const Subset& subset) {
  Message message;
  message.kind = kind;
  message.key = key;
  message.subset = subset;
  return message;
}

}  // namespace

RankSet::RankSet(std::vector<Rank> ranks) : ranks_(std::move(ranks)) {
  std::ranges::sort(ranks_);
  ranks_.erase(std::ranges::unique(ranks_).begin(), ranks_.end());
  Fingerprint print;  // distinguishes subsets within a tag
  for (const Rank rank : ranks_) print.add_bytes(static_cast<std::uint32_t>(rank), 4);
  hash_ = print.value();
}

bool RankSet::contains(Rank rank) const { return std::ranges::binary_search(ranks_, rank); }

std::size_t RendezvousMessage::bytes() const {
  std::size_t n = sizeof(*this) + key.tag.size() + joined.size() * sizeof(int);
  for (const Entry& entry : entries) n += sizeof(entry) + entry.payload.size();
  return n;  // subset and payloads are shared
}

RendezvousKey RendezvousMachine::join(const std::string& tag, const Subset& subset,
                                      std::string payload, Actions& actions) {
  const std::uint64_t subset_hash = subset->hash();
  const RendezvousKey key{tag, subset_hash, next_generation_[{tag, subset_hash}]++};
  const auto meeting = find_or_open(key, subset);
  Meeting& m = meeting->second;
  m.joined = true;
  if (!m.outcome) {
    if (auto error = failure_in(subset)) m.outcome = std::unexpected(*std::move(error));
  }
  if (m.outcome) {  // RV-2, RV-5
    actions.done.emplace_back(key, *std::move(m.outcome));
    meetings_.erase(meeting);
    return key;
  }
  m.entries.push_back({m.position, std::move(payload)});
  for (const int child : m.awaited) actions.awaited.push_back((*subset)[child]);
  advance(meeting, actions);
  end_without_left(key, actions);
  return key;
}

RendezvousMachine::Meetings::iterator RendezvousMachine::find_or_open(const RendezvousKey& key,
                                                                      const Subset& subset) {
  const auto [meeting, fresh] = meetings_.try_emplace(key);
  if (fresh) {
    Meeting& m = meeting->second;
    m.subset = subset;
    MILLRACE_CHECK(subset->contains(self_), "a rank joins only subsets that contain it");
    const auto& ranks = subset->ranks();
    m.position = static_cast<int>(std::ranges::lower_bound(ranks, self_) - ranks.begin());
    const TreeChildren children = tree_children(m.position, subset->size());
    for (int c = 0; c < children.count; ++c) m.awaited.push_back(children.first + c);
  }
  return meeting;
}

void RendezvousMachine::receive(RendezvousMessage message, Actions& actions) {
  // A generation that is over has no entry; a late message about it changes nothing.
  const auto next = next_generation_.find({message.key.tag, message.key.subset_hash});
  const bool past = next != next_generation_.end() && message.key.generation < next->second;
  if (past && !meetings_.contains(message.key)) return;
  const auto meeting = find_or_open(message.key, message.subset);
  Meeting& m = meeting->second;
  if (m.outcome) return;
  switch (message.kind) {
    case Message::Kind::kUp:
      if (std::erase(m.awaited, message.position) == 0) return;  // a process that says it twice
      std::ranges::move(message.entries, std::back_inserter(m.entries));
      if (message.error)
        break_off(meeting, *message.error, actions);
      else
        advance(meeting, actions);
      return end_without_left(message.key, actions);
    case Message::Kind::kOutcome:
      if (message.error) return decide(meeting, std::unexpected(*message.error), actions);
      return decide(meeting, message.payloads, actions);
    case Message::Kind::kExpired:
      m.reason = std::move(message.reason);
      return start_query(meeting, actions);
    case Message::Kind::kQuery:
      return start_query(meeting, actions);
    case Message::Kind::kAnswer:
      if (m.answers_missing == 0) return;
      std::ranges::copy(message.joined, std::back_inserter(m.answered));
      if (--m.answers_missing == 0) finish_query(meeting, actions);
      return;
  }
}

// This rank and all below it have joined: report to the parent, or decide at the root.
void RendezvousMachine::advance(Meetings::iterator meeting, Actions& actions) {
  Meeting& m = meeting->second;
  if (!m.joined || !m.awaited.empty() || m.broken) return;
  if (const auto parent = tree_parent(m.position)) {
    Message up = make(Message::Kind::kUp, meeting->first, m.subset);
    up.position = m.position;
    up.entries = std::move(m.entries);
    m.entries.clear();
    actions.sends.emplace_back((*m.subset)[*parent], std::move(up));
    return;
  }
  auto all = std::make_shared<std::vector<std::string>>(m.subset->ranks().size());
  for (Message::Entry& entry : m.entries) {
    (*all)[static_cast<std::size_t>(entry.position)] = std::move(entry.payload);
  }
  decide(meeting, Payloads(std::move(all)), actions);
}

// This rank's part cannot be complete: the parent hears it, or the root decides.
void RendezvousMachine::break_off(Meetings::iterator meeting, const Error& error,
                                  Actions& actions) {
  Meeting& m = meeting->second;
  if (m.broken) return;
  m.broken = error;
  const auto parent = tree_parent(m.position);
  if (!parent) return decide(meeting, std::unexpected(error), actions);
  Message up = make(Message::Kind::kUp, meeting->first, m.subset);
  up.position = m.position;
  up.error = error;
  actions.sends.emplace_back((*m.subset)[*parent], std::move(up));
}

// RV-6: where the meeting is still there.
void RendezvousMachine::end_without_left(const RendezvousKey& key, Actions& actions) {
  const auto meeting = meetings_.find(key);
  if (meeting == meetings_.end() || meeting->second.outcome || left_.empty()) return;
  Meeting& m = meeting->second;
  const Left* first = nullptr;
  const auto has_left = [&](int position) {
    const auto found = left_.find((*m.subset)[position]);
    if (found == left_.end()) return false;
    if (first == nullptr || found->second.order < first->order) first = &found->second;
    return true;
  };
  const auto parent = tree_parent(m.position);
  bool above = parent && has_left(*parent);
  // The root, asked by this rank after a deadline, answers no more.
  if (parent && !m.reason.empty()) above = has_left(0) || above;
  for (const int child : m.awaited) has_left(child);
  if (first == nullptr) return;
  const Error error =
      m.broken ? *m.broken : first->error.with_context("rendezvous '" + meeting->first.tag + "'");
  if (above) return decide(meeting, std::unexpected(error), actions);
  break_off(meeting, error, actions);
}

void RendezvousMachine::expire(const RendezvousKey& key, std::string reason, Actions& actions) {
  const auto meeting = meetings_.find(key);
  if (meeting == meetings_.end() || meeting->second.outcome) return;
  Meeting& m = meeting->second;
  m.reason = std::move(reason);
  if (m.position == 0) return start_query(meeting, actions);
  Message expired = make(Message::Kind::kExpired, key, m.subset);
  expired.reason = m.reason;
  actions.sends.emplace_back((*m.subset)[0], std::move(expired));
  end_without_left(key, actions);
}

// RV-3, at the root and then at every rank that the query reaches.
void RendezvousMachine::start_query(Meetings::iterator meeting, Actions& actions) {
  Meeting& m = meeting->second;
  if (std::exchange(m.expired, true)) return;
  m.answers_missing = tree_children(m.position, m.subset->size()).count;
  if (m.answers_missing == 0) return finish_query(meeting, actions);
  cast(meeting, make(Message::Kind::kQuery, meeting->first, m.subset), actions);
}

void RendezvousMachine::finish_query(Meetings::iterator meeting, Actions& actions) {
  Meeting& m = meeting->second;
  if (m.joined) m.answered.push_back(m.position);
  if (const auto parent = tree_parent(m.position)) {
    Message answer = make(Message::Kind::kAnswer, meeting->first, m.subset);
    answer.joined = std::move(m.answered);
    actions.sends.emplace_back((*m.subset)[*parent], std::move(answer));
    return;
  }
  std::vector<bool> joined(m.subset->ranks().size());
  for (const int position : m.answered) joined[static_cast<std::size_t>(position)] = true;
  std::vector<Rank> missing;
  for (std::size_t p = 0; p < joined.size(); ++p) {
    if (!joined[p]) missing.push_back(m.subset->ranks()[p]);
  }
  if (missing.empty()) return;  // they came while the query ran: their messages decide it
  Error error(ErrorCode::kDeadlineExceeded, "rendezvous '" + meeting->first.tag + "' " + m.reason +
                                                ": " + to_string(missing) + " of " +
                                                std::to_string(m.subset->size()) + " did not join");
  decide(meeting, std::unexpected(error.with_detail(Culprits{Culprits::Kind::kMissing, missing})),
         actions);
}

void RendezvousMachine::decide(Meetings::iterator meeting, Result<Payloads> outcome,
                               Actions& actions) {
  Meeting& m = meeting->second;
  Message message = make(Message::Kind::kOutcome, meeting->first, m.subset);
  if (outcome) {
    message.payloads = *outcome;
  } else {
    message.error = outcome.error();
  }
  cast(meeting, message, actions);
  if (m.joined) {
    actions.done.emplace_back(meeting->first, std::move(outcome));
    meetings_.erase(meeting);
  } else {
    m.outcome = std::move(outcome);  // RV-2: waits for this rank's own join
    m.entries.clear();
  }
}

void RendezvousMachine::cast(const Meetings::iterator& meeting, const RendezvousMessage& message,
                             Actions& actions) const {
  const Meeting& m = meeting->second;
  const TreeChildren children = tree_children(m.position, m.subset->size());
  for (int c = children.first; c < children.first + children.count; ++c) {
    actions.sends.emplace_back((*m.subset)[c], message);
  }
}

std::optional<Error> RendezvousMachine::failure_in(const Subset& subset) const {
  for (const auto& [rank, error] : failed_) {
    if (subset->contains(rank)) return error;
  }
  return std::nullopt;
}

void RendezvousMachine::rank_failed(Rank rank, const Error& error, Actions& actions) {
  const auto named = error.with_context(to_string(rank) + " has failed")
                         .with_detail(Culprits{Culprits::Kind::kFailed, {rank}});
  if (!failed_.emplace(rank, named).second) return;
  for (auto meeting = meetings_.begin(); meeting != meetings_.end();) {
    const auto here = meeting++;                                         // decide may erase it
    if (!here->second.outcome && here->second.subset->contains(rank)) {  // RV-5
      decide(here, std::unexpected(named), actions);
    }
  }
}

void RendezvousMachine::rank_left(Rank rank, const Error& error, Actions& actions) {
  if (!left_.try_emplace(rank, Left{left_.size(), error}).second) return;
  for (auto meeting = meetings_.begin(); meeting != meetings_.end();) {
    const RendezvousKey key = meeting++->first;  // the end may erase it
    end_without_left(key, actions);
  }
}

}  // namespace millrace::collectives
