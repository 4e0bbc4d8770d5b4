#include "millrace/core/net/quorum_lost.h"

#include <string>

#include "millrace/core/base/printed.h"

namespace millrace::net {

Error QuorumLost::error() const {
  const double seconds = std::chrono::duration<double>(silent).count();
  return Error(ErrorCode::kUnavailable,
               "quorum lost: " + to_string(self) + " has heard nothing of the job's host for " +
                   printed("%.2g s", seconds) +
                   ", which goes on with the ranks that it hears; this one is cut off")
      .with_detail(*this);
}

}  // namespace millrace::net
