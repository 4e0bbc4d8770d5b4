// wait_blocking: for main functions, tools and tests. Never from an executor's work: it would hold
// a worker. A debug build aborts where it would stop the loop of a bridge (bridged_thread.h).
#pragma once

#include "millrace/core/future.h"

namespace millrace {

// Blocks the calling thread until value completes.
void wait_blocking(AsyncValue& value);
template <class T>
Result<T> wait_blocking(const Future<T>& future) {
  wait_blocking(*future.cell());
  return future.take();
}

}  // namespace millrace
