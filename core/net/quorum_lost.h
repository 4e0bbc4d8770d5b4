// QuorumLost: this process is cut off from the ranks that go on, as detail of an error. Pure. Which
// ranks go on, of those that do not hear each other, the host of the job decides: those that it
// hears. So there are never two that go on. Read next: job.h, who finds it.
#pragma once

#include "millrace/core/base/clock.h"
#include "millrace/core/base/error.h"
#include "millrace/core/net/job_member.h"

namespace millrace::net {

struct QuorumLost {
  JobMember self = {};
  Duration silent{0};  // for so long the host was not heard
  // kUnavailable, with this as detail: "quorum lost: rank 2 (host h, pid 4711) has ...".
  Error error() const;
};

}  // namespace millrace::net
