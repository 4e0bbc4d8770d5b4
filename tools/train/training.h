// train(): the whole of a data-parallel training as one coroutine: compile, initialise, broadcast,
// epochs of replayed steps, evaluation, and an orderly end whatever happens. It takes its time,
// threads, devices and data as parameters, so the command runs it on real devices and the tests run
// it in simulation. Read next: recovery.cc (what follows the failure of a device), step_graph.h
// (one step), report.h (the figures at the end), ../commands/train.cc (the command).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/actors/restart_limit.h"
#include "millrace/actors/system.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/key_value_store.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/device.h"
#include "millrace/tools/train/checkpoint.h"
#include "millrace/tools/train/cpu_usage.h"
#include "millrace/tools/train/report.h"
#include "millrace/transfer/device_loader.h"
#include "millrace/transfer/item_source.h"

namespace millrace::train {

// The group of one attempt of a training whose ranks are elsewhere, too.
struct WorldGroup {
  std::vector<collectives::ProcessGroup> ranks;  // of parts.devices, in their order
  std::size_t full = 0;  // ranks when all processes of the job are there: these, or more
  bool changed = true;   // others than before, or other processes
};

// Where a training meets the ranks that are devices of trainings elsewhere, with the same model,
// data and options. Thread-safety: thread-safe; one call of meet() and leave() at a time.
class TrainingWorld {
 public:
  virtual ~TrainingWorld() = default;
  // The group that works together from now on. Once for each attempt.
  virtual Future<WorldGroup> meet() = 0;
  // The attempt has ended, and uses what meet() gave no more.
  virtual Future<void> leave() = 0;
  // After a failure elsewhere the others meet again.
  virtual bool elastic() const { return false; }
  // A rank waits that is not in the group.
  virtual bool has_newcomers() const { return false; }
};

// Borrowed; all outlive the training.
struct TrainingParts {
  Environment environment;
  actors::ActorSystem* system = nullptr;
  std::vector<devices::Device> devices;
  std::function<Future<devices::Executable>(devices::Program, devices::CompileOptions)> compile;
  // nullptr: devices are all ranks.
  TrainingWorld* world = nullptr;
  // The store of a job that starts processes anew: it outlives them, and knows that the run has
  // begun.
  KeyValueStore* job_store = nullptr;
  TraceRecorder* trace = nullptr;                  // needed for the times of the stages
  CpuMeter cpu_meter = [] { return CpuUsage(); };  // says whether cores were short
};

struct TrainingOptions {
  std::string model;  // folder
  std::shared_ptr<transfer::ItemSource> train_data;
  std::shared_ptr<transfer::ItemSource> test_data;  // none: no evaluation
  std::int64_t batch_size = 128;                    // global: rows of all ranks together
  std::uint64_t epochs = 3;
  std::optional<std::uint64_t> max_steps;  // ends the training early, evaluation included
  std::uint64_t seed = 1;
  bool shuffle = true;
  bool deterministic = false;    // so is a run with checkpoints
  bool same_shard = false;       // every device gets the same rows: a check of the arithmetic
  int steps_in_flight = 4;       // at most StepWatch::kMostInFlight
  std::size_t bucket_bytes = 0;  // 0: chosen from the size of the model
  int reads_in_flight = 4;       // batches, all devices together
  int decodes_in_flight = 2;
  std::optional<CheckpointOptions> checkpoint;
  // Devices that fail are restarted, and the run resumes from the last step that is committed.
  // 0 restarts: the first failure ends the run, and nothing is copied for one. So it is where the
  // group has ranks elsewhere: there TrainingWorld::elastic() says what follows a failure.
  actors::RestartLimit device_restarts{.restarts = 0};
  // Steps between two commits to host memory, where a run resumes after failures of ranks, or of
  // devices and has no checkpoints; for as long as each takes, the devices hold what is carried
  // from step to step twice.
  std::uint64_t commit_every = 100;
  CallOptions call;
};

struct StepReport {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;   // finished ones of the whole run
  std::uint64_t steps = 0;  // of the whole run
  double loss = 0;
  double images_per_second = 0;
  Duration left{};
};

// Reported when a run resumes.
struct RecoveryReport {
  std::vector<devices::DeviceId> devices;  // that had failed, and were restarted
  std::optional<Error> error;              // that the attempt ended with
  std::uint64_t step = 0;                  // it resumes after so many
  std::uint64_t steps_lost = 0;            // that had ended, and are done again
  std::uint64_t recoveries = 0;            // of the run, this one included
  // Where the group was made anew: its ranks, and the time from the end of the attempt before to
  // that of the first step after it. Without an error a rank has joined the others.
  std::size_t world_size = 0;
  Duration time{};
};

// Called on the training's executor, one call at a time; must be short. What it hears is of the
// whole run, whatever ranks of it are here.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;
  virtual void on_start(const TrainingStart& start) = 0;
  virtual void on_step(const StepReport& step) = 0;
  virtual void on_epoch(std::uint64_t epoch, double mean_loss) = 0;
  // One is published; the steps continued meanwhile.
  virtual void on_checkpoint(const CheckpointReport& /*checkpoint*/) {}
  // Steps and epochs that come after what was committed are reported once more.
  virtual void on_recovery(const RecoveryReport& /*recovery*/) {}
};

}  // namespace millrace::train
