#include "millrace/tools/commands/end_in_time.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "millrace/core/mutex.h"
#include "millrace/core/timer_queue.h"
#include "millrace/tools/commands/exit_code.h"

namespace millrace::commands {

// Shared with timers that may outlive the EndInTime.
struct EndInTime::Ending {
  Ending(const Limits& of_command, const devices::Client& of_devices, Console& to, Options with)
      : limits(of_command), client(of_devices), console(to), options(std::move(with)) {}

  void end(ErrorCode code) {
    MutexLock lock(mutex);  // until the process has ended: what this uses stays
    if (over) return;
    const std::string calls = client.calls_under_way();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.grace).count();
    const Error error =
        limits.at_end(Error(code, (calls.empty() ? "a step that had begun has not ended"
                                                 : calls + " has not returned") +
                                      std::string(" within ") + std::to_string(seconds) +
                                      " s of it, so the process does not wait for it"),
                      options.progress());
    const ExitCode exit = exit_code(error);
    if (options.json) static_cast<void>(console.data(error_json(error, exit) + "\n"));
    console.error(error);
    ::_exit(static_cast<int>(exit));
  }

  const Limits& limits;
  const devices::Client& client;
  Console& console;
  const Options options;
  Mutex mutex;
  bool over MILLRACE_GUARDED_BY(mutex) = false;
};

EndInTime::EndInTime(const Limits& limits, const devices::Client& client, Console& console,
                     Options options)
    : ending_(std::make_shared<Ending>(limits, client, console, std::move(options))),
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

}  // namespace millrace::commands
