// run_exchange: what a matched collective does with the arrays of the ranks of this process.
// Fetches those that the host cannot see in place, computes on the compute executor, or with the
// other processes of the group, and puts the results on the ranks. Read next: outcome.h, parcels.h.
#pragma once

#include <cstdint>
#include <span>

#include "millrace/collectives/collective_call.h"
#include "millrace/collectives/group_wire.h"
#include "millrace/collectives/numbers.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/pool.h"
#include "millrace/devices/device.h"

namespace millrace::collectives {

// The ranks of other processes: none without a wire.
struct FarRanks {
  Ref<GroupWire> wire = {};
  std::uint64_t sequence = 0;  // of the call
};

// inputs[d] are the arrays of the rank of devices[d]: written, and there for every rank that the
// call reads. The future gives the results in the order of the devices, none for a rank that the
// call gives nothing; what is the same on all ranks is computed once, and every device uses the
// same host bytes, or its part of them, in place where it can. What a rank has already, as the root
// of a broadcast or alone in its group, it gets as the buffer that it gave. Errors name the rank.
Future<PooledVector<devices::Buffers>> run_exchange(const Environment& environment,
                                                    const CollectiveCall& call,
                                                    std::span<const devices::Device> devices,
                                                    PooledVector<devices::Buffers> inputs,
                                                    const FarRanks& far = {});

// The same for numbers (numbers.h): inputs are those of the ranks of this process; all of them get
// the result.
Future<Numbers> run_exchange(const CollectiveCall& call, std::span<const devices::HostArray> inputs,
                             const FarRanks& far = {});

}  // namespace millrace::collectives
