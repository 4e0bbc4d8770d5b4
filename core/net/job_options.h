// JobOptions: where the job of this process is, and as which of its ranks it joins. Read next:
// job.h; rank_host.h, where there is no `millrace launch`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "millrace/core/base/braced.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/process_place.h"
#include "millrace/core/net/handshake.h"
#include "millrace/core/net/link_kind.h"

namespace millrace::net {

struct JobOptions {
  Braced<std::string> job = {};
  Braced<std::string> address = {};   // of the host
  std::optional<Secret> secret = {};  // all connections of the job prove it, where there is one
  Braced<std::string> folder =
      {};  // this user's alone, with the sockets of ranks; empty: that of address
  std::optional<LinkKind> links = {};  // nullopt: as the host is reached
  bool hosted = false;                 // rank 0's process is the host, and comes and goes with it
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  // This process, as others name it; left out: what the system says.
  Braced<std::string> host = {};
  std::int32_t pid = 0;
  Duration patience = std::chrono::seconds(30);  // of the join, where the call has no deadline
};

// By MILLRACE_STORE, MILLRACE_TRANSPORT, MILLRACE_SECRET_FILE and the place. Without
// MILLRACE_STORE: what rank 0 hosts at a name that follows from the launcher's of the job, below
// XDG_RUNTIME_DIR or /tmp; nullopt where there is no launcher, or it has no name for the job.
// kInvalidArgument names the variable: a store without a place or with an address that is none, a
// transport that is none; TCP without a file that holds a secret, is this user's and that of no
// other. The errors of opening the file.
Result<std::optional<JobOptions>> job_options(const Variables& variables,
                                              const std::optional<JobPlace>& place);

}  // namespace millrace::net
