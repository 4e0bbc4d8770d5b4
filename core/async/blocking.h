// wait_blocking, and wait_until with a limit: for main functions, tools and tests. Work of an
// executor never calls them: they would hold a worker. A wait_blocking that would stop a loop, or
// wait for the end of its own thread, ends the process with a sentence (CHECK).
#pragma once

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"

namespace millrace {

// Blocks the calling thread until value completes. Any thread may call it for a complete value.
// Otherwise not on the thread of a bridge's loop (on_bridged_thread), not inside run() of an
// EventLoop, not for Runtime::close() on a thread of that runtime (CHECKed, as is an empty future).
void wait_blocking(AsyncValue& value);
template <class T>
Result<T> wait_blocking(const Future<T>& future) {
  if (!future.ready()) wait_blocking(*future.cell());
  return future.take();
}

// For an end that a foreign library may never reach: blocks the calling thread until end completes
// with a value or an error (true), a stop is requested or steady_clock() reaches the deadline. It
// needs no timers, so it works after the timers have closed.
bool wait_until(const Future<void>& end, const CallOptions& call);
// The same for so much time of the machine.
bool wait_until(const Future<void>& end, Duration limit);

}  // namespace millrace
