// Agreement: the small agreements of one rank with the others: a number of each is reduced on its
// way up a tree of radix 8 (tree.h), and the result comes down. Pure: calls and messages go in,
// messages and results come out. A group has one per rank and epoch. Read next: wire.h.
//
//  - AG-1 each call completes once: with what the root decided, which is the same for all ranks,
//    or before that by expire() or fail_all(). Its number counts all the same.
//  - AG-2 a rank folds its own number, then its children's in their order. Of several differences
//    all ranks get the one that this order meets first.
//  - AG-3 a rank sends at most nine messages for an agreement, and gets at most nine.
//  - AG-4 a message of another epoch, or about an agreement that is over, changes nothing and is
//    counted. One that its sender has no business to send is an error, and changes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/collectives/rank.h"
#include "millrace/collectives/tree.h"
#include "millrace/core/base/error.h"

namespace millrace::collectives {

enum class AgreeOp : std::uint8_t { kMin, kMax, kAnd, kSum };  // kAnd: of bits; kSum wraps
std::string_view to_string(AgreeOp op);

// What a rank says. All ranks of a number must say the same, but for the value.
struct AgreementCall {
  AgreeOp op = AgreeOp::kMin;
  std::int64_t value = 0;
  std::uint64_t fingerprint = 0;  // of what the agreement is about: fingerprint.h
  std::string words = {};         // the same for a reader: "all_reduce(sum, tensor<f32>)"
};

// Two calls that are not the same.
struct AgreementDifference {
  Rank one{};
  std::string words = {};
  Rank other{};
  std::string other_words = {};
  bool operator==(const AgreementDifference&) const = default;
};

// Plain data: wire.h encodes it.
struct AgreementMessage {
  enum class Kind : std::uint8_t {
    kUp,    // to the parent: all of this part of the tree, reduced
    kDown,  // to a child: the result
  };
  Kind kind{};
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;
  AgreeOp op{};
  std::int64_t value = 0;
  std::uint64_t fingerprint = 0;
  std::string words = {};  // of the sender's call
  std::optional<AgreementDifference> difference = {};
};

// Thread-safety: external.
class Agreement {
 public:
  struct Actions {
    std::vector<std::pair<Rank, AgreementMessage>> sends = {};
    std::vector<std::pair<std::uint64_t, Result<std::int64_t>>> done = {};
  };

  // Numbers that may be open at once, of calls and of others' messages.
  static constexpr std::uint64_t kMostOpen = 1024;

  Agreement(std::string group, Rank self, int size, std::uint32_t epoch)
      : group_(std::move(group)), self_(self), size_(size), epoch_(epoch) {}

  // The sequence-th agreement of this rank, from 0 on. kAlreadyExists for a number that this rank
  // has called, kResourceExhausted for one kMostOpen after the first that is open. done: the value;
  // kFailedPrecondition, with Culprits, for a difference.
  Status call(std::uint64_t sequence, AgreementCall call, Actions& actions);
  // kInvalidArgument: the sender breaks the protocol.
  Status receive(Rank from, AgreementMessage message, Actions& actions);
  // The deadline of a call has passed: its wait ends, what it said stands. reason: "within 5 s".
  void expire(std::uint64_t sequence, const std::string& reason, Actions& actions);
  // Ends all calls, and later ones, with this error.
  void fail_all(const Error& error, Actions& actions);

  // Messages that changed nothing.
  std::uint64_t stale() const { return stale_; }
  std::size_t open() const { return entries_.size(); }

 private:
  enum class State : std::uint8_t {
    kCollecting,  // own call or children are missing -> kReported | kOver (the root)
    kReported,    // the parent has all of this part -> kOver
    kOver,        // final
  };
  struct Entry {
    State state = State::kCollecting;
    std::optional<AgreementCall> own;
    bool waits = false;  // the caller
    std::array<std::optional<AgreementMessage>, kTreeRadix> children;
  };
  using Entries = std::map<std::uint64_t, Entry>;

  static void move(Entry& entry, State to);
  bool is_over(std::uint64_t sequence) const {
    return sequence < all_over_below_ || over_.contains(sequence);
  }
  TreeChildren children() const { return tree_children(index(self_), size_); }
  std::string where(std::uint64_t sequence) const;
  Status check_sender(Rank from, const AgreementMessage& message) const;
  void advance(Entries::iterator entry, Actions& actions);
  AgreementMessage reduced(const Entries::value_type& entry) const;
  void take_result(Entries::iterator entry, AgreementMessage result, Actions& actions);

  const std::string group_;
  const Rank self_;
  const int size_;
  const std::uint32_t epoch_;
  Entries entries_;
  std::set<std::uint64_t> over_;  // fewer than kMostOpen
  std::uint64_t all_over_below_ = 0;
  std::uint64_t stale_ = 0;
  std::optional<Error> failed_;
};

}  // namespace millrace::collectives
