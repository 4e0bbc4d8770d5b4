// RendezvousMachine: the protocol of a rendezvous as one rank sees it, with no threads, actors or
// clock: events go in, messages to other ranks and completions come out. rendezvous.h wraps it into
// an actor; tests run tens of thousands of them against each other.
//
// A rendezvous is named by (tag, subset, generation); the n-th join of a tag on a subset meets the
// n-th join of the others. Payloads travel up a tree over the subset, the outcome down.
//  - RV-1 every join completes once: with all payloads, or one error for all who joined (but RV-5).
//  - RV-2 the root alone decides, once, save for RV-5 and RV-6; a later join gets the decision at
//    once.
//  - RV-3 when a deadline passes, the root asks who has joined, so the error names all others.
//  - RV-4 a failed rank fails every rendezvous that it belongs to, pending or later.
//  - RV-5 each rank does RV-4 by itself as soon as it learns of the failure, for the failed one may
//    be the root or between the two. The news may overtake what the root had decided before, so
//    then a join gets either the root's decision or an error that names a failed rank; some may
//    have the payloads and others the error. Who must agree on the outcome all the same meets again
//    without the failed rank.
//  - RV-6 a rank that leaves ends each rendezvous that still needs a message of it, by its name: it
//    has said all that it will. Its parent in the tree says so upward, its children end their
//    parts. What it had given its part in before it left stays complete. Where several have left,
//    the error names the one that this rank, or one below it, has heard of first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/rank.h"
#include "millrace/core/base/error.h"

namespace millrace::collectives {

// The ranks of a rendezvous: sorted, without duplicates, hashed once; its messages share it.
class RankSet {
 public:
  explicit RankSet(std::vector<Rank> ranks);
  const std::vector<Rank>& ranks() const { return ranks_; }
  std::uint64_t hash() const { return hash_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  bool contains(Rank rank) const;
  Rank operator[](int position) const { return ranks_[static_cast<std::size_t>(position)]; }

 private:
  std::vector<Rank> ranks_;
  std::uint64_t hash_;
};
using Subset = std::shared_ptr<const RankSet>;
// By position in the subset.
using Payloads = std::shared_ptr<const std::vector<std::string>>;

struct RendezvousKey {
  std::string tag;
  std::uint64_t subset_hash = 0;
  std::uint64_t generation = 0;
  auto operator<=>(const RendezvousKey&) const = default;
};

// Plain data: wire.h encodes it for other processes.
struct RendezvousMessage {
  enum class Kind : std::uint8_t {
    kUp,       // to the parent: my part of the tree has joined, with these payloads, or cannot
    kOutcome,  // to a child: payloads, or the error that ended it
    kExpired,  // to the root: a deadline has passed here
    kQuery,    // to a child: who in your part has joined?
    kAnswer,   // to the parent: these
  };
  struct Entry {
    int position;
    std::string payload;
  };
  Kind kind{};
  RendezvousKey key;
  Subset subset;
  int position = 0;            // kUp: of the sender
  std::vector<Entry> entries;  // kUp, success
  std::vector<int> joined;     // kAnswer: positions
  Payloads payloads;           // kOutcome, success
  std::optional<Error> error;  // kUp and kOutcome, failure
  std::string reason;          // kExpired: words for the error

  std::size_t bytes() const;
};

// Thread-safety: external.
class RendezvousMachine {
 public:
  struct Actions {
    std::vector<std::pair<Rank, RendezvousMessage>> sends;
    std::vector<std::pair<RendezvousKey, Result<Payloads>>> done;
    std::vector<Rank> awaited;  // by a join: who is to report to this rank
  };

  explicit RendezvousMachine(Rank self) : self_(self) {}

  // Joins the next rendezvous of tag on subset, which contains this rank. Its name is the key.
  RendezvousKey join(const std::string& tag, const Subset& subset, std::string payload,
                     Actions& actions);
  void receive(RendezvousMessage message, Actions& actions);
  // The deadline of a join of this rank has passed; the error has reason ("no answer within 5 s").
  void expire(const RendezvousKey& key, std::string reason, Actions& actions);
  void rank_failed(Rank rank, const Error& error, Actions& actions);
  // All that the rank has sent to this one has been received, and nothing more will come.
  void rank_left(Rank rank, const Error& error, Actions& actions);

  // Rendezvous that this rank still knows something about; 0 when all is quiet.
  std::size_t open() const { return meetings_.size(); }

 private:
  struct Meeting {
    Subset subset;
    int position = 0;
    bool joined = false;
    std::vector<int> awaited;     // positions of the children that have not reported
    std::optional<Error> broken;  // why this part cannot be complete, as the parent knows
    std::vector<RendezvousMessage::Entry> entries;
    bool expired = false;  // at the root: the query is under way
    int answers_missing = 0;
    std::vector<int> answered;
    std::string reason;
    std::optional<Result<Payloads>> outcome;
  };
  using Meetings = std::map<RendezvousKey, Meeting>;

  Meetings::iterator find_or_open(const RendezvousKey& key, const Subset& subset);
  void advance(Meetings::iterator meeting, Actions& actions);
  void break_off(Meetings::iterator meeting, const Error& error, Actions& actions);
  void end_without_left(const RendezvousKey& key, Actions& actions);
  void start_query(Meetings::iterator meeting, Actions& actions);
  void finish_query(Meetings::iterator meeting, Actions& actions);
  void decide(Meetings::iterator meeting, Result<Payloads> outcome, Actions& actions);
  void cast(const Meetings::iterator& meeting, const RendezvousMessage& message,
            Actions& actions) const;
  std::optional<Error> failure_in(const Subset& subset) const;

  Rank self_;
  Meetings meetings_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> next_generation_;
  std::map<Rank, Error> failed_;
  struct Left {
    std::size_t order = 0;  // in which it was heard
    Error error;
  };
  std::map<Rank, Left> left_;
};

}  // namespace millrace::collectives
