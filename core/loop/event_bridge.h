// EventBridge: futures and coroutines on a libevent base that belongs to you.
//
//   auto bridge = EventBridge::create(base);                // your event_base*
//   if (!bridge) return std::unexpected(bridge.error());
//   result.then(*bridge, [](const Result<HostArray>& r) { ... }).ignore();  // on dispatch's thread
//   spawn(*bridge, my_task()).ignore();                     // every co_await continues there
//   event_base_dispatch(base);                              // until no continuation waits
//
// then() and spawn() give a future; ignore() says that no caller will look at it. Errors are looked
// at inside: r in the continuation, every co_await in my_task().
//
// The base is borrowed, and may have been made without evthread_use_pthreads(): other threads wake
// it through a descriptor, never by a call of libevent. Common to all bridges: completion_queue.h.
#pragma once

#include "millrace/core/loop/completion_queue.h"

struct event_base;  // of <event2/event.h>, which only users of it need

namespace millrace {

// Thread-safety: as LoopBridge. Closed or destroyed before event_base_free.
class EventBridge final : public LoopBridge {
 public:
  // On the base's thread, or while the base does not run. kResourceExhausted: no descriptors left.
  static Result<EventBridge> create(event_base* base, const BridgeOptions& options = {});

 private:
  class Port;
  using LoopBridge::LoopBridge;
};

}  // namespace millrace
