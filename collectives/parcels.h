// Parcels: what one process brings to a collective between processes and what it gets: schedules at
// work on arrays of the host. Pure. Read next: schedule_run.h; group_wire.h, which runs them.
#pragma once

#include <span>

#include "millrace/collectives/outcome.h"
#include "millrace/collectives/schedule_run.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/pool.h"

namespace millrace::collectives {

struct Parcels {
  PooledVector<ScheduleRun> runs;              // one after the other
  PooledVector<Outcome> outcomes;              // by array; written once the runs are done
  PooledVector<devices::HostArray> kept = {};  // what the runs read, besides the inputs
};

// For each array one of each rank of the process, empty where the call does not read that rank.
// They outlive the parcels.
using ParcelInputs = std::span<const devices::HostArray>;

// What `process` does in a call that is valid (check_call). Arrays of an all_reduce that follow
// each other and have one type travel as one. kUnimplemented as of make_schedule().
Result<Parcels> make_parcels(const CollectiveCall& call, const Spread& spread, int process,
                             ParcelInputs inputs);

// direct for what has bits that depend on it; for barriers and numbers the one of the fewest rounds
// or messages between so many processes.
Algorithm default_algorithm(CollectiveCall::Kind kind, int processes = 1);
// kUnimplemented: the call asks for an algorithm that has no form of it.
Status check_algorithm(const CollectiveCall& call);

}  // namespace millrace::collectives
