// Limits: what ends a command before its time: its --deadline, and the signals.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "millrace/core/call_options.h"
#include "millrace/core/error.h"
#include "millrace/tools/commands/signals.h"

namespace millrace::commands {

// From the begin of a command to its end. Thread-safety: thread-safe.
class Limits {
 public:
  static Result<std::unique_ptr<Limits>> create(std::optional<double> deadline_seconds);
  ~Limits();
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

  // For every call of the command: stopped by the first signal.
  const CallOptions& call() const { return call_; }
  // The first signal that came, or 0.
  int signal() const { return signals_->signal(); }
  // An error that the deadline has made, with that option and what had been done by then in front;
  // others as they are.
  Error at_deadline(const Error& error, const std::string& progress) const;
  // The same, and one that a signal has made with the signal in front, and its exit code.
  Error at_end(const Error& error, const std::string& progress) const;

  // Of a thread that is the limits' own.
  TimerQueue& timers() const { return watch_->timers(); }

 private:
  Limits() = default;
  std::optional<double> seconds_;
  std::unique_ptr<CaughtSignals> signals_;
  std::unique_ptr<SignalWatch> watch_;
  CallOptions call_;
};

}  // namespace millrace::commands
