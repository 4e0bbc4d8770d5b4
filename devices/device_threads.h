// DeviceThreads: the threads of a device that computes on the host.
#pragma once

#include "millrace/core/async/executor.h"
#include "millrace/core/async/parallel_for.h"

namespace millrace::devices {

// Borrowed. executor runs programs and copies, parallel splits a program's kernels; both belong to
// one device or are shared, as the runtime likes.
struct DeviceThreads {
  Executor* executor = nullptr;
  Parallel* parallel = nullptr;
};

}  // namespace millrace::devices
