// declare_failure: what the end of a job means for the links of one of its processes. Read next:
// job.h, which hears of it; job_thread.h, which has both.
#pragma once

#include "millrace/core/base/error.h"
#include "millrace/core/net/mesh.h"

namespace millrace::net {

// error: of Job::failure(). The rank by which the job fails is lost, also where there was no link
// to it; all of them are where this process is cut off from the others (QuorumLost).
void declare_failure(Mesh& mesh, const Error& error);

}  // namespace millrace::net
