// A small model for tests of the training on simulated devices: two parameters of a linear
// regression, with the programs as C++ functions, a source whose stages wait on the clock, and the
// same training in a few plain lines.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/observe/trace.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"
#include "millrace/devices/sim/sim_client.h"
#include "millrace/tools/train/recovery.h"
#include "tests/support/simulation.h"

namespace millrace::train::testing {

inline constexpr std::int64_t kPixels = 4;
inline constexpr std::int64_t kRandomWords = 3;  // that grad takes, and does nothing with

// A folder with a manifest and programs named "sim:...", for shards of rows; removed on
// destruction.
class ModelFolder {
 public:
  explicit ModelFolder(std::int64_t rows);
  ~ModelFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What a training reports, the last report of each.
class Reports final : public TrainingListener {
 public:
  void on_start(const TrainingStart& s) override { start = s; }
  void on_step(const StepReport& step) override { losses[step.step] = step.loss; }
  void on_epoch(std::uint64_t epoch, double mean) override { means[epoch] = mean; }
  void on_checkpoint(const CheckpointReport& checkpoint) override {
    checkpoints.push_back(checkpoint.step);
  }
  TrainingStart start;
  std::map<std::uint64_t, double> losses;  // by the number of the step, from 1
  std::map<std::uint64_t, double> means;   // by epoch
  std::vector<std::uint64_t> checkpoints;
};

struct ProgramTimes {
  Duration grad = std::chrono::milliseconds(10);
  Duration update = std::chrono::milliseconds(1);
  Duration eval = std::chrono::milliseconds(2);
};
devices::sim::SimProgram grad_program(std::int64_t rows, const ProgramTimes& times = {});
// init, grad, update and eval for shards of rows. Bias gradients are written after 40 % of grad,
// weights at 80 %.
void add_programs(devices::sim::SimClient& client, std::int64_t rows,
                  const ProgramTimes& times = {});

// Item i is four pixels and a label, made from i. Reading takes time and no CPU.
class ClockSource final : public transfer::ItemSource {
 public:
  ClockSource(TimerQueue& timers, std::uint64_t items, Duration read, Duration decode);
  std::uint64_t items() const override { return items_; }
  std::span<const transfer::Field> fields() const override { return fields_; }
  Future<void> read(const Ref<transfer::SourceBatch>& batch, std::stop_token stop) override;
  Future<void> decode(const Ref<transfer::SourceBatch>& batch, std::stop_token stop) override;

  // The nth read or decode (from 1) of any batch fails, throws, or never ends.
  enum class Fault : std::uint8_t {
    kNone,
    kReadFails,
    kReadThrows,
    kReadHangs,
    kDecodeFails,
    kDecodeThrows,
  };
  void script(Fault fault, std::uint64_t nth) {
    fault_ = fault;
    nth_ = nth;
  }
  // Ends the reads that hang, when the run has given them up.
  void unblock() { hung_.clear(); }
  static std::uint8_t pixel(std::uint64_t item, std::int64_t i);
  static std::uint8_t label(std::uint64_t item);

 private:
  TimerQueue& timers_;
  const std::uint64_t items_;
  const Duration read_;
  const Duration decode_;
  std::vector<transfer::Field> fields_;
  Fault fault_ = Fault::kNone;
  std::uint64_t nth_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t decodes_ = 0;
  std::vector<Promise<void>> hung_;
};

// Everything a training in simulation needs; closed by the simulation at the end of the test.
class SimulatedTraining {
 public:
  SimulatedTraining(millrace::testing::Simulation& sim, int devices, std::int64_t rows,
                    const ProgramTimes& times = {}, bool in_order = false,
                    Duration transfer_latency = {});
  TrainingParts parts();
  TrainingOptions options(std::uint64_t items, std::uint64_t epochs);

  millrace::testing::Simulation& sim_;
  ModelFolder model_;
  TraceRecorder trace_;
  devices::sim::SimClient client_;
  std::vector<devices::Device> devices_;
  std::shared_ptr<ClockSource> source_;

 private:
  std::int64_t rows_;
};

// The losses of the same training, without any runtime: shards of rows, gradients averaged over
// them.
std::vector<double> plain_losses(std::uint64_t items, std::int64_t rows, int shards,
                                 std::uint64_t steps);

}  // namespace millrace::train::testing
