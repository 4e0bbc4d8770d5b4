// EndInTime: ends the process where a command does not end after its deadline or the first signal:
// a step that the CPU device has begun runs to its end, and a plugin's function may never return.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "millrace/core/clock.h"
#include "millrace/tools/commands/console.h"
#include "millrace/tools/commands/exit_code.h"
#include "millrace/tools/commands/limits.h"

namespace millrace::commands {

class EndInTime {
 public:
  // What a step takes at most that does end, and the end of a training with its checkpoint.
  static constexpr std::chrono::seconds kStep{5}, kTraining{10};
  struct Options {
    Duration grace;                         // after the deadline or the signal
    std::function<std::string()> progress;  // as Limits::at_end takes it; called on any thread
    bool json = false;                      // the error is an event on stdout, too
  };
  // calls: devices::Client::calls_teller(). All that is referred to lives longer than this.
  EndInTime(const Limits& limits, std::function<std::string()> calls, Console& console,
            Options options);
  // From here on the process is left alone. Comes after what may not end, so after the runtime.
  ~EndInTime();
  // The command has told how it ended; what may not end is the end of the runtime.
  void told(ExitCode code);
  EndInTime(const EndInTime&) = delete;
  EndInTime& operator=(const EndInTime&) = delete;

 private:
  struct Ending;
  const std::shared_ptr<Ending> ending_;
  const std::stop_callback<std::function<void()>> stopped_;
};

}  // namespace millrace::commands
