// WorldTable: when the ranks of a job that goes on after failures work together again, and who they
// are. Pure: events go in. Read next: job_host.h, which has one.
//
//  - JW-1 each rank of a world has asked for it; with those that have done their work they are at
//    least `least`. Its epoch is later than that of the one before.
//  - JW-2 the first waits for each rank that may still come; a later one for each rank of the one
//    before whose process is there. All others that ask by then are in it.
//  - JW-3 no rank waits for a world that cannot come: take_refusal() says so.
//  - JW-4 ranks that have done their work count, so that the others of their world may still meet;
//    where none of that world is left, no rank begins its work again.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/core/net/job_member.h"
#include "millrace/core/net/world.h"

namespace millrace::net {

// Thread-safety: external. Ranks are below the number of ranks (CHECKed).
class WorldTable {
 public:
  // The epoch of the first world: what was lost before it is lost in the epoch before.
  static constexpr std::uint32_t kFirst = World::kFirstOfSeveral;

  WorldTable(std::uint32_t ranks, std::uint32_t least);

  void asked(std::uint32_t rank);
  // It works with the others no more: its process has ended, or has left the job. lost() or ended()
  // says later which.
  void left(std::uint32_t rank);
  // Its process has failed; another one may come.
  void lost(std::uint32_t rank);
  // No other one comes. well: it has done its work.
  void ended(const JobMember& member, bool well);

  // The world that may begin now, once.
  std::optional<World> take_next();
  // Who asks in vain from now on, and why.
  struct Refusal {
    std::set<std::uint32_t> ranks = {};
    Error why;
  };
  std::optional<Refusal> take_refusal();
  // The next world is not made without their asking.
  const std::set<std::uint32_t>& awaited() const { return awaited_; }
  // True once after a rank has asked that is not in the world that stands.
  bool take_newcomer();

 private:
  const std::uint32_t ranks_;
  const std::uint32_t least_;
  std::uint32_t epoch_ = kFirst;  // of the next one
  // Processes of the world that stands that are there; before the first, all that may come.
  std::set<std::uint32_t> awaited_;
  std::set<std::uint32_t> asking_;
  std::set<std::uint32_t> leaving_;  // of that world: they have left, and it is open how
  std::vector<JobMember> over_;      // ranks that do not come again
  std::uint32_t done_ = 0;           // of them, that have done their work
  bool changed_ = true;
  bool newcomer_ = false;
};

}  // namespace millrace::net
