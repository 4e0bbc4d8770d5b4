// `millrace run`: one program, on one device or on as many as it is for, those of all processes of
// a job together; arrays in and out as .npy files.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/memory_left.h"
#include "millrace/core/base/printed.h"
#include "millrace/devices/cpu/compile/several_devices.h"
#include "millrace/devices/program.h"
#include "millrace/devices/registry.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/commands/whole_arrays.h"
#include "millrace/transfer/formats/npy.h"

namespace millrace::commands {

namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::Executable;

// Which of the program's devices are those of this process.
struct Share {
  devices::cpu::DeviceCounts counts = {};
  int processes = 1;
  int process = 0;

  std::size_t here() const { return static_cast<std::size_t>(counts.devices() / processes); }
  std::size_t first() const { return static_cast<std::size_t>(process) * here(); }
};

using Milliseconds = std::chrono::duration<double, std::milli>;

double since(TimePoint begin) { return Milliseconds(steady_clock().now() - begin).count(); }

// The median of sorted values.
double median(const std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}
double p99(const std::vector<double>& values) { return values[(values.size() - 1) * 99 / 100]; }

// One array per argument.
using Arrays = std::vector<devices::HostArray>;

// One program on its devices, as often as asked. A program that has shown to be short is launched
// as programs of users launch it, without a stop: a plugin is called on this thread then, and
// run_on asks between the runs. One that is stuck after all ends with the process (Limits).
class Runner {
 public:
  // inputs: of each device.
  Runner(const Runtime& runtime, Executable executable, std::vector<Arrays> inputs, bool spans,
         CallOptions call)
      : devices_(runtime.devices().begin(), runtime.devices().begin() + std::ssize(inputs)),
        timers_(*runtime.environment().timers),
        executable_(std::move(executable)),
        inputs_(std::move(inputs)),
        spans_processes_(spans),
        call_(std::move(call)),
        arguments_(inputs_.size()) {}

  // Milliseconds from the call until every result is written; the arguments are on the devices
  // before.
  Result<double> run() {
    // A short program is done before a timer could run.
    if (steady_clock().now() >= call_.deadline) {
      return fail(ErrorCode::kDeadlineExceeded,
                  "the deadline came before the program was executed");
    }
    std::vector<std::vector<devices::Argument>> arguments;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      MILLRACE_TRY_STATUS(put_missing(d));
      arguments.emplace_back(arguments_[d].begin(), arguments_[d].end());
    }
    const CallOptions call = short_ ? CallOptions{} : call_;
    const TimePoint begin = steady_clock().now();
    MILLRACE_TRY(outputs_, wait_blocking(launch(arguments, call)));
    // The device ends a launch that waits for another process, and says for which.
    const CallOptions limits = spans_processes_ ? CallOptions{} : call;
    for (const Buffer& output : outputs_) {
      if (const Status done = wait(output.ready(), limits); !done) return why(done.error());
    }
    const double milliseconds = since(begin);
    short_ = milliseconds < 1 && call_.deadline == kNoDeadline;
    return milliseconds;
  }
  Result<devices::HostArray> output(std::size_t device, std::size_t i) const {
    return wait_blocking(devices_[device].fetch(outputs_[device * outputs() + i], call_));
  }
  Buffers results_of(std::size_t device) const {
    std::vector<Buffer> results;
    for (std::size_t i = 0; i < outputs(); ++i) results.push_back(outputs_[device * outputs() + i]);
    return Buffers(std::span<const Buffer>(results));
  }
  std::size_t devices() const { return devices_.size(); }
  std::size_t outputs() const { return outputs_.size() / devices_.size(); }  // of each device

