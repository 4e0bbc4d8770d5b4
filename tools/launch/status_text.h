// status_text: how a job stands, for people: a line for the job, and one for each rank, with how
// far it is in each group. Pure. Read next: core/net/job_status.h.
#pragma once

#include <string>

#include "millrace/core/net/job_status.h"

namespace millrace::launch {

// The rank has begun fewer collectives of the group than another one that has not ended.
bool is_behind(const net::JobStatus& status, const net::RankStatus& rank,
               const net::GroupCount& group);

//   job 4f2a (pid 4711, 12.3 s), unix:/run/user/0/millrace-Xy/store
//     rank  pid   state    done/begun
//     0     4712  joined   world 12/13
//     1     4713  joined   world 12/12 behind
std::string status_text(const net::JobStatus& status, const std::string& address);

}  // namespace millrace::launch
