// make_schedule: the schedule of one process for a call, by an algorithm that has a form of it.
// Pure arithmetic. Read next: schedule.h, for what a schedule is.
#pragma once

#include "millrace/collectives/schedule.h"
#include "millrace/core/base/error.h"

namespace millrace::collectives {

// Whether the algorithm has a form of this call.
bool has_form(CollectiveCall::Kind kind, Algorithm algorithm);

// What the process of this number does. The outputs of a call:
//   all_reduce, all_gather    one, of all ranks
//   broadcast                 one; none in the root's process, whose input is the result
//   gather                    one, in the root's process
//   reduce_scatter, scatter   for each rank its part
//   all_to_all                for each rank
//   collective_permute        for each rank; what no message reaches must be zero before
// kUnimplemented where the algorithm has no form of this call.
Result<Schedule> make_schedule(const ScheduleRequest& request, const Spread& spread, int process);

}  // namespace millrace::collectives
