// Events as PJRT has them: a future that is complete, or will be. Callbacks run on one thread that
// all clients share, or inside OnReady where the event is set already.
//  - PP-1 a callback runs once, with no lock of ours held, never on a device's thread and never
//    inside a call other than OnReady.
//  - PP-2 a callback may destroy its event, and an event may be destroyed while callbacks wait.
// Read next: error.h.
#pragma once

#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/pool.h"
#include "millrace/tools/pjrt_plugin/handle.h"

namespace millrace::devices::pjrt::abi {

// The caller's handle on a future. Thread-safety: thread-safe.
struct Event final : pjrt_plugin::Handle<Event>, Pooled {
  explicit Event(Future<void> completes) : done(std::move(completes)) {}
  const Future<void> done;
  Promise<void> promise;  // of an event that the caller sets
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {

// The thread that runs callbacks, of the whole process; never destroyed, because callbacks may end
// anything else. It runs in order.
Executor& callbacks();

// The caller's, who destroys it.
abi::Event* make_event(Future<void> done);

void add_events(abi::Api& api);

}  // namespace millrace::pjrt_plugin
