#include "millrace/tools/commands/limits.h"

#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>

#include "millrace/tools/api/runtime.h"
#include "millrace/tools/commands/exit_code.h"

namespace millrace::commands {

Result<std::unique_ptr<Limits>> Limits::create(std::optional<double> deadline_seconds) {
  std::unique_ptr<Limits> limits(new Limits);
  limits->seconds_ = deadline_seconds;
  const std::stop_source stop;
  limits->call_.stop = stop.get_token();
  if (deadline_seconds) {
    limits->call_.deadline =
        steady_clock().now() +
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*deadline_seconds));
  }
  MILLRACE_TRY(limits->signals_, CaughtSignals::create());
  MILLRACE_TRY(limits->watch_, SignalWatch::create(*limits->signals_, stop));
  return limits;
}

Limits::~Limits() {
  if (!Runtime::left_behind()) return;
  // Its thread may never end (OpeningGivenUp of devices/registry.h); the process will.
  static_cast<void>(watch_.release());
  static_cast<void>(signals_.release());
}

Error Limits::at_deadline(const Error& error, const std::string& progress) const {
  if (!seconds_ || error.code() != ErrorCode::kDeadlineExceeded) return error;
  char text[64];
  std::snprintf(text, sizeof(text), "--deadline %g came ", *seconds_);
  return error.with_context(text + progress + " (allow more seconds, or ask for less)");
}

Error Limits::at_end(const Error& error, const std::string& progress) const {
  const int number = signal();
  if (number == 0 || error.code() != ErrorCode::kCancelled) return at_deadline(error, progress);
  return error.with_context(std::string("stopped on ") + signal_name(number) + " " + progress)
      .with_detail(ExitWith{exit_code_of_signal(number)});
}

}  // namespace millrace::commands
