// SignalWatch: Ctrl-C and SIGTERM as a stop request. The handler only writes to a descriptor that
// the event loop watches; the second signal ends the process at once.
#pragma once

#include <memory>
#include <stop_token>

#include "millrace/core/error.h"
#include "millrace/core/event_loop.h"

namespace millrace::commands {

// At most one at a time in a process, as its signals are. Owned by a command; the loop outlives it.
// The destructor puts the old handlers back and waits for the loop to let go of the descriptor, so
// it is not run on the loop's thread. Thread-safety: thread-safe.
class SignalWatch {
 public:
  // Requests stop, on the thread of the loop, at the first SIGINT or SIGTERM from now on.
  static Result<std::unique_ptr<SignalWatch>> create(EventLoop& loop, std::stop_source stop);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // The first signal that came, or 0.
  int signal() const;

 private:
  struct Pipe;
  explicit SignalWatch(EventLoop& loop) : loop_(loop) {}
  EventLoop& loop_;
  std::shared_ptr<Pipe> pipe_;
};

// "SIGINT" or "SIGTERM".
const char* signal_name(int signal);

}  // namespace millrace::commands
