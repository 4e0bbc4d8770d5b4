// mesh_address: where the links of a rank come in, by how the ranks of its job are linked: the one
// place that chooses it. Pure. Read next: job_thread.h, which listens there.
#pragma once

#include <string>

#include "millrace/core/base/error.h"
#include "millrace/core/net/job_options.h"

namespace millrace::net {

// For Mesh::start(). incarnation: of the mesh, so that no socket of a process that was killed is in
// its way. kInvalidArgument: Unix sockets without a folder, TCP without a secret.
Result<std::string> mesh_address(const JobOptions& options, const Incarnation& incarnation);

}  // namespace millrace::net
