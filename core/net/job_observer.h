// observe_job: asks the host of a job how it stands, as one who is no member; and where the jobs of
// this user are. Read next: job_status.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "millrace/core/net/entrance.h"
#include "millrace/core/net/job_status.h"

namespace millrace::net {

// What a job's folder says of it: what one must know to reach its host.
struct JobPointer {
  std::string job = {};
  std::string address = {};
  std::optional<Secret> secret = {};
};

// Beside the socket or the secret of the job. The errors of writing a file.
Status write_pointer(const std::string& folder, const std::string& job, const std::string& address);
// By this user's folders in JobFolder::places(); also jobs whose host is no more there.
std::vector<JobPointer> find_jobs();

// Completes on home; called there. The errors of enter(); kDeadlineExceeded and kCancelled by call;
// kUnavailable if the host ends before it has answered.
Future<JobStatus> observe_job(Transport& transport, const JobPointer& job, CallOptions call);

}  // namespace millrace::net
