// A training whose devices fail resumes from the last step that is committed, to the same losses. A
// run is one attempt after the other:
//
//   attempt -> ended well: the run has
//           -> failed, and devices have: each is restarted (Device::restart), as often as the limit
//              allows; the next attempt begins from what is committed, or anew if nothing is
//           -> failed by a rank elsewhere, or a rank waits to join, and the world is elastic: the
//              next attempt begins in the next group, from the newest commit that a process has
//           -> failed otherwise: so has the run
//
// An attempt closes everything that it has made (loader, group, steps in flight), so nothing of a
// device that is gone reaches the next one. What is committed lies in host memory: the checkpointer
// copies it every so many steps (checkpoint.h), and with --checkpoint it is what was published,
// kept. Copies on the devices would be cheaper by one transfer, but are lost with them. With ranks
// elsewhere each process has one, and a process that joins gets it from another.
#include "millrace/tools/train/recovery.h"

#include "millrace/core/observe/log.h"
#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace::train {
namespace {

// The client knows first, its actor soon after.
bool has_failed(const devices::Device& device) {
  const Future<void> failed = device.client().failed(device.id());
  return failed.valid() && failed.ready() && !failed.result();
}

// Restarts those that have failed and gives them; none: the failure of the attempt was not theirs.
// kUnavailable if one has failed more often than the budget allows; the errors of Device::restart,
// which waits for what the device had begun: until call ends that.
Task<std::vector<devices::DeviceId>> restart_failed(std::vector<devices::Device> devices,
                                                    Environment environment,
                                                    actors::RestartBudget* budget,
                                                    CallOptions call) {
  std::vector<devices::DeviceId> restarted;
  for (const devices::Device& device : devices) {
    if (!has_failed(device)) continue;
    if (!budget->take(environment.clock->now())) {
      Error error(ErrorCode::kUnavailable, "device " + std::to_string(index(device.id())) +
                                               " was not restarted: the limit is " +
                                               budget->limit().to_string());
      co_return error;
    }
    static_cast<void>(co_await device.failed());
    MILLRACE_AWAIT_STATUS(with_options(device.restart(), call, *environment.timers));
    restarted.push_back(device.id());
  }
  co_return restarted;
}

void report_recovery(std::vector<devices::DeviceId> devices, const Error& error, RunState& run,
                     TrainingListener* listener) {
  ++run.recoveries;
  const std::uint64_t ended = run.first_step + run.losses.size();
  const std::uint64_t step = run.committed ? run.committed->manifest.step : run.first_step;
  if (listener == nullptr) {  // the log is the only report
    MILLRACE_LOG(kWarning, "train",
                 "resuming after step " + std::to_string(step) + " of " + std::to_string(ended) +
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
    std::optional<Error> error;
    bool meets_again = false;
    {
      Attempt attempt(parts, options, listener, run);
      Result<TrainingReport> report = co_await attempt.run();
      const TimePoint ended = parts.environment.clock->now();
      if (!report) error = attempt.root_cause(report.error());
      const Status closed = co_await attempt.close(error);
      if (report && closed) co_return report;
      if (report) error = closed.error();
      const bool joins = attempt.found_newcomers();
      meets_again = parts.world != nullptr && parts.world->elastic() &&
                    (joins || attempt.blames_others(*error));
      // The first of several is what others have waited for since; a loss says more than a rank
      // that joins.
      if (meets_again && !run.interruption)
        run.interruption = {.at = ended, .error = {}, .steps = attempt.steps_done()};
      if (meets_again && !joins && !run.interruption->error) run.interruption->error = error;
    }
    if (options.call.stop.stop_requested() ||
        parts.environment.clock->now() >= options.call.deadline)
      co_return *error;
    if (meets_again) continue;
    if (options.device_restarts.restarts <= 0 || run.spans) co_return *error;
    Task<std::vector<devices::DeviceId>> restarting =
        restart_failed(parts.devices, parts.environment, &budget, options.call);
    Result<std::vector<devices::DeviceId>> restarted = co_await std::move(restarting);
    if (!restarted && options.call.stop.stop_requested()) co_return restarted.error();
    if (!restarted) co_return error->with_context(restarted.error().message());
    if (restarted->empty()) co_return *error;
    report_recovery(*std::move(restarted), *error, run, listener);
  }
}

}  // namespace millrace::train