 private:
  Future<Buffers> launch(std::span<const std::vector<devices::Argument>> arguments,
                         const CallOptions& call) const {
    if (devices_.size() == 1)
      return devices_[0].execute(executable_, std::span(arguments[0]), {.call = call});
    const std::vector<std::span<const devices::Argument>> lists(arguments.begin(), arguments.end());
    return launch_spanning(devices_, executable_, lists, {}, {.call = call});
  }
  // A donated argument is gone after each run.
  Status put_missing(std::size_t device) {
    std::vector<Buffer>& there = arguments_[device];
    const Arrays& inputs = inputs_[device];
    there.resize(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (there[i] && !there[i].removed()) continue;
      devices::HostView view{.data = inputs[i].bytes().data(), .shape = inputs[i].shape()};
      view.owner = inputs[i].owner();
      MILLRACE_TRY(there[i], wait_blocking(devices_[device].put(view, {.call = call_})));
      MILLRACE_TRY_STATUS(wait(there[i].ready(), call_));
    }
    return {};
  }
  Status wait(const Future<void>& ready, const CallOptions& call) {
    return wait_blocking(with_options(ready, call, timers_));
  }

  // The device says that the program was stopped; the deadline may be what asked for it.
  std::unexpected<Error> why(const Error& error) const {
    if (error.code() != ErrorCode::kCancelled || call_.stop.stop_requested() ||
        steady_clock().now() < call_.deadline) {
      return std::unexpected(error);
    }
    return fail(ErrorCode::kDeadlineExceeded, "the program did not end before the deadline");
  }

  const std::vector<Device> devices_;
  TimerQueue& timers_;
  const Executable executable_;
  const std::vector<Arrays> inputs_;
  const bool spans_processes_;
  const CallOptions call_;
  std::vector<std::vector<Buffer>> arguments_;  // of each device
  Buffers outputs_;                             // of all devices, one after the other
  bool short_ = false;                          // the last run was
};

// The most bytes that the device has held, where the backend counts them; else what was in flight.
std::int64_t peak_bytes(const Runtime& runtime, const Device& device) {
  const Result<devices::MemoryStats> stats = wait_blocking(runtime.memory_stats(device.id()));
  if (stats && stats->peak_bytes_in_use) return *stats->peak_bytes_in_use;
  return static_cast<std::int64_t>(device.stats().peak_bytes_in_flight);
}

// What is said of results in types that NumPy does not have, each once; an error for what no file
// can hold.
Result<std::string> words_of_types(std::span<const devices::Shape> shapes) {
  std::vector<devices::DType> said;
  std::string words;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const devices::DType type = shapes[i].dtype();
    if (std::ranges::find(said, type) != said.end()) continue;
    said.push_back(type);
    if (const Result<std::string> header = transfer::make_npy_header(shapes[i]); !header) {
      return fail(header.error().code(),
                  "result " + std::to_string(i) + ": " + header.error().message());
    }
    const auto integers = transfer::npy_stand_in(type);
    if (!integers && !transfer::is_raw_in_npy(type)) continue;
    words +=
        "NumPy has no " + std::string(devices::to_string(type)) + ": such results are written as ";
    words += integers ? (*integers == devices::DType::kI8 ? "int8\n" : "uint8\n")
                      : "raw bytes (ml_dtypes has a type to view them as)\n";
  }
  return words;
}

Status make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return {};
  return fail(ErrorCode::kNotFound, "cannot make the folder " + path + ": " + error.message());
}

Status deliver(const RunFlags& flags, const std::string& name, const devices::HostArray& array,
               Console& console) {
  if (flags.outputs_folder.empty()) return console.data(name + ": " + summarize(array) + "\n");
  return transfer::write_npy_file(flags.outputs_folder + "/" + name + ".npy", array.shape(),
                                  array.bytes());
}

