// Outcome: what a collective makes of one array of each rank, as bytes of the host. Pure. Read
// next: exchange.h, which reads the arrays and puts the outcome on the devices; parcels.h, the same
// between processes.
#pragma once

#include <cstddef>
#include <span>

#include "millrace/collectives/collective_call.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/client.h"

namespace millrace::collectives {

// For each rank of the process all of it, or its part, in their order.
struct Outcome {
  devices::HostArray whole;
  std::size_t begin = 0;  // of the first rank's, in whole
  bool in_parts = false;
  devices::Shape shape = {};  // of what a rank gets

  std::size_t begin_of(std::size_t rank) const {
    return begin + (in_parts ? rank * shape.size_bytes() : 0);
  }
  devices::HostView view(std::size_t rank) const {
    return {whole.bytes().data() + begin_of(rank), shape, {}, whole.owner()};
  }
};

// An outcome without bytes: what each rank gets of an array of this shape. size: of the group.
Outcome outcome_of(const CollectiveCall& call, const devices::Shape& shape, std::size_t size);
// So many of one after the other; scalars become a vector.
devices::Shape repeated(const devices::Shape& one, std::size_t times);

// read: this array of each rank that the call reads, in the order of readers_of(). All ranks of the
// group are this process's.
Outcome compute_outcome(Parallel* parallel, const CollectiveCall& call, const devices::Shape& shape,
                        std::span<const Future<devices::HostArray>> read, std::size_t size);

}  // namespace millrace::collectives
