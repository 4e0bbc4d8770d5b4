// Ctrl-C and SIGTERM as a stop request. The handler only writes to a descriptor, from the start of
// a command on; once there is an event loop, it watches the descriptor. The second signal ends the
// process at once.
#pragma once

#include <memory>
#include <stop_token>

#include "millrace/core/error.h"
#include "millrace/core/event_loop.h"

namespace millrace::commands {

// From now on SIGINT and SIGTERM are kept for a SignalWatch, save those that the process was
// started to ignore. At most one at a time in a process, as its signals are. The destructor puts
// the old handlers back. Thread-safety: thread-safe.
class CaughtSignals {
 public:
  static Result<std::unique_ptr<CaughtSignals>> create();
  ~CaughtSignals();
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

  // The first signal that came, or 0.
  int signal() const;

 private:
  friend class SignalWatch;
  struct Pipe;
  CaughtSignals() = default;
  std::shared_ptr<Pipe> pipe_;
};

// Owned by a command; loop and signals outlive it. The destructor waits for the loop to let go of
// the descriptor, so it is not run on the loop's thread. Thread-safety: thread-safe.
class SignalWatch {
 public:
  // Requests stop, on the thread of the loop, at the first signal, also one that came before.
  SignalWatch(EventLoop& loop, const CaughtSignals& signals, std::stop_source stop);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  EventLoop& loop_;
  const std::shared_ptr<CaughtSignals::Pipe> pipe_;
};

// "SIGINT" or "SIGTERM".
const char* signal_name(int signal);

}  // namespace millrace::commands