// Each device gives its own, with its number before the result's.
Status deliver_each(const RunFlags& flags, const Runner& runner, const Share& share,
                    Console& console) {
  const bool is_only = share.counts.devices() == 1;
  for (std::size_t d = 0; d < runner.devices(); ++d) {
    const std::string device = std::to_string(share.first() + d);
    if (!is_only && !flags.outputs_folder.empty())
      MILLRACE_TRY_STATUS(make_folder(flags.outputs_folder + "/" + device));
    for (std::size_t i = 0; i < runner.outputs(); ++i) {
      const std::string name = (is_only ? "" : device + "/") + std::to_string(i);
      MILLRACE_TRY(const devices::HostArray array, runner.output(d, i));
      MILLRACE_TRY_STATUS(deliver(flags, name, array, console));
    }
  }
  return {};
}

// What all devices have of each result, on the first process; of other processes by a group.
Result<std::vector<Arrays>> gather_parts(const Runtime& runtime, const Runner& runner,
                                         const Share& share, const CallOptions& call) {
  std::vector<Arrays> results(runner.outputs());
  if (share.processes == 1) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      for (std::size_t d = 0; d < runner.devices(); ++d) {
        MILLRACE_TRY(results[i].emplace_back(), runner.output(d, i));
      }
    }
    return results;
  }
  MILLRACE_TRY(const auto members, wait_blocking(runtime.make_group("millrace run", call)));
  std::vector<Future<Buffers>> gathered;
  for (std::size_t d = 0; d < runner.devices(); ++d)
    gathered.push_back(
        members[d].gather(runner.results_of(d), collectives::Rank{0}, {.call = call}));
  for (std::size_t d = 0; d < runner.devices(); ++d) {
    MILLRACE_TRY(const Buffers all, wait_blocking(gathered[d]));
    for (std::size_t i = 0; i < all.size(); ++i) {
      MILLRACE_TRY(const devices::HostArray rows, wait_blocking(runtime.device(d).fetch(all[i])));
      const devices::Shape part = runner.results_of(d)[i].shape();
      for (std::size_t p = 0; p < static_cast<std::size_t>(share.counts.devices()); ++p) {
        devices::HostArray& made = results[i].emplace_back(devices::HostArray::make(part));
        std::ranges::copy(rows.bytes().subspan(p * part.size_bytes(), part.size_bytes()),
                          made.mutable_bytes().begin());
      }
    }
  }
  for (const auto& member : members) MILLRACE_TRY_STATUS(wait_blocking(member.close()));
  return results;
}

Status deliver_outputs(const RunFlags& flags, const Runtime& runtime, const Runner& runner,
                       const Share& share, const std::optional<WholeArrays>& whole,
                       const CallOptions& call, Console& console) {
  if (flags.outputs_folder.empty() && flags.json) return {};
  if (!flags.outputs_folder.empty()) MILLRACE_TRY_STATUS(make_folder(flags.outputs_folder));
  if (!whole) return deliver_each(flags, runner, share, console);
  MILLRACE_TRY(const std::vector<Arrays> parts, gather_parts(runtime, runner, share, call));
  for (std::size_t i = 0; share.process == 0 && i < parts.size(); ++i) {
    MILLRACE_TRY(const devices::HostArray array, whole->whole(i, parts[i]));
    MILLRACE_TRY_STATUS(deliver(flags, std::to_string(i), array, console));
  }
  return {};
}

// The arrays of each device: its parts of whole ones; else DIR/DEVICE/0.npy, ... of --inputs where
// there is DIR/0/; else the same for all.
Result<std::vector<Arrays>> read_inputs_of(const Share& share, const InputFlags& flags,
                                           const devices::Program& program,
                                           std::span<const devices::Shape> shapes,
                                           const std::optional<WholeArrays>& whole,
                                           const CallOptions& call) {
  const std::size_t devices = share.here();
  if (whole) {
    MILLRACE_TRY(const Arrays arrays, read_inputs(flags, program, whole->arguments(), call));
    std::vector<Arrays> all(devices);
    for (std::size_t d = 0; d < devices; ++d) {
      for (std::size_t i = 0; i < arrays.size(); ++i)
        all[d].push_back(whole->part(i, arrays[i], share.first() + d));
    }
    return all;
  }
  std::error_code ignored;
  if (share.counts.devices() == 1 || flags.folder.empty() ||
      !std::filesystem::is_directory(flags.folder + "/0", ignored)) {
    MILLRACE_TRY(Arrays arrays, read_inputs(flags, program, shapes, call));
    return std::vector<Arrays>(devices, arrays);
  }
  std::vector<Arrays> all;
  for (std::size_t d = 0; d < devices; ++d) {
    InputFlags one = flags;
    one.folder += "/" + std::to_string(share.first() + d);
    MILLRACE_TRY(all.emplace_back(), read_inputs(one, program, shapes, call));
  }
  return all;
}

