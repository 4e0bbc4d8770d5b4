// The commands behind `millrace`: what each is told by its options, and the functions that do it.
// main.cc reads the options and turns an error into an exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/commands/console.h"
#include "millrace/tools/commands/exit_code.h"

namespace millrace::commands {

struct DevicesFlags {
  bool json = false;
};

struct RunFlags {
  std::string file;
  std::vector<std::string> inputs;  // files, in the order of the arguments
  std::string inputs_folder;        // or 0.npy, 1.npy, ... in here
  std::string outputs_folder;
  int repeat = 1;
  std::optional<int> threads;
  std::optional<double> deadline_seconds;
  bool deterministic = false;
  bool json = false;
};

struct TrainFlags {
  std::string model;
  std::string data;
  bool fake_data = false;
  std::optional<int> devices;
  std::int64_t batch_size = 128;
  std::uint64_t epochs = 3;
  std::optional<std::uint64_t> max_steps;
  std::uint64_t seed = 1;
  std::optional<int> threads;
  std::optional<double> deadline_seconds;
  int steps_in_flight = 4;
  std::size_t bucket_bytes = 0;
  std::string checkpoint;   // folder; empty: none
  std::uint64_t every = 0;  // steps; 0: once per epoch
  bool resume = false;
  bool deterministic = false;
  bool no_shuffle = false;
  bool json = false;
  bool quiet = false;
};

Result<ExitCode> devices_command(const DevicesFlags& flags, Console& console);
Result<ExitCode> run_command(const RunFlags& flags, Console& console);
Result<ExitCode> train_command(const TrainFlags& flags, Console& console);

// "millrace 0.1.0", compiler, kind of build, and the devices that PJRT_DEVICE may name.
std::string version_text();

// The environment's options; what the flags say goes over it.
Result<RuntimeOptions> runtime_options(std::optional<int> threads, std::optional<int> devices);
// Runtime::create, its errors marked with ExitCode::kDevice.
Result<Runtime> open_runtime(const RuntimeOptions& options);
// Now plus so many seconds; kNoDeadline without them.
TimePoint deadline_after(std::optional<double> seconds);
// Marks the errors of a compilation with ExitCode::kProgramRejected.
Future<devices::Executable> compile_program(const Runtime& runtime, const devices::Program& program,
                                            const devices::CompileOptions& options,
                                            const CallOptions& call);

}  // namespace millrace::commands
