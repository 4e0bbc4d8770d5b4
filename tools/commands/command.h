// The commands behind `millrace`: what each is told by its options, and the functions that do it.
// main.cc reads the options and turns an error into an exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/commands/console.h"
#include "millrace/tools/commands/end_in_time.h"
#include "millrace/tools/commands/exit_code.h"
#include "millrace/tools/commands/inputs.h"
#include "millrace/tools/commands/limits.h"

namespace millrace::commands {

struct DevicesFlags {
  std::vector<std::string> plugins;  // NAME=PATH[,OPTION=VALUE...] each
  double deadline_seconds = 30;      // of the look at each
  bool json = false;
};

struct EnvFlags {
  bool json = false;
};

struct RunFlags {
  std::string file;
  std::vector<std::string> plugins;
  std::string compilation_cache;  // FOLDER[,read_only][,max=BYTES]; empty: as the environment says
  InputFlags inputs;
  std::string outputs_folder;
  int repeat = 1;
  std::string trace;  // file
  std::optional<int> threads;
  std::optional<double> deadline_seconds;
  bool deterministic = false;
  bool json = false;
};

struct TrainFlags {
  std::string model;
  std::string data;
  bool fake_data = false;
  std::vector<std::string> plugins;
  std::string compilation_cache;
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
  int restarts = 3;   // of devices, within a minute
  std::string trace;  // file
  bool deterministic = false;
  bool no_shuffle = false;
  bool json = false;
  bool quiet = false;
};

struct TraceFlags {
  std::string file;
  std::string svg;             // file
  std::optional<double> from;  // seconds since the begin of the timeline
  std::optional<double> to;
  std::size_t top = 5;  // kinds of events told per lane
  bool all_lanes = false;
  bool json = false;
};

struct InspectFlags {
  std::string file;
  std::vector<std::string> plugins;
  std::string svg;    // file
  std::string write;  // a file for the program: text, or a portable artifact if it ends in .bc
  std::string vhlo;   // for write: the artifact's version; "": old enough for others
  bool ops = false;
  InputFlags inputs;  // for ops; none: made ones
  int repeat = 20;
  std::optional<int> threads;
  std::optional<double> deadline_seconds;  // with a plugin
  bool deterministic = false;
  bool json = false;
};

struct ConformFlags {
  std::string plugin;                // PATH or NAME=PATH, with ,OPTION=VALUE...
  std::vector<std::string> options;  // OPTION=VALUE each
  std::vector<std::string> filters;
  double deadline_seconds = 60;
  int executions = 10'000;
  std::string junit;  // file
  bool list = false;
  bool here = false;
  bool json = false;
};

Result<ExitCode> devices_command(const DevicesFlags& flags, Console& console);
Result<ExitCode> env_command(const EnvFlags& flags, Console& console);
Result<ExitCode> run_command(const RunFlags& flags, Console& console);
Result<ExitCode> train_command(const TrainFlags& flags, Console& console);
Result<ExitCode> inspect_command(const InspectFlags& flags, Console& console);
Result<ExitCode> trace_command(const TraceFlags& flags, Console& console);
Result<ExitCode> conform_command(const ConformFlags& flags, Console& console);

// "millrace 0.1.0", compiler, kind of build, and the devices that PJRT_DEVICE may name.
std::string version_text();

// The environment's options; what the flags say goes over it.
Result<RuntimeOptions> runtime_options(std::optional<int> threads, std::optional<int> devices,
                                       const std::vector<std::string>& plugins = {},
                                       const std::string& compilation_cache = {});
// Runtime::create within the limits, its errors marked with ExitCode::kDevice, or by what has ended
// it.
Result<Runtime> open_runtime(const RuntimeOptions& options, const Limits& limits);
// Opens a runtime, works with it, closes it (close_runtime) and lets it go. What the work has come
// to is told before that, since the end of a plugin's client may take long, or not come: then the
// process ends as EndInTime says.
Result<ExitCode> with_runtime(const RuntimeOptions& options, const Limits& limits,
                              EndInTime::Options end_options, Console& console,
                              const std::function<Result<ExitCode>(const Runtime&)>& work);
// Closes the runtime. If it writes a trace, the file then has everything, an error of closing
// counts unless `code` is one already, and events that were lost are warned of.
Result<ExitCode> close_runtime(const Runtime& runtime, Result<ExitCode> code, Console& console);
// Marks the errors of a compilation with ExitCode::kProgramRejected; a program for several devices
// is refused where the options name one.
Future<devices::Executable> compile_program(const Runtime& runtime, const devices::Program& program,
                                            const devices::CompileOptions& options,
                                            const CallOptions& call);

}  // namespace millrace::commands
