// TrainingReport: what a training has done and where its time went, as numbers, words and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/device.h"
#include "millrace/tools/train/cpu_usage.h"
#include "millrace/transfer/device_batch.h"

namespace millrace::train {

// Known before the first step.
struct TrainingStart {
  std::string model;
  std::size_t devices = 0;  // of all ranks
  std::int64_t batch_size = 0;
  std::uint64_t steps = 0;
  std::uint64_t items = 0;
  Duration compile_time{};
  // With checkpoints: where they are kept, whether to resume from one, and the one that it resumes
  // from, which is after first_step steps; empty: there is none, or none was asked for.
  std::string checkpoints;
  bool resume = false;
  std::string resumed_from;
  std::uint64_t first_step = 0;
  bool joins = false;  // a run that others have begun, and reported
};

// Median milliseconds of a batch or a program; all_reduce: of all those of a step.
// Stages of several devices run side by side, so they need not add up to the step.
struct StageTimes {
  double read = 0;
  double decode = 0;
  double host_to_device = 0;
  double execute = 0;
  double all_reduce = 0;
  double update = 0;
};

struct PeakBytes {
  std::size_t staging = 0;             // host memory of the loader
  std::size_t prefetched = 0;          // batches on the devices, ahead of their step
  std::vector<std::size_t> in_flight;  // per device: launches and transfers
};

// Accuracy, steps and recoveries are those of the run; losses and times, of the steps that were
// done since this process has joined it; what is said of devices and loading, of the devices here.
struct TrainingReport {
  std::uint64_t steps = 0;
  std::uint64_t steps_here = 0;         // of these, since this process has joined
  std::vector<double> losses;           // of every step here, mean over the rows
  std::uint64_t recoveries = 0;         // from failures; some steps were done twice
  std::optional<double> test_accuracy;  // share of the test items, 0 to 1
  std::optional<double> test_loss;
  std::uint64_t test_items = 0;
  Duration time{};  // of the steps here
  double step_ms_median = 0;
  double step_ms_p99 = 0;
  double images_per_second = 0;
  StageTimes stage_ms;
  double overlap = 0;               // share of the loading time that no device waited for
  std::vector<double> device_idle;  // share of the time without a program running, per device
  PeakBytes peak_bytes;
  std::string bottleneck;  // one sentence, with the evidence

  std::string to_text() const;
  std::string to_json() const;  // one line: {"event":"done", ...}
};

// What the figures are computed from.
struct ReportInputs {
  std::vector<Duration> step_times;          // between the ends of consecutive steps
  std::vector<TraceEvent> events;            // of the steps, as far back as they are kept
  Duration events_time{};                    // for which they are complete; 0: all of `time`
  const TraceRecorder* trace = nullptr;      // for the texts of the events
  std::string grad_program, update_program;  // names of the launches
  transfer::LoaderStats loader;
  std::vector<devices::DeviceStats> before, after;  // per device, around the steps
  std::vector<Duration>
      data_waits;  // per device: sum of the times that steps waited for their batch
  CpuUsage cpu;    // over the steps; nothing known: no word about cores
  Duration time{};
  std::uint64_t steps = 0;         // all that is above is of these
  std::uint64_t items = 0;         // of all these steps
  std::uint64_t steps_before = 0;  // of the run, before this process has joined it
};

// Pure. Fills the figures of the report; accuracy and losses are the caller's.
void fill_figures(const ReportInputs& inputs, TrainingReport& report);

}  // namespace millrace::train
