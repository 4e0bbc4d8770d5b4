#include "millrace/tools/commands/end_in_time.h"

#include <unistd.h>

#include <chrono>
#include <optional>
#include <utility>

#include "millrace/core/mutex.h"
#include "millrace/core/timer_queue.h"

namespace millrace::commands {

// Shared with timers that may outlive the EndInTime.
struct EndInTime::Ending {
  Ending(const Limits& of_command, std::function<std::string()> of_client, Console& to,
         Options with)
      : limits(of_command), calls(std::move(of_client)), console(to), options(std::move(with)) {}

  void end(ErrorCode code) {
    MutexLock lock(mutex);  // until the process has ended: what this uses stays
    if (over) return;
    const std::string under_way = calls();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.grace).count();
    const Error error =
        limits.at_end(Error(code, (under_way.empty() ? "a step that had begun has not ended"
                                                     : under_way + " has not returned") +
                                      std::string(" within ") + std::to_string(seconds) +
                                      " s of it, so the process does not wait for it"),
                      told ? "while the runtime was closing" : options.progress());
    // What went wrong before the limit came is what the command has come to.
    const bool failed = told && *told != ExitCode::kOk;
    const ExitCode exit = tell_error(error, console, options.json, failed ? told : std::nullopt);
    ::_exit(static_cast<int>(exit));
  }

  const Limits& limits;
  const std::function<std::string()> calls;
  Console& console;
  const Options options;
  Mutex mutex;
  bool over MILLRACE_GUARDED_BY(mutex) = false;
  std::optional<ExitCode> told MILLRACE_GUARDED_BY(mutex);
};

EndInTime::EndInTime(const Limits& limits, std::function<std::string()> calls, Console& console,
                     Options options)
    : ending_(std::make_shared<Ending>(limits, std::move(calls), console, std::move(options))),
      stopped_(limits.call().stop, [ending = ending_] {
        ending->limits.timers().schedule(steady_clock().now() + ending->options.grace,
                                         [ending] { ending->end(ErrorCode::kCancelled); });
      }) {
  const CallOptions& call = limits.call();
  if (call.deadline == kNoDeadline) return;
  limits.timers().schedule(call.deadline + ending_->options.grace,
                           [ending = ending_] { ending->end(ErrorCode::kDeadlineExceeded); });
}

EndInTime::~EndInTime() {
  MutexLock lock(ending_->mutex);
  ending_->over = true;
}

void EndInTime::told(ExitCode code) {
  MutexLock lock(ending_->mutex);
  ending_->told = code;
}

}  // namespace millrace::commands
