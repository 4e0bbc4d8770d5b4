// Limits: what ends a command before its time: its --deadline, SIGINT and SIGTERM. Each stops the
// calls of the command. Where the command does not end then, because a plan takes long or a
// plugin's function never returns, the process ends without it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "millrace/core/async/call_options.h"
#include "millrace/core/base/error.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/tools/commands/console.h"

namespace millrace::commands {

// Owned by a command from its begin to its end: created before the runtime, destroyed after it.
// Thread-safety: thread-safe.
class Limits {
 public:
  // After the deadline the process has ended within kLongest, whatever keeps it. kReport of it is
  // for what does end, and for the report.
  static constexpr std::chrono::seconds kLongest{1};
  static constexpr std::chrono::milliseconds kReport{800};
  // After the first signal: the longest time of a step that does end, and of the end of a training
  // with its checkpoint.
  static constexpr std::chrono::seconds kStep{5}, kTraining{10};

  struct Options {
    std::optional<double> deadline_seconds = {};
    Duration grace = kStep;                      // after the first signal
    std::function<std::string()> progress = {};  // "after step 3 of 10"; called on any thread
    bool json = false;                           // an error is an event on stdout, too
  };

  // Catches SIGINT and SIGTERM, save those that the process was started to ignore; the second
  // signal ends the process at once. One Limits at a time in a process (CHECKed). console and what
  // the options refer to are borrowed.
  static Result<std::unique_ptr<Limits>> create(Console& console, Options options);
  // Puts the old handlers back and leaves the process alone.
  ~Limits();
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

  // For every call of the command: stopped by the first signal.
  const CallOptions& call() const { return call_; }
  bool json() const { return options_.json; }
  // The first signal that came, or 0.
  static int signal();

  // An error that the deadline or a signal has made, with what it was and the progress in front,
  // and the signal's exit code; others as they are.
  Error at_end(const Error& error) const { return at_end(error, options_.progress()); }
  Error at_end(const Error& error, const std::string& progress) const;

  // The end of the process names these calls. calls: devices::Client::call_report().
  void opened(std::function<std::string()> calls);
  // As a SIGTERM then, if no signal has come before.
  void terminate_after(Duration time);
  void set_grace(Duration grace);
  // The command has reported how it ended; what may not end is the end of the runtime.
  void set_outcome(ExitCode code);

 private:
  struct Shared;
  Limits(Console& console, Options options, std::shared_ptr<Shared> shared,
         std::unique_ptr<EventLoop> loop);
  void watch_signals(const std::stop_source& stop);

  Console& console_;
  const Options options_;
  CallOptions call_;
  const std::shared_ptr<Shared> shared_;
  std::unique_ptr<EventLoopThread> thread_;
};

// "SIGINT" or "SIGTERM".
const char* signal_name(int signal);

}  // namespace millrace::commands
