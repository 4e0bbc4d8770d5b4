// run_exchange: what a matched collective does with the arrays of its ranks. Fetches those that the
// host cannot see in place, computes on the compute executor, puts the results on the ranks.
#pragma once

#include <span>

#include "millrace/collectives/matcher.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/pool.h"
#include "millrace/devices/device.h"

namespace millrace::collectives {

// inputs[r] are the arrays of rank r: written, and there for every rank that the call reads. The
// future gives the results by rank, none for a rank that the call gives nothing; what is the same
// on all ranks is computed once, and every device uses the same host bytes, or its part of them, in
// place where it can. Errors name the rank.
Future<PooledVector<devices::Buffers>> run_exchange(const Environment& environment,
                                                    const CollectiveCall& call,
                                                    std::span<const devices::Device> devices,
                                                    PooledVector<devices::Buffers> inputs);

}  // namespace millrace::collectives
