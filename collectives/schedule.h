// Schedule: what one process sends, receives, folds and copies in a collective between processes:
// an algorithm as data. Pure: every process makes its own (make_schedule.h), and together they fit.
// Read next: make_schedule.h, schedule_builder.h, then the algorithms: schedule_reduce.cc,
// schedule_move.cc.
//
//  - SD-1 a process runs its steps one after the other. The messages of a pair of processes keep
//    their order. With room for kMostInFlight messages from each to each there is no deadlock.
//  - SD-2 all ranks get the same bits, whatever comes first; with kDirect those of one fold of all
//    ranks in their order, however they are spread over processes.
//  - SD-3 no message is longer than chunk_bytes, but for one element of each rank of a process, and
//    a receive has as many bytes as its send.
//
//   direct              each process folds its part of the arrays, of all ranks, and gives it to
//   all ring                parts go around and are folded on the way: the fewest bytes
//   recursive_doubling  partners 1, 2, 4, ... away: the fewest rounds
//   tree                of radix 8 (tree.h): the fewest messages of any process
//
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
// MPICH", 2005 (recursive doubling with a fold to a power of two, Bruck's all_gather, pairwise
// all_to_all); Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", 2009 (ring); Hensgen, Finkel, Manber, "Two algorithms for barrier
// synchronization", 1988 (dissemination).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/collectives/algorithm.h"
#include "millrace/collectives/collective_call.h"
#include "millrace/collectives/rank.h"

namespace millrace::collectives {

// How the ranks of a group are spread over processes: in order, at least one in each. Value type.
class Spread {
 public:
  // counts: of the ranks of each process; CHECKed to be positive.
  explicit Spread(std::span<const int> counts);
  int processes() const { return static_cast<int>(first_.size()) - 1; }
  int ranks() const { return first_.back(); }
  // The ranks of a process are first .. first + count - 1.
  int first(int process) const { return first_[static_cast<std::size_t>(process)]; }
  int count(int process) const { return first(process + 1) - first(process); }
  int process_of(Rank rank) const;
  int most_ranks() const { return most_; }  // of a process

 private:
  std::vector<int> first_;  // and the number of ranks
  int most_ = 0;
};

// Bytes of an array of this process. Indices count the ranks of the process.
struct Slice {
  enum class Place : std::uint8_t {
    kInput,    // the array of a rank
    kOutput,   // the result of a rank; of index 0 where all ranks get the same
    kScratch,  // Schedule::scratch_bytes, of index 0
    kMessage,  // what a receive has brought, of index 0: all of it, for the fold that comes next
  };
  Place place{};
  int index = 0;
  std::size_t begin = 0;
  std::size_t bytes = 0;
  bool operator==(const Slice&) const = default;
};

struct Step {
  enum class Kind : std::uint8_t {
    kSend,     // slices, one after the other as one message; ends when they may be overwritten
    kReceive,  // into slices
    kFold,     // the first slice = the others, reduced in their order; it may be one of them
    kCopy,     // the first slice = the second
  };
  Kind kind{};
  // A fold whose result is the collective's, so that a mean divides by the number of ranks. All
  // others are partial (reduce.h).
  bool last = false;
  int peer = -1;          // the process of a send or receive
  std::size_t first = 0;  // of Schedule::slices
  std::size_t count = 0;
};

struct Schedule {
  std::vector<Step> steps = {};
  std::vector<Slice> slices = {};
  std::size_t scratch_bytes = 0;

  std::span<const Slice> slices_of(const Step& step) const {
    return std::span(slices).subspan(step.first, step.count);
  }
};

inline constexpr std::size_t kMostInFlight = 3;
// The quickest of several for an all_reduce of 1 MiB between two processes
// (bench/processes.cc).
inline constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

// One array, or one part of a bucket, of a call that is valid (check_call).
struct ScheduleRequest {
  CollectiveCall::Kind kind{};
  Algorithm algorithm = Algorithm::kDirect;
  std::size_t elements = 0;  // of the array that a rank gives; of scatter: that the root gives
  std::size_t element_bytes = 1;
  std::size_t chunk_bytes = kChunkBytes;
  bool exact_folds = false;  // folds_exactly(): the first process sends one array for all its ranks
  Rank root{};
  std::span<const RankPair> pairs = {};  // collective_permute
};

}  // namespace millrace::collectives