Result<ExitCode> run_on(const Runtime& runtime, const devices::Program& program, const Share& share,
                        const RunFlags& flags, const CallOptions& call, Console& console) {
  const devices::cpu::DeviceCounts& counts = share.counts;
  const std::size_t wanted = share.here();
  if (runtime.devices().size() < wanted) {
    return fail(ErrorCode::kInvalidArgument, program.name() + " is for " + std::to_string(wanted) +
                                                 " devices; there are " +
                                                 std::to_string(runtime.devices().size()));
  }
  const TimePoint begin = steady_clock().now();
  devices::CompileOptions compile_options{.replicas = counts.replicas,
                                          .partitions = counts.partitions,
                                          .processes = share.processes,
                                          .deterministic = flags.deterministic};
  if (counts.devices() > 1) {
    std::vector<devices::DeviceId> ids;
    for (std::size_t d = 0; d < wanted; ++d) ids.push_back(runtime.device(d).id());
    compile_options.devices = ListOf<devices::DeviceId>(ids);
    compile_options.portable = false;
  }
  MILLRACE_TRY(Executable executable,
               wait_blocking(compile_program(runtime, program, compile_options, call)));
  const double compile_ms = since(begin);
  if (!flags.outputs_folder.empty()) {
    MILLRACE_TRY(const std::string words, words_of_types(executable.output_shapes()));
    console.words(words);
  }

  std::optional<WholeArrays> whole;
  if (counts.partitions > 1) {
    MILLRACE_TRY(whole, WholeArrays::of(program));
  }
  MILLRACE_TRY(std::vector<Arrays> inputs, read_inputs_of(share, flags.inputs, program,
                                                          executable.input_shapes(), whole, call));
  // A plugin's devices have memory of their own.
  if (!runtime.client().calls_may_block()) {
    MILLRACE_TRY_STATUS(check_memory_left("the results and temporaries of an execution",
                                          executable.body()->launch_bytes()));
  }
  Runner runner(runtime, std::move(executable), std::move(inputs), share.processes > 1, call);
  std::vector<double> execute_ms;
  for (int i = 0; i < flags.repeat; ++i) {
    if (call.stop.stop_requested()) {
      return fail(ErrorCode::kCancelled, "stopped before the program was executed");
    }
    MILLRACE_TRY(const double milliseconds, runner.run());
    execute_ms.push_back(milliseconds);
  }
  std::ranges::sort(execute_ms);
  std::int64_t peak = 0;
  for (std::size_t d = 0; d < wanted; ++d) peak += peak_bytes(runtime, runtime.device(d));
  MILLRACE_TRY_STATUS(deliver_outputs(flags, runtime, runner, share, whole, call, console));
  if (share.process != 0) return ExitCode::kOk;  // the first one speaks
  if (!flags.json) {
    console.words(
        printed("compiled in %.1f ms, executed in %s (median of %zu; p99 %s), peak %.1f MiB\n",
                compile_ms, time_text(median(execute_ms)).c_str(), execute_ms.size(),
                time_text(p99(execute_ms)).c_str(), static_cast<double>(peak) / (1 << 20)));
    return ExitCode::kOk;
  }
  const nlohmann::ordered_json json = {{"compile_ms", compile_ms},
                                       {"execute_ms_median", median(execute_ms)},
                                       {"execute_ms_min", execute_ms.front()},
                                       {"execute_ms_p99", p99(execute_ms)},
                                       {"peak_bytes", peak}};
  MILLRACE_TRY_STATUS(console.data(json_text(json) + "\n"));
  return ExitCode::kOk;
}

