// Matcher: whether all ranks of a process ask the same of their group. Pure. The n-th call of a
// rank meets the n-th of the others (sequence numbers).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/collective_call.h"
#include "millrace/collectives/rank.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/pool.h"

namespace millrace::collectives {

// Invariants:
//  - MA-1 each (rank, sequence) gets exactly one answer: matched with all, or one error.
//  - MA-2 all ranks of a sequence get the same outcome, however late they call, save for MA-3.
//  - MA-3 an entry is erased once every rank has called. Of the entries that have ended in an
//    error and that a rank has yet to call, the kRemembered highest are kept; a rank that calls a
//    lower one learns only that it has ended. So a rank that never calls again costs a bounded
//    amount, and one that comes back does not wait for ranks that have gone on.
// Owned by the group's actor. Thread-safety: external.
class Matcher {
 public:
  enum class Verdict : std::uint8_t {
    kWaiting,  // others have not called yet
    kMatched,  // this was the last rank, all agree
    kFailed,   // the sequence ends in error(): for every rank that has called, this one included
    kLate,     // the sequence had ended in error() before: for this rank only
  };
  struct Answer {
    Verdict verdict;
    std::optional<Error> error;
  };

  static constexpr std::size_t kRemembered = 1024;

  // size: how many ranks there are, from `first` on.
  Matcher(std::string group, int size, Rank first = Rank{0})
      : group_(std::move(group)), size_(size), first_(first) {}

  // A call that is not valid ends its sequence: the error names the rank and the reason.
  Answer call(Rank rank, std::uint64_t sequence, const CollectiveCall& call,
              const Status& valid = {});
  // Ends a waiting sequence for the ranks that have called and those still to come.
  void end(std::uint64_t sequence, Error error);
  // The same of one that no rank may have called yet; it has not been matched.
  void end_early(std::uint64_t sequence, Error error);
  std::size_t open() const { return entries_.size(); }

 private:
  struct Entry {
    CollectiveCall first;
    Rank first_rank{};
    PooledVector<bool> called;  // by rank, from first_ on
    int count = 0;
    std::optional<Error> ended;
  };

  using Entries = std::map<std::uint64_t, Entry, std::less<>,
                           PoolAllocator<std::pair<const std::uint64_t, Entry>>>;

  void finish(Entry& entry, Error error);
  void erase_oldest();

  Entry& entry_of(std::uint64_t sequence);
  std::size_t place(Rank rank) const { return at(rank) - at(first_); }

  std::string group_;
  int size_;
  Rank first_;
  Entries entries_;
  std::size_t ended_ = 0;           // entries that have ended in an error
  std::uint64_t erased_below_ = 0;  // what is lower and has no entry may have ended
};

}  // namespace millrace::collectives
