// wait_blocking and wait_until, with a limit: for main functions, tools and tests. Never from an
// executor's work: they would hold a worker. Where a wait_blocking would stop a loop, or is for the
// end of the calling thread, the process ends with a sentence instead (CHECK).
#pragma once

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"

namespace millrace {

// Blocks the calling thread until value completes. For a value that is there already: any thread.
// For others neither on the thread of a bridge's loop (on_bridged_thread) nor inside run() of an
// EventLoop, nor for Runtime::close() on a thread of that runtime (CHECKed, as is an empty future).
void wait_blocking(AsyncValue& value);
template <class T>
Result<T> wait_blocking(const Future<T>& future) {
  if (!future.ready()) wait_blocking(*future.cell());
  return future.take();
}

// For an end that a foreign library may never reach: blocks the calling thread until end completes,
// however it does (true), or until a stop is requested or steady_clock() comes to the deadline. It
// needs no timers, so it works after those have gone.
bool wait_until(const Future<void>& end, const CallOptions& call);
// The same for so much time of the machine.
bool wait_until(const Future<void>& end, Duration limit);

}  // namespace millrace
