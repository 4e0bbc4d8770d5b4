#include "millrace/tools/train/training.h"

#include "millrace/core/log.h"
#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/recovery.h"

namespace millrace::train {
namespace {

Task<TrainingReport> try_once(TrainingParts parts, TrainingOptions options,
                              TrainingListener* listener, RunState* run) {
  Attempt attempt(std::move(parts), std::move(options), listener, *run);
  Result<TrainingReport> report = co_await attempt.run();
  const Status closed = co_await attempt.close();
  if (!report) co_return attempt.root_cause(report.error());
  if (!closed) co_return closed.error();
  co_return report;
}

void tell_recovery(std::vector<devices::DeviceId> devices, const Error& error, RunState& run,
                   TrainingListener* listener) {
  ++run.recoveries;
  const std::uint64_t ended = run.first_step + run.losses.size();
  const std::uint64_t step = run.committed ? run.committed->manifest.step : run.first_step;
  if (listener == nullptr) {  // nobody else tells
    MILLRACE_LOG(kWarning, "train",
                 "going on after step " + std::to_string(step) + " of " + std::to_string(ended) +
                     " that had ended, with restarted devices: " + error.message());
    return;
  }
  listener->on_recovery({.devices = std::move(devices),
                         .error = error,
                         .step = step,
                         .steps_lost = ended - step,
                         .recoveries = run.recoveries});
}

}  // namespace

Task<TrainingReport> train(TrainingParts parts, TrainingOptions options,
                           TrainingListener* listener) {
  RunState run;
  actors::RestartBudget budget(options.device_restarts);
  for (;;) {
    Task<TrainingReport> attempting = try_once(parts, options, listener, &run);
    Result<TrainingReport> report = co_await std::move(attempting);
    if (report || options.device_restarts.restarts <= 0) co_return report;
    const Error error = report.error();
    if (options.call.stop.stop_requested() ||
        parts.environment.clock->now() >= options.call.deadline) {
      co_return error;
    }
    Task<std::vector<devices::DeviceId>> restarting =
        restart_failed(parts.devices, parts.environment, &budget, options.call);
    Result<std::vector<devices::DeviceId>> restarted = co_await std::move(restarting);
    if (!restarted && options.call.stop.stop_requested()) co_return restarted.error();
    if (!restarted) co_return error.with_context(restarted.error().message());
    if (restarted->empty()) co_return error;
    tell_recovery(*std::move(restarted), error, run, listener);
  }
}

}  // namespace millrace::train
