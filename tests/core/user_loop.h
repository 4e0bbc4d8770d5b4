// Loops as users own them, one per bridge: what the tests of bridges are written against.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <vector>

#include "millrace/core/loop/completion_queue.h"

namespace millrace::testing {

// Confined to the thread that runs it, except what says otherwise.
class UserLoop {
 public:
  virtual ~UserLoop() = default;
  // At most as long-lived as the loop.
  virtual std::shared_ptr<LoopBridge> make_bridge(const BridgeOptions& options = {}) = 0;
  // Until nothing keeps it alive.
  virtual void run() = 0;
  // What is ready, once, without waiting.
  virtual void turn() = 0;
  // A handle of the user's own that keeps the loop alive, or not any more.
  virtual void hold(bool on) = 0;
  // A callback of the user's own, run once by the next run().
  virtual void call(std::function<void()> f) = 0;
  // In the child of a fork, where the loop goes on.
  virtual void revive() = 0;
};

struct LoopKind {
  const char* name;
  std::unique_ptr<UserLoop> (*make)();
  bool counts = true;       // the loop ends by itself when nothing keeps it alive
  bool descriptors = true;  // a bridge there has a descriptor
};
void PrintTo(const LoopKind& kind, std::ostream* out);

// uv, event, asio, and poll(2) over a CompletionFd.
const std::vector<LoopKind>& loop_kinds();

}  // namespace millrace::testing
