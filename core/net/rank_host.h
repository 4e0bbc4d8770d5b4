// RankHost: the host of a job inside the process of rank 0, where other launchers than ours have
// started the ranks; and how ranks join it, of which none knows when it comes. Read next:
// job_host.h, claimed_folder.h, where they meet.
//
//  - RH-1 one process at a time hosts a job of a name; what an earlier one has left is in no one's
//    way.
//  - RH-2 a rank that is lost, or silent and then killed, is the job's failure; so is rank 0,
//    though it is the host.
//  - RH-3 the host stays until every rank has come and gone, or the job has failed, or patience
//    ends, or its end is asked for; then nothing is left of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "millrace/core/net/claimed_folder.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/job_host.h"

namespace millrace::net {

// Thread-safety: confined to the transport's home; end() is complete before its end.
class RankHost {
 public:
  // nullptr: another process hosts the job. The errors of ClaimedFolder and of JobHost::open().
  static Result<std::unique_ptr<RankHost>> open(Transport& transport, const JobOptions& options);
  // Once: waits as RH-3 says, and says which ranks it waits for. On stop or at the deadline of call
  // it waits a moment more, for ranks that have got the same.
  Future<void> end(Duration patience, const CallOptions& call);

 private:
  RankHost(Transport& transport, ClaimedFolder folder);
  JobHooks hooks();

  Transport& transport_;
  std::optional<ClaimedFolder> folder_;
  std::vector<std::uint32_t> lost_ = {};
  Ref<JobHost> host_;
};

// Joins a hosted job: tries again while no host is there, up to options.patience, and says that it
// waits. As rank 0 it makes the host first, into `host`, which outlives the call. Called on home.
// kDeadlineExceeded names rank 0, which has not come; else the errors of Job::join().
Future<Ref<Job>> join_hosted(Transport& transport, const JobOptions& options,
                             std::unique_ptr<RankHost>& host, CallOptions call);

}  // namespace millrace::net
