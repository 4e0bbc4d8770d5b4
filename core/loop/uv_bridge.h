// UvBridge: futures and coroutines on a libuv loop that belongs to you.
//
//   auto bridge = UvBridge::create(loop);                   // your uv_loop_t*
//   if (!bridge) return std::unexpected(bridge.error());
//   result.then(*bridge, [](const Result<HostArray>& r) { ... }).ignore();  // on uv_run's thread
//   spawn(*bridge, my_task()).ignore();                     // every co_await continues there
//   uv_run(loop, UV_RUN_DEFAULT);                           // until no continuation waits
//
// then() and spawn() give a future; ignore() says that no caller will look at it. Errors are looked
// at inside: r in the continuation, every co_await in my_task().
//
// The loop is borrowed: one uv_poll_t of ours is added, loop->data and all of yours stay as they
// are. That handle is ours, and a uv_walk that closes what it finds is to leave it out, or comes
// after the bridge. Where it did close it, the bridge hears nothing more, close() never completes
// and the destructor drops what waits. Common to all bridges: completion_queue.h.
#pragma once

#include "millrace/core/loop/completion_queue.h"

struct uv_loop_s;  // of <uv.h>, which only users of it need

namespace millrace {

// Thread-safety: as LoopBridge. The libuv rule holds for its end too: the handle is freed one turn
// of the loop after close() or destruction, so uv_loop_close comes after that turn.
class UvBridge final : public LoopBridge {
 public:
  // On the loop's thread, or while the loop does not run. kResourceExhausted: no descriptors left.
  static Result<UvBridge> create(uv_loop_s* loop, const BridgeOptions& options = {});

 private:
  class Port;
  using LoopBridge::LoopBridge;
};

}  // namespace millrace
