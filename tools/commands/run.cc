// `millrace run`: one program on one device, arrays in and out as .npy files.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/memory_left.h"
#include "millrace/core/base/printed.h"
#include "millrace/devices/program.h"
#include "millrace/devices/registry.h"
#include "millrace/tools/commands/command.h"
#include "millrace/transfer/formats/npy.h"

namespace millrace::commands {

namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::Executable;

using Milliseconds = std::chrono::duration<double, std::milli>;

double since(TimePoint begin) { return Milliseconds(steady_clock().now() - begin).count(); }

// The median of sorted values.
double median(const std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}
double p99(const std::vector<double>& values) { return values[(values.size() - 1) * 99 / 100]; }

// One program on one device, as often as asked. A program that has shown to be short is launched as
// programs of users launch it, without a stop: a plugin is called on this thread then, and run_on
// asks between the runs. One that is stuck after all ends with the process (Limits).
class Runner {
 public:
  Runner(const Runtime& runtime, Executable executable, std::vector<devices::HostArray> inputs,
         CallOptions call)
      : device_(runtime.device(0)),
        timers_(*runtime.environment().timers),
        executable_(std::move(executable)),
        inputs_(std::move(inputs)),
        call_(std::move(call)) {}

  // Milliseconds from the call until every result is written; the arguments are on the device
  // before.
  Result<double> run() {
    // A short program is done before a timer could run.
    if (steady_clock().now() >= call_.deadline) {
      return fail(ErrorCode::kDeadlineExceeded,
                  "the deadline came before the program was executed");
    }
    MILLRACE_TRY_STATUS(put_missing());
    const std::vector<devices::Argument> arguments(arguments_.begin(), arguments_.end());
    const std::span<const devices::Argument> all(arguments);
    const CallOptions call = short_ ? CallOptions{} : call_;
    const TimePoint begin = steady_clock().now();
    MILLRACE_TRY(outputs_, wait_blocking(device_.execute(executable_, all, {.call = call})));
    for (const Buffer& output : outputs_) {
      if (const Status done = wait(output.ready(), call); !done) return why(done.error());
    }
    const double milliseconds = since(begin);
    short_ = milliseconds < 1 && call_.deadline == kNoDeadline;
    return milliseconds;
  }
  Result<devices::HostArray> output(std::size_t i) {
    return wait_blocking(device_.fetch(outputs_[i], call_));
  }
  std::size_t outputs() const { return outputs_.size(); }

 private:
  // A donated argument is gone after each run.
  Status put_missing() {
    arguments_.resize(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (arguments_[i] && !arguments_[i].removed()) continue;
      devices::HostView view{.data = inputs_[i].bytes().data(), .shape = inputs_[i].shape()};
      view.owner = inputs_[i].owner();
      MILLRACE_TRY(arguments_[i], wait_blocking(device_.put(view, {.call = call_})));
      MILLRACE_TRY_STATUS(wait(arguments_[i].ready(), call_));
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

  const Device device_;
  TimerQueue& timers_;
  const Executable executable_;
  const std::vector<devices::HostArray> inputs_;
  const CallOptions call_;
  std::vector<Buffer> arguments_;
  Buffers outputs_;
  bool short_ = false;  // the last run was
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

Status deliver_outputs(const RunFlags& flags, Runner& runner, Console& console) {
  if (!flags.outputs_folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(flags.outputs_folder, error);
    if (error) {
      return fail(ErrorCode::kNotFound,
                  "cannot make the folder " + flags.outputs_folder + ": " + error.message());
    }
  } else if (flags.json) {
    return {};
  }
  for (std::size_t i = 0; i < runner.outputs(); ++i) {
    MILLRACE_TRY(const devices::HostArray array, runner.output(i));
    if (flags.outputs_folder.empty()) {
      MILLRACE_TRY_STATUS(console.data(std::to_string(i) + ": " + summarize(array) + "\n"));
    } else {
      const std::string path = flags.outputs_folder + "/" + std::to_string(i) + ".npy";
      MILLRACE_TRY_STATUS(transfer::write_npy_file(path, array.shape(), array.bytes()));
    }
  }
  return {};
}

Result<ExitCode> run_on(const Runtime& runtime, const devices::Program& program,
                        const RunFlags& flags, const CallOptions& call, Console& console) {
  const TimePoint begin = steady_clock().now();
  const devices::CompileOptions compile_options{.deterministic = flags.deterministic};
  MILLRACE_TRY(Executable executable,
               wait_blocking(compile_program(runtime, program, compile_options, call)));
  const double compile_ms = since(begin);
  if (!flags.outputs_folder.empty()) {
    MILLRACE_TRY(const std::string words, words_of_types(executable.output_shapes()));
    console.words(words);
  }

  MILLRACE_TRY(std::vector<devices::HostArray> inputs,
               read_inputs(flags.inputs, program, executable.input_shapes(), call));
  // A plugin's devices have memory of their own.
  if (!runtime.client().calls_may_block()) {
    MILLRACE_TRY_STATUS(check_memory_left("the results and temporaries of an execution",
                                          executable.body()->launch_bytes()));
  }
  Runner runner(runtime, std::move(executable), std::move(inputs), call);
  std::vector<double> execute_ms;
  for (int i = 0; i < flags.repeat; ++i) {
    if (call.stop.stop_requested()) {
      return fail(ErrorCode::kCancelled, "stopped before the program was executed");
    }
    MILLRACE_TRY(const double milliseconds, runner.run());
    execute_ms.push_back(milliseconds);
  }
  std::ranges::sort(execute_ms);
  const std::int64_t peak = peak_bytes(runtime, runtime.device(0));
  MILLRACE_TRY_STATUS(deliver_outputs(flags, runner, console));
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

}  // namespace

Result<ExitCode> run_command(const RunFlags& flags, Console& console) {
  MILLRACE_TRY(
      const std::unique_ptr<Limits> limits,
      Limits::create(console, {.deadline_seconds = flags.deadline_seconds,
                               .progress = [&] { return "before " + flags.file + " was done"; },
                               .json = flags.json}));
  MILLRACE_TRY(RuntimeOptions options, runtime_options(flags));
  options.devices = 1;  // so that it gets all the threads
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
  const Result<ExitCode> code =
      with_runtime(options, *limits, console, [&](const Runtime& runtime) -> Result<ExitCode> {
        const Result<ExitCode> ran = run_on(runtime, *program, flags, limits->call(), console);
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