// How many devices the program is for: as it says; where it says nothing, as --devices says, each
// with a partition of its arrays if it has a mesh for them, else with arrays of its own.
Result<devices::cpu::DeviceCounts> read_counts(const devices::Program& program, int devices) {
  const auto module = devices::stablehlo::read_program(program.code());
  if (!module) return devices::cpu::DeviceCounts{};  // the compiler says what is wrong
  devices::cpu::DeviceCounts counts = devices::cpu::device_counts(*module);
  if (devices == 0 || counts.devices() == devices) return counts;
  if (counts.devices() > 1) {
    return usage_error(program.name() + " is for " + std::to_string(counts.devices()) +
                       " devices, but --devices is " + std::to_string(devices));
  }
  (devices::cpu::has_mesh(*module) ? counts.partitions : counts.replicas) = devices;
  return counts;
}

// A program for several devices spans the processes of a job, each with as many of them.
Result<Share> read_share(const devices::Program& program, const RunFlags& flags,
                         const RuntimeOptions& options) {
  MILLRACE_TRY(const devices::cpu::DeviceCounts counts, read_counts(program, flags.devices));
  Share share{.counts = counts};
  if (!options.job || options.process.count == 1 || counts.devices() == 1) return share;
  share.processes = options.process.count;
  share.process = options.process.index;
  if (counts.devices() % share.processes == 0) return share;
  return fail(ErrorCode::kInvalidArgument,
              program.name() + " is for " + std::to_string(counts.devices()) + " devices, which " +
                  std::to_string(share.processes) +
                  " processes of a job cannot have equally many of");
}

}  // namespace

Result<ExitCode> run_command(const RunFlags& flags, Console& console) {
  MILLRACE_TRY(
      const std::unique_ptr<Limits> limits,
      Limits::create(console, {.deadline_seconds = flags.deadline_seconds,
                               .progress = [&] { return "before " + flags.file + " was done"; },
                               .json = flags.json}));
  MILLRACE_TRY(RuntimeOptions options, runtime_options(flags));
  // By a signal, save in an opening, whose error says where it is stuck.
  const auto stopped = [&](const Error& error) {
    return limits->signal() != 0 && error.code() == ErrorCode::kCancelled &&
           error.detail<devices::OpeningGivenUp>() == nullptr;
  };
  const auto stopped_cleanly = [&] {
    const int signal = limits->signal();
    console.words("stopped running " + flags.file + " on " + signal_name(signal) + "\n");
    return exit_code_of_signal(signal);
  };
  const Result<devices::Program> program = read_program(flags.file, limits->call());
  if (!program) return std::unexpected(limits->at_end(program.error()));
  MILLRACE_TRY(const Share share, read_share(*program, flags, options));
  // No more, so that they get all the threads.
  options.devices = static_cast<int>(share.here());
  const Result<ExitCode> code =
      with_runtime(options, *limits, console, [&](const Runtime& runtime) -> Result<ExitCode> {
        const Result<ExitCode> ran =
            run_on(runtime, *program, share, flags, limits->call(), console);
        if (ran) return ran;
        if (ran.error().detail<MemoryShortage>() != nullptr)
          return std::unexpected(ran.error().with_context("running " + flags.file));
        if (stopped(ran.error())) return stopped_cleanly();
        return std::unexpected(limits->at_end(ran.error()));
      });
  if (!code && stopped(code.error())) return stopped_cleanly();
  return code;
}

}  // namespace millrace::commands
