// What `millrace collectives` runs: its cases, what each rank brings to one, and what a plain
// computation says that it gets. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/collectives/algorithm.h"
#include "millrace/collectives/collective_call.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"

namespace millrace::tools {

// A collective by the name that --op has: a call's, and for reductions with the reduction.
struct CollectiveOp {
  std::string name;                                       // "all_reduce_max"
  std::optional<collectives::CollectiveCall::Kind> kind;  // nullopt: rendezvous
  collectives::ReduceOp reduce = collectives::ReduceOp::kSum;
};
// All of them, and those that are named. kInvalidArgument names a word that is none, and all.
const std::vector<CollectiveOp>& collective_ops();
Result<std::vector<CollectiveOp>> find_ops(const std::vector<std::string>& names);

// What processes do it by, where a call says nothing.
collectives::Algorithm default_algorithm(const CollectiveOp& op);

// One call of all ranks.
struct CollectiveCase {
  CollectiveOp op;
  collectives::Algorithm algorithm = collectives::Algorithm::kDirect;
  devices::DType dtype = devices::DType::kF32;
  std::size_t bytes = 0;  // about what a rank brings

  // What a rank brings: a vector whose length is a multiple of the number of ranks.
  devices::Shape shape(int ranks) const;
  bool has_arrays() const;
};

struct CaseChoice {
  std::vector<CollectiveOp> ops;
  std::vector<devices::DType> dtypes;
  std::vector<std::size_t> bytes;
  std::optional<collectives::Algorithm> algorithm;  // none: every one that has a form of the call
};
// Those that can be, in the order of the choice. between_processes: algorithms differ.
std::vector<CollectiveCase> make_cases(const CaseChoice& choice, bool between_processes);

// The array of a rank: small whole numbers, so that no order of a sum changes its bits.
devices::HostArray input_of(const CollectiveCase& one, int rank, int ranks);
// What the rank gets, by a plain computation over all inputs; nullopt: nothing.
std::optional<devices::HostArray> expected_of(const CollectiveCase& one, int rank, int ranks);

// The root of calls that have one, and the pairs of collective_permute: a ring.
inline collectives::Rank root_of(int ranks) { return collectives::Rank{ranks - 1}; }
std::vector<collectives::RankPair> ring_of(int ranks);

}  // namespace millrace::tools
