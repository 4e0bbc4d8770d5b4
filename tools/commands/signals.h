// Ctrl-C and SIGTERM as a stop request. The handler only writes to a descriptor, which a loop of
// its own watches, from the start of a command on. The second signal ends the process at once.
#pragma once

#include <memory>
#include <stop_token>

#include "millrace/core/error.h"
#include "millrace/core/event_loop_thread.h"

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

// Owned by a command, before there is a runtime and until its end; signals outlive it.
// Thread-safety: thread-safe.
class SignalWatch {
 public:
  // Requests stop, on a thread of its own, at the first signal, also one that came before.
  static Result<std::unique_ptr<SignalWatch>> create(const CaughtSignals& signals,
                                                     std::stop_source stop);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  // Of that thread.
  TimerQueue& timers() { return thread_.loop().timers(); }

 private:
  SignalWatch(std::unique_ptr<EventLoop> loop, const CaughtSignals& signals);
  EventLoopThread thread_;
  const std::shared_ptr<CaughtSignals::Pipe> pipe_;
};

// "SIGINT" or "SIGTERM".
const char* signal_name(int signal);

}  // namespace millrace::commands
