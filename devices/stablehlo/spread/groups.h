// Groups: which clones take part in a collective together, from what the operation says of
// processes. Read next: collectives.h.
#pragma once

#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/op.h"
#include "millrace/devices/stablehlo/spread/places.h"

namespace millrace::devices::stablehlo::spread {

// Numbers of clones, in the order that the operation gives. A group of clones that are not members
// is left out.
using Groups = std::vector<std::vector<int>>;

// How an operation numbers processes, by its channel and use_global_device_ids.
enum class Numbering {
  kReplicas,       // within each partition
  kPartitions,     // within each replica
  kReplicasWhole,  // replicas, with all partitions of each
  kDevices,
};
std::string_view to_string(Numbering numbering);
Result<Numbering> numbering_of(const ir::Op& op);

// The groups of an operation that has them. kInvalidArgument for a process that there is not, one
// that no group has (unless the operation may leave some out), and for a group of which some
// members are not here.
Result<Groups> groups_of(const ir::Op& op, const Places& places, const Members& members);
// The same for lists that stand elsewhere than in the operation's replica_groups.
Result<Groups> groups_of(const ir::Op& op, Numbering numbering,
                         std::vector<std::vector<std::int64_t>> listed, bool covers,
                         const Places& places, const Members& members);

// (source, target) of collective_permute; those of which neither is a member are left out.
Result<std::vector<std::pair<int, int>>> pairs_of(const ir::Op& op, const Places& places,
                                                  const Members& members);

}  // namespace millrace::devices::stablehlo::spread
