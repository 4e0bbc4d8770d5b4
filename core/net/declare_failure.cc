#include "millrace/core/net/declare_failure.h"

#include "millrace/core/net/job_frames.h"
#include "millrace/core/net/quorum_lost.h"

namespace millrace::net {

void declare_failure(Mesh& mesh, const Error& error) {
  if (error.detail<QuorumLost>() != nullptr) {
    for (std::uint32_t rank = 0; rank < mesh.size(); ++rank) mesh.declare_lost(rank, error);
    return;
  }
  const auto* const failure = error.detail<JobFailure>();
  if (failure == nullptr || failure->reason == FailureReason::kAskedToEnd) return;
  mesh.declare_lost(failure->member.rank, error.with_detail(failure->member));
}

}  // namespace millrace::net
