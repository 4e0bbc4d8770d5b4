// CollectiveCall: what a rank asks of its group, as plain data: what the ranks of a sequence must
// have in common. Pure. Read next: matcher.h, which compares the calls of a process; schedule.h,
// which turns one into messages between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/collectives/algorithm.h"
#include "millrace/collectives/rank.h"
#include "millrace/collectives/reduce.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/pool.h"
#include "millrace/devices/shape.h"

namespace millrace::collectives {

struct CollectiveCall {
  enum class Kind : std::uint8_t {
    kAllReduce,
    kAllGather,
    kBroadcast,
    kBarrier,
    kReduceScatter,
    kAllToAll,
    kCollectivePermute,
    kGather,
    kScatter,
    kSplit,
    kAgree,
  };
  static constexpr std::size_t kKinds = 11;

  Kind kind{};
  ReduceOp op = ReduceOp::kSum;  // all_reduce, reduce_scatter, agree
  Rank root{};                   // broadcast, gather, scatter
  PooledVector<devices::Shape> shapes;
  PooledVector<RankPair> pairs = {};  // collective_permute
  // How processes do it; nullopt: default_algorithm(). It changes nothing within one.
  std::optional<Algorithm> algorithm = {};

  bool operator==(const CollectiveCall& other) const = default;
  bool reduces() const {
    return kind == Kind::kAllReduce || kind == Kind::kReduceScatter || kind == Kind::kAgree;
  }
  // Its arrays are numbers of the host (numbers.h), not of devices.
  bool is_about_numbers() const { return kind == Kind::kSplit || kind == Kind::kAgree; }
  bool has_root() const {
    return kind == Kind::kBroadcast || kind == Kind::kGather || kind == Kind::kScatter;
  }
  // Whether the call reads arrays of this rank, and whether it gives it any.
  bool reads(Rank rank) const;
  bool gives(Rank rank) const;
  // "all_reduce(sum, tensor<10xf32>, tensor<f32>)". Calls that differ have texts that differ: where
  // a list is cut, the fingerprint follows.
  std::string to_string() const;
};

// "all_reduce"
std::string_view to_string(CollectiveCall::Kind kind);

// A number for all that a call says: ranks whose numbers differ have made different calls. The same
// in every process.
std::uint64_t fingerprint(const CollectiveCall& call);

// Whether the caller may make this call, matched or not: kUnimplemented for a reduction that its
// types do not have; kInvalidArgument for an empty Buffer, for a root that is no rank of the group
// or has no arrays, for a first dimension that is no multiple of the group's size where each rank
// gets a part of it, for a rank that is twice a source or a target. size: of the group. has_arrays:
// the caller gives arrays, not only shapes.
Status check_call(const CollectiveCall& call, Rank caller, bool has_arrays, int size);

// The error of two ranks whose calls at one place differ. where: "collective 7 of group 'g'".
Error difference_error(std::string_view where, Rank one, std::string_view call, Rank other,
                       std::string_view other_call);

}  // namespace millrace::collectives
