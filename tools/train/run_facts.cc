#include "millrace/tools/train/run_facts.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "millrace/collectives/fingerprint.h"
#include "millrace/core/net/wire_bytes.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace::train {
namespace {

using collectives::Culprits;
using collectives::Payloads;
using collectives::ProcessGroup;
using collectives::Rank;

constexpr std::uint64_t kMostFacts = 256;
constexpr std::size_t kMostBytes = 16 << 10;  // of a word: a path has 4 KiB at most

void add(collectives::Fingerprint& sum, const std::string& text) {
  sum.add(text.size());
  for (const char byte : text) sum.add_bytes(static_cast<unsigned char>(byte), 1);
}

std::string at_rank(std::size_t rank) { return " at rank " + std::to_string(rank); }

// What rank `other` has otherwise than rank 0; empty: nothing.
std::string difference(const RunFacts& first, const RunFacts& theirs, std::size_t other) {
  std::string text;
  const auto note = [&](const std::string& words) { text += (text.empty() ? "" : "; ") + words; };
  for (std::size_t i = 0; i < std::max(first.size(), theirs.size()); ++i) {
    if (i >= first.size() || i >= theirs.size() || first[i].what != theirs[i].what) {
      // Programs of other rows say nothing new.
      if (text.empty()) note("they have other kinds of facts, as programs of another version");
      break;
    }
    if (first[i].value == theirs[i].value) continue;
    note(first[i].what + " is " + first[i].value + at_rank(0) + " and " + theirs[i].value +
         at_rank(other));
  }
  return text;
}

Task<Payloads> meet_all(std::vector<ProcessGroup> ranks, std::string tag, std::string payload,
                        CallOptions call) {
  std::vector<Future<Payloads>> meetings;
  for (const ProcessGroup& rank : ranks)
    meetings.push_back(rank.rendezvous(tag, payload, {}, call));
  MILLRACE_AWAIT(const auto answers, all_of(std::move(meetings)));
  co_return answers.front();
}

}  // namespace

std::uint64_t fingerprint(const RunFacts& facts) {
  collectives::Fingerprint sum;
  for (const RunFact& fact : facts) {
    add(sum, fact.what);
    add(sum, fact.value);
  }
  return sum.value();
}

std::string to_payload(const RunFacts& facts) {
  net::WireWriter out;
  out.number(facts.size());
  for (const RunFact& fact : facts) {
    out.text(fact.what);
    out.text(fact.value);
  }
  const net::WireBytes bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<RunFacts> parse_facts(const std::string& payload) {
  net::WireReader in(std::as_bytes(std::span(payload)));
  RunFacts facts(in.count(kMostFacts));
  for (RunFact& fact : facts) {
    fact.what = in.text(kMostBytes);
    fact.value = in.text(kMostBytes);
  }
  MILLRACE_TRY_STATUS(in.end("what a rank says of its training"));
  return facts;
}

Status compare_facts(const std::vector<std::string>& payloads) {
  MILLRACE_TRY(const RunFacts first, parse_facts(payloads.at(0)));
  for (std::size_t rank = 1; rank < payloads.size(); ++rank) {
    if (payloads[rank] == payloads[0]) continue;
    MILLRACE_TRY(const RunFacts theirs, parse_facts(payloads[rank]));
    return std::unexpected(
        Error(ErrorCode::kFailedPrecondition,
              "the ranks do not train the same: " + difference(first, theirs, rank) +
                  ". Start all of them with the same model, data and options")
            .with_detail(Culprits{Culprits::Kind::kMismatch,
                                  {Rank{0}, Rank{static_cast<std::int32_t>(rank)}}}));
  }
  return {};
}

Task<void> meet_facts(std::vector<ProcessGroup> ranks, RunFacts facts, CallOptions call,
                      TimePoint limit) {
  call.deadline = std::min(call.deadline, limit);
  char number[17];
  std::snprintf(number, sizeof number, "%016llx",
                static_cast<unsigned long long>(fingerprint(facts)));  // NOLINT
  MILLRACE_AWAIT(const Payloads numbers, meet_all(ranks, "facts", number, call));
  if (std::ranges::count(*numbers, numbers->front()) == std::ssize(*numbers)) co_return;
  MILLRACE_AWAIT(const Payloads all, meet_all(ranks, "facts in words", to_payload(facts), call));
  MILLRACE_CO_TRY_STATUS(compare_facts(*all));
}

}  // namespace millrace::train
