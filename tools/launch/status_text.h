// status_text: how a job stands, for people: a line for the job, and one for each rank, with how
// far it is in each group. Pure. Read next: core/net/job_status.h.
#pragma once

#include <string>

#include "millrace/core/net/job_status.h"

namespace millrace::launch {

// Another rank waits for this one: it has begun a collective of the group that this one has not,
// and has none of those done. (Where it has, this one's report is the older.) Of ranks that have
// ended none waits, and none is behind.
bool is_behind(const net::JobStatus& status, const net::RankStatus& rank,
               const net::GroupCount& group);

//   job 4f2a (pid 4711, 12.3 s), unix:/run/user/0/millrace-Xy/store
//     rank  pid   state    done/begun
//     0     4712  joined   world 12/13
//     1     4713  joined   world 12/12 behind
std::string status_text(const net::JobStatus& status, const std::string& address);

}  // namespace millrace::launch
