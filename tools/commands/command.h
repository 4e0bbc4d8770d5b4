// The commands behind `millrace`: the options of each, and the functions that run it.
// main.cc reads the options and turns an error into an exit code.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/commands/console.h"
#include "millrace/tools/commands/limits.h"
#include "millrace/tools/train/training.h"
#include "millrace/transfer/formats/npy.h"

namespace CLI {
class App;
}

namespace millrace::commands {

// As the user gave them.
struct InputFlags {
  std::vector<std::string> files;  // in the order of the arguments
  std::string folder;              // or 0.npy, 1.npy, ... in here
};

struct PluginFlags {
  std::vector<std::string> given = {};  // NAME=PATH[,OPTION=VALUE...] each
  bool find = false;                    // those that pip has installed, too
};

// What the commands that open a runtime have in common.
struct RuntimeFlags {
  PluginFlags plugins = {};
  // FOLDER[,read_only][,max=BYTES]; empty: as the environment says
  std::string compilation_cache = {};
  std::optional<int> threads = {};
  std::optional<int> devices = {};
  std::optional<double> deadline_seconds = {};
  std::string trace = {};  // file; empty: as the environment says
  bool json = false;
};

struct DevicesFlags {
  PluginFlags plugins;
  double deadline_seconds = 30;  // of the look at each
  bool json = false;
};

struct EnvFlags {
  bool json = false;
};

struct RunFlags : RuntimeFlags {
  std::string file;
  InputFlags inputs;
  std::string outputs_folder;
  int devices = 0;  // 0: as many as the program says
  int repeat = 1;
  bool deterministic = false;
};

struct TrainFlags : RuntimeFlags {
  TrainFlags() { training.device_restarts.restarts = 3; }
  train::TrainingOptions training;      // as the options say; data and checkpoint are missing
  train::CheckpointOptions checkpoint;  // folder; empty: none
  std::string data;
  bool fake_data = false;
  bool no_shuffle = false;
  bool quiet = false;
};

struct TraceFlags {
  std::string file;
  std::string svg;             // file
  std::optional<double> from;  // seconds since the begin of the timeline
  std::optional<double> to;
  std::size_t top = 5;  // kinds of events printed per lane
  bool all_lanes = false;
  bool json = false;
};

struct InspectFlags : RuntimeFlags {
  std::string file;
  std::string svg;    // file
  std::string write;  // a file for the program: text, or a portable artifact if it ends in .bc
  std::string vhlo;   // for write: the artifact's version; "": old enough for others
  bool ops = false;
  InputFlags inputs;  // for ops; none: made ones
  int repeat = 20;
  bool deterministic = false;
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

struct CollectivesFlags : RuntimeFlags {
  bool check = false;
  std::vector<std::string> ops;     // none: all
  std::vector<std::string> dtypes;  // none: by check
  std::vector<std::size_t> bytes;   // none: by check
  std::string algorithm;            // empty: each that a call has
  std::vector<int> ranks;           // none: all
  std::string fault;                // KIND@RANK
};

struct ServeFlags : RuntimeFlags {
  std::vector<std::string> models;       // NAME=FOLDER each
  std::vector<std::string> checkpoints;  // NAME=DIR each
  std::string listen = "127.0.0.1:8000";
  std::string tls_certificate;  // PEM files; empty: no TLS
  std::string tls_key;
  bool is_public = false;
  std::string token_file;
  std::vector<std::int64_t> batch_sizes;  // none: all that were exported
  double delay_ms = 0;
  std::size_t queue_requests = 1024;
  std::size_t queue_mib = 64;
  std::size_t body_mib = 64;
  std::size_t connections = 1024;
  double request_seconds = 30;
  double reload_seconds = 1;
  double grace_seconds = 10;
  bool access_log = false;
};

struct LoadFlags {
  std::string url;
  double rate = 0;
  int clients = 0;  // 0: by the kind of the loop
  double seconds = 10;
  double timeout_seconds = 30;
  std::int64_t rows = 1;
  std::optional<std::int64_t> length;
  std::uint64_t seed = 1;
  std::string token_file;
  std::string svg;  // file
  bool any_host = false;
  bool json = false;
};

struct StatusFlags {
  bool json = false;
};

struct LaunchFlags {
  std::vector<std::string> words;  // the program and its arguments
  int ranks = 0;
  double grace_seconds = 5;
  double silent_after_seconds = 10;
  std::string store = "unix";
  std::string transport;  // empty: as store
  int restarts = 0;
  double restart_delay_seconds = 0;
  int least = 0;  // 0: all
  std::optional<double> deadline_seconds;
  std::string log_folder;
  bool json = false;
};

Result<ExitCode> devices_command(const DevicesFlags& flags, Console& console);
Result<ExitCode> env_command(const EnvFlags& flags, Console& console);
Result<ExitCode> run_command(const RunFlags& flags, Console& console);
Result<ExitCode> train_command(const TrainFlags& flags, Console& console);
Result<ExitCode> inspect_command(const InspectFlags& flags, Console& console);
Result<ExitCode> trace_command(const TraceFlags& flags, Console& console);
Result<ExitCode> conform_command(const ConformFlags& flags, Console& console);
Result<ExitCode> collectives_command(const CollectivesFlags& flags, Console& console);
void add_collectives_options(CLI::App& command, CollectivesFlags& flags);
Result<ExitCode> serve_command(const ServeFlags& flags, Console& console);
void add_serve_options(CLI::App& command, ServeFlags& flags);
Result<ExitCode> load_command(const LoadFlags& flags, Console& console);
void add_load_options(CLI::App& command, LoadFlags& flags);
// The token of a file, without its line end; a usage error where it is shorter than 16 bytes. Empty
// without a file.
Result<std::string> read_token(const std::string& file);
Result<ExitCode> status_command(const StatusFlags& flags, Console& console);
Result<ExitCode> launch_command(const LaunchFlags& flags, Console& console);
void add_launch_options(CLI::App& command, LaunchFlags& flags);

// Both block. Files must be regular ones; stdin may be anything, and is read until its end, or that
// of the call (kCancelled, kDeadlineExceeded).
Result<devices::Program> read_program(const std::string& file, const CallOptions& call);
// One array per shape, which may be a pattern (shape.h). A usage error if their numbers
// differ, kInvalidArgument if a file holds another shape.
Result<std::vector<devices::HostArray>> read_inputs(const InputFlags& flags,
                                                    const devices::Program& program,
                                                    std::span<const devices::Shape> shapes,
                                                    const CallOptions& call);

// A few words about an array, for people: its shape and its elements, or their range where they are
// many: "tensor<2x2xf32> [1, 2, 3, 4]"; beyond 16 elements "tensor<...> min -1.5, max 2, mean 0.25,
// 3 not finite". Element types that C++ has no number for are named only.
std::string summarize(const devices::HostArray& array);
// "12.345 ms"; below a millisecond three digits that count: "0.681 us".
std::string time_text(double milliseconds);

// A script that bash sources, made from the options themselves, so it cannot differ from them: it
// completes the command `app` and its subcommands.
std::string bash_completion(const CLI::App& app);

// "millrace 0.1.0", compiler, kind of build, and the devices that PJRT_DEVICE may name.
std::string version_text();

// The environment's options; what the flags say goes over it.
Result<RuntimeOptions> runtime_options(const RuntimeFlags& flags);
// Runtime::create within the limits, its errors marked with ExitCode::kDevice, or by what has ended
// it.
Result<Runtime> open_runtime(const RuntimeOptions& options, const Limits& limits);
// Opens a runtime, works with it, and closes it; then a trace file has everything. Reports the
// result before it destroys the runtime, since the end of a plugin's client may take long, or not
// come: then the process ends with what was reported.
Result<ExitCode> with_runtime(const RuntimeOptions& options, Limits& limits, Console& console,
                              const std::function<Result<ExitCode>(const Runtime&)>& work);
// Marks the errors of a compilation with ExitCode::kProgramRejected; a program for several devices
// is refused where the options name one.
Future<devices::Executable> compile_program(const Runtime& runtime, const devices::Program& program,
                                            const devices::CompileOptions& options,
                                            const CallOptions& call);

}  // namespace millrace::commands
