// MemberTable: which ranks of a job have joined it, and which of them have been silent for too
// long. Pure: events and the time go in. Read next: job_host.h.
//
//  - JM-1 a rank has one process at a time; a second one is refused, and its error names the first.
//  - JM-2 what has said goodbye is neither suspect nor silent, whatever comes after.
//  - JM-3 no rank is silent by a time in which the host itself did not look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/core/net/job_frames.h"

namespace millrace::net {

enum class MemberState : std::uint8_t {
  kAbsent,   // not yet, or no more: -> kJoined
  kJoined,   // -> kSuspect, kLost, kAbsent
  kSuspect,  // has been silent for half the time -> kJoined, kLost, kSilent, kAbsent
  kLost,     // its connection ended without a goodbye -> kSilent, kJoined (anew), kAbsent
  kSilent,   // reported once -> kAbsent (its process has ended)
};

// Thread-safety: external. Ranks are below the number of ranks (CHECKed, but for join()).
class MemberTable {
 public:
  // silent_after: 0: no rank is ever silent.
  MemberTable(std::uint32_t ranks, Duration silent_after, TimePoint now);

  // kAlreadyExists with a JobMember; kInvalidArgument: another number of ranks, no such rank. A
  // process that is in may join again, by one more connection.
  Status join(const JoinRequest& request, TimePoint now);
  // A sign of life.
  void heard(std::uint32_t rank, TimePoint now);
  // A connection of that process has ended. True: it was lost.
  bool left(std::uint32_t rank, const Incarnation& incarnation, bool goodbye);
  // The process of the rank has ended.
  void ended(std::uint32_t rank);

  struct Found {
    std::vector<std::uint32_t> suspect = {};
    std::vector<std::uint32_t> silent = {};
  };
  // What the time has brought; each once. To be called every tick().
  Found look(TimePoint now);
  // Between two looks, and between two signs of life; 0: neither is needed.
  Duration tick() const { return tick_; }

  MemberState state(std::uint32_t rank) const { return at(rank).state; }
  // CHECKed: not kAbsent.
  const JobMember& member(std::uint32_t rank) const;
  static bool may_move(MemberState from, MemberState to);

 private:
  struct Seat {
    MemberState state = MemberState::kAbsent;
    JobMember member = {};
    Incarnation incarnation = {};
    std::size_t connections = 0;
    TimePoint heard = {};
  };

  const Seat& at(std::uint32_t rank) const;
  Seat& at(std::uint32_t rank);
  static void move(Seat& seat, MemberState to);

  std::vector<Seat> seats_;
  const Duration silent_after_;
  const Duration tick_;
  TimePoint looked_;
};

}  // namespace millrace::net
