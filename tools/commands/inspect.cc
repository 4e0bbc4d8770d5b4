// `millrace inspect`: what a program is made of and, with --ops, where the time of a run of it
// goes.
#include <strings.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/program.h"
#include "millrace/devices/shape_pattern.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/commands/inputs.h"
#include "millrace/tools/inspect/memory_picture.h"
#include "millrace/tools/inspect/op_times.h"
#include "millrace/tools/inspect/program_facts.h"
#include "millrace/tools/inspect/written_program.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::commands {

namespace {

std::unexpected<Error> rejected(const Error& error, const std::string& file) {
  return std::unexpected(
      error.with_context(file).with_detail(ExitWith{ExitCode::kProgramRejected}));
}

bool has_inputs(const InspectFlags& flags) {
  return !flags.inputs.files.empty() || !flags.inputs.folder.empty();
}

// The arrays of --input and --inputs, and their shapes; none of either if none were given, which is
// an error if a run needs them.
struct Given {
  std::vector<std::shared_ptr<transfer::NpyArray>> arrays;
  std::vector<devices::Shape> shapes;
};

Result<Given> read_given(const devices::Program& program, const InspectFlags& flags,
                         const CallOptions& call) {
  Given given;
  const bool runs = flags.ops || !flags.svg.empty();
  if (!has_inputs(flags) && !runs) return given;
  const auto patterns = inspect::argument_shapes(program);
  if (!patterns) return rejected(patterns.error(), flags.file);
  if (!has_inputs(flags)) {
    if (devices::are_complete(*patterns)) return given;
    return usage_error(flags.file +
                       " leaves shapes of its arguments open: --input or --inputs gives them");
  }
  MILLRACE_TRY(given.arrays, read_inputs(flags.inputs, program, *patterns, call));
  for (const auto& array : given.arrays) given.shapes.push_back(array->shape);
  return given;
}

// Where arrays are that a run takes: the given ones, or made ones.
class Inputs {
 public:
  Inputs(const Given& given, std::span<const devices::Shape> shapes) {
    for (const auto& array : given.arrays) addresses_.push_back(array->data.get());
    if (!given.arrays.empty()) return;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      made_.push_back(inspect::random_bytes(shapes[i], static_cast<std::uint32_t>(i)));
    for (const auto& bytes : made_) addresses_.push_back(bytes.data());
  }
  std::span<const void* const> addresses() const { return addresses_; }

 private:
  std::vector<std::vector<std::byte>> made_;
  std::vector<const void*> addresses_;
};

Result<std::string> time_ops(const devices::Program& program, const InspectFlags& flags,
                             const Given& given, const CallOptions& call) {
  MILLRACE_TRY(const RuntimeOptions options, runtime_options(flags));
  const auto timed = inspect::TimedProgram::create(program, flags.deterministic, given.shapes);
  if (!timed) return rejected(timed.error(), flags.file);
  const Inputs inputs(given, timed->inputs());
  // This thread is one of them.
  const int threads = compute_threads(options);
  const auto executor = threads > 1
                            ? make_executor(default_compute_backend(), threads - 1, "millrace-dev0")
                            : nullptr;
  const auto parallel =
      executor != nullptr ? make_parallel_on(*executor, threads) : make_serial_parallel();
  MILLRACE_TRY(const inspect::OpTimes times,
               timed->run(inputs.addresses(), flags.repeat, *parallel, call.stop));
  return flags.json ? times.to_json() + "\n" : times.to_text();
}

// What a plugin makes of the program.
struct Compiled {
  std::string kind;  // as PJRT_DEVICE names it
  std::string platform;
  double compile_ms = 0;
  devices::Executable executable;
  Result<devices::Attributes> cost;
};

// Attributes that are numbers, the others as text.
nlohmann::ordered_json attribute_json(const devices::Attribute& attribute) {
  nlohmann::ordered_json json;
  std::visit([&json](const auto& value) { json = value; }, attribute);
  return json;
}

nlohmann::ordered_json to_json(const Compiled& compiled) {
  nlohmann::ordered_json cost = nlohmann::ordered_json::object();
  if (compiled.cost) {
    for (const auto& [name, value] : *compiled.cost) cost[name] = attribute_json(value);
  }
  std::vector<std::size_t> donated;
  const auto inputs = compiled.executable.donated_inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) donated.push_back(i);
  }
  return {{"device", compiled.kind},
          {"platform", compiled.platform},
          {"compile_ms", compiled.compile_ms},
          {"donated", donated},
          {"temporaries", compiled.executable.body()->temporary_bytes()},
          {"cost", cost}};
}

