// CompletionFd: a bridge for any loop that can wait for a descriptor: epoll, poll, GLib, Qt,
// sd-event. Have the loop wait until completion_fd() is readable, and call drain() then.
//
//   auto bridge = CompletionFd::create();
//   if (!bridge) return std::unexpected(bridge.error());
//   pollfd waited{.fd = bridge->completion_fd(), .events = POLLIN};
//   while (poll(&waited, 1, -1) > 0) {
//     if (auto ran = bridge->drain(); !ran) return std::unexpected(ran.error());
//   }
//
// Common to all bridges: completion_queue.h.
#pragma once

#include <cstddef>

#include "millrace/core/loop/completion_queue.h"

namespace millrace {

// The thread that calls drain() is the loop's. Keeping that loop going is its owner's business:
// stats().waiting says whether a continuation waits. Thread-safety: as LoopBridge; drain() is
// confined to one thread.
class CompletionFd final : public LoopBridge {
 public:
  // kResourceExhausted: no descriptors left.
  static Result<CompletionFd> create(const BridgeOptions& options = {});

  // Readable while drain() has something to do. Valid while this lives, also after close().
  int completion_fd() const { return descriptor_; }
  // Runs what is there, at most max pieces of work and no new one after budget; what is left makes
  // completion_fd() readable again. Never waits. Returns how many ran; kFailedPrecondition in the
  // child of a fork.
  Result<std::size_t> drain(std::size_t max, Duration budget) const;
  Result<std::size_t> drain() const { return drain(limits_.max, limits_.budget); }

 private:
  class Port;
  CompletionFd(Ref<CompletionQueue> queue, int descriptor, const DrainLimits& limits)
      : LoopBridge(std::move(queue)), descriptor_(descriptor), limits_(limits) {}
  int descriptor_;
  DrainLimits limits_;
};

}  // namespace millrace