std::string to_text(const Compiled& compiled) {
  char time[32];
  std::snprintf(time, sizeof time, "%.1f", compiled.compile_ms);
  std::string text =
      "\ncompiled by " + compiled.kind + " (" + compiled.platform + ") in " + time +
      " ms\n  temporaries  " +
      inspect::bytes_text(static_cast<std::size_t>(compiled.executable.body()->temporary_bytes())) +
      "\n";
  if (!compiled.cost) return text + "  no cost analysis: " + compiled.cost.error().message() + "\n";
  for (const auto& [name, value] : *compiled.cost)
    text += "  " + name + "  " + json_text(attribute_json(value)) + "\n";
  return text;
}

bool wants_plugin(const InspectFlags& flags, const RuntimeOptions& options) {
  return !flags.plugins.empty() ||
         (!options.device.empty() && ::strcasecmp(options.device.c_str(), "cpu") != 0);
}

Result<Compiled> compile_there(const Runtime& runtime, const devices::Program& program,
                               const CallOptions& call) {
  const TimePoint begin = steady_clock().now();
  MILLRACE_TRY(devices::Executable executable,
               wait_blocking(compile_program(runtime, program, {}, call)));
  const std::chrono::duration<double, std::milli> time = steady_clock().now() - begin;
  const devices::Client& client = runtime.client();
  Result<devices::Attributes> cost = wait_blocking(runtime.cost_analysis(executable));
  return Compiled{.kind = runtime.device_kind(),
                  .platform = std::string(client.platform_name()) + " " +
                              std::string(client.platform_version()),
                  .compile_ms = time.count(),
                  .executable = std::move(executable),
                  .cost = std::move(cost)};
}

// What the program is made of, and what the plugin makes of it if one is asked for.
Result<ExitCode> tell(const inspect::ProgramFacts& facts, const devices::Program& program,
                      const InspectFlags& flags, Limits& limits, Console& console) {
  MILLRACE_TRY(const RuntimeOptions options, runtime_options(flags));
  if (!wants_plugin(flags, options)) {
    MILLRACE_TRY_STATUS(console.data(flags.json ? facts.to_json() + "\n" : facts.to_text()));
    return ExitCode::kOk;
  }
  limits.set_grace(Limits::kStep);
  return with_runtime(options, limits, console, [&](const Runtime& runtime) -> Result<ExitCode> {
    const Result<Compiled> compiled = compile_there(runtime, program, limits.call());
    if (!compiled) return std::unexpected(limits.at_end(compiled.error()));
    std::string text = facts.to_text() + to_text(*compiled);
    if (flags.json) {
      auto json = nlohmann::ordered_json::parse(facts.to_json());
      json["compiled"] = to_json(*compiled);
      text = json_text(json) + "\n";
    }
    MILLRACE_TRY_STATUS(console.data(text));
    return ExitCode::kOk;
  });
}

// The files that are asked for, then the facts.
Result<inspect::ProgramFacts> look_at(const devices::Program& program, const InspectFlags& flags,
                                      std::span<const devices::Shape> shapes) {
  if (!flags.svg.empty()) {
    const auto map = inspect::memory_map(program, shapes);
    if (!map) return rejected(map.error(), flags.file);
    MILLRACE_TRY_STATUS(transfer::write_file(flags.svg, inspect::draw(*map)));
  }
  if (!flags.write.empty()) {
    const auto written = inspect::written_program(program, flags.write, flags.vhlo);
    if (!written) return rejected(written.error(), flags.file);
    MILLRACE_TRY_STATUS(transfer::write_file(flags.write, *written));
  }
  auto facts = inspect::inspect(program, shapes);
  if (!facts) return rejected(facts.error(), flags.file);
  return facts;
}

}  // namespace

Result<ExitCode> inspect_command(const InspectFlags& flags, Console& console) {
  MILLRACE_TRY(const std::unique_ptr<Limits> limits,
               Limits::create(
                   console, {.deadline_seconds = flags.deadline_seconds,
                             // Without a plugin nothing has to end in order.
                             .grace = Limits::kTelling,
                             .progress = [&] { return "before " + flags.file + " was inspected"; },
                             .json = flags.json}));
  const auto ended = [&](const Error& error) { return std::unexpected(limits->at_end(error)); };
  const Result<devices::Program> program = read_program(flags.file, limits->call());
  if (!program) return ended(program.error());
  const Result<Given> given = read_given(*program, flags, limits->call());
  if (!given) return ended(given.error());
  if (flags.ops) {
    const Result<std::string> text = time_ops(*program, flags, *given, limits->call());
    if (!text) return ended(text.error());
    MILLRACE_TRY_STATUS(console.data(*text));
    return ExitCode::kOk;
  }
  MILLRACE_TRY(const inspect::ProgramFacts facts, look_at(*program, flags, given->shapes));
  return tell(facts, *program, flags, *limits, console);
}

}  // namespace millrace::commands
