// `millrace inspect`: what a program is made of and, with --ops, where the time of a run of it
// goes.
#include <strings.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/program.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/bytecode/write_bytecode.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/inspect/bytes_text.h"
#include "millrace/tools/inspect/memory_picture.h"
#include "millrace/tools/inspect/program_facts.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::commands {

namespace {

namespace stablehlo = devices::stablehlo;
using Json = nlohmann::ordered_json;

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
  std::vector<devices::HostArray> arrays;
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
  for (const auto& array : given.arrays) given.shapes.push_back(array.shape());
  return given;
}

Result<std::string> time_ops(const devices::Program& program, const InspectFlags& flags,
                             const Given& given, const CallOptions& call) {
  MILLRACE_TRY(const RuntimeOptions options, runtime_options(flags));
  const auto one = devices::cpu::read_for_all_devices(program, given.shapes);
  if (!one) return rejected(one.error(), flags.file);
  const auto plan = devices::cpu::make_plan(one->module, {.deterministic = flags.deterministic});
  if (!plan) return rejected(plan.error(), flags.file);
  std::vector<const void*> inputs;  // of several devices: the same on each
  for (std::size_t i = 0; !given.arrays.empty() && i < (*plan)->inputs().size(); ++i) {
    const std::size_t argument =
        one->parts.outputs.empty() ? i : static_cast<std::size_t>(one->parts.inputs[i].argument);
    inputs.push_back(given.arrays[argument].bytes().data());
  }
  // This thread is one of them.
  const int threads = compute_threads(options);
  const auto executor = threads > 1
                            ? make_executor(default_compute_backend(), threads - 1, "millrace-dev0")
                            : nullptr;
  const auto parallel =
      executor != nullptr ? make_parallel_on(*executor, threads) : make_serial_parallel();
  MILLRACE_TRY(const std::string times,
               inspect::time_ops(**plan, inputs, flags.repeat, *parallel, call.stop));
  return flags.json ? times + "\n" : inspect::op_times_text(times);
}

// Attributes that are numbers, the others as text.
Json attribute_json(const devices::Attribute& attribute) {
  Json json;
  std::visit([&json](const auto& value) { json = value; }, attribute);
  return json;
}

std::string compiled_text(const Json& json) {
  std::string text = "\ncompiled by " + json["device"].get<std::string>() + " (" +
                     json["platform"].get<std::string>() + ") in " +
                     printed("%.1f", json["compile_ms"].get<double>()) + " ms\n  temporaries  " +
                     inspect::bytes_text(json["temporaries"].get<std::size_t>()) + "\n";
  if (json.contains("no_cost"))
    return text + "  no cost analysis: " + json["no_cost"].get<std::string>() + "\n";
  for (const auto& [name, value] : json["cost"].items())
    text += "  " + name + "  " + json_text(value) + "\n";
  return text;
}

bool wants_plugin(const InspectFlags& flags, const RuntimeOptions& options) {
  return !flags.plugins.given.empty() || flags.plugins.find ||
         (!options.device.empty() && ::strcasecmp(options.device.c_str(), "cpu") != 0);
}

// What a plugin makes of the program.
Result<Json> compile_there(const Runtime& runtime, const devices::Program& program,
                           const CallOptions& call) {
  const TimePoint begin = steady_clock().now();
  MILLRACE_TRY(const devices::Executable executable,
               wait_blocking(compile_program(runtime, program, {}, call)));
  const std::chrono::duration<double, std::milli> time = steady_clock().now() - begin;
  Json donated = Json::array();
  const auto inputs = executable.donated_inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) donated.push_back(i);
  }
  const devices::Client& client = runtime.client();
  Json json = {{"device", runtime.device_kind()},  // as PJRT_DEVICE names it
               {"platform",
                std::string(client.platform_name()) + " " + std::string(client.platform_version())},
               {"compile_ms", time.count()},
               {"donated", donated},
               {"temporaries", executable.body()->temporary_bytes()},
               {"cost", Json::object()}};
  const Result<devices::Attributes> cost = wait_blocking(runtime.cost_analysis(executable));
  if (!cost) {
    json["no_cost"] = cost.error().message();
    return json;
  }
  for (const auto& [name, value] : *cost) json["cost"][name] = attribute_json(value);
  return json;
}

// What the program is made of, and what the plugin makes of it if one is asked for.
Result<ExitCode> print_facts(const std::string& facts, const devices::Program& program,
                             const InspectFlags& flags, Limits& limits, Console& console) {
  MILLRACE_TRY(const RuntimeOptions options, runtime_options(flags));
  if (!wants_plugin(flags, options)) {
    MILLRACE_TRY_STATUS(console.data(flags.json ? facts + "\n" : inspect::facts_text(facts)));
    return ExitCode::kOk;
  }
  limits.set_grace(Limits::kStep);
  return with_runtime(options, limits, console, [&](const Runtime& runtime) -> Result<ExitCode> {
    const Result<Json> compiled = compile_there(runtime, program, limits.call());
    if (!compiled) return std::unexpected(limits.at_end(compiled.error()));
    std::string text = inspect::facts_text(facts) + compiled_text(*compiled);
    if (flags.json) {
      Json json = Json::parse(facts);
      json["compiled"] = *compiled;
      text = json_text(json) + "\n";
    }
    MILLRACE_TRY_STATUS(console.data(text));
    return ExitCode::kOk;
  });
}

// The content of a file of that name: a portable artifact if it ends in .bc or .mlirbc, of this
// version of VHLO ("" leaves the choice to write_bytecode), else text.
Result<std::string> written_program(const devices::Program& program, const std::string& path,
                                    const std::string& version) {
  MILLRACE_TRY(const stablehlo::ir::Module module, stablehlo::read_program(program.code()));
  if (!path.ends_with(".bc") && !path.ends_with(".mlirbc")) {
    if (version.empty()) return stablehlo::ir::print(module);
    return fail(
        ErrorCode::kInvalidArgument,
        "text has no version of VHLO; a name that ends in .bc or .mlirbc asks for an artifact");
  }
  const auto wanted = stablehlo::bytecode::version_from_string(version);
  if (!version.empty() && !wanted) {
    return fail(ErrorCode::kInvalidArgument,
                version + " is no version of VHLO such as 1.0.0 or 1.17.0");
  }
  return stablehlo::bytecode::write_bytecode(module, wanted);
}

// The files that are asked for, then the facts.
Result<std::string> look_at(const devices::Program& program, const InspectFlags& flags,
                            std::span<const devices::Shape> shapes) {
  if (!flags.svg.empty()) {
    const auto map = inspect::memory_map(program, shapes);
    if (!map) return rejected(map.error(), flags.file);
    MILLRACE_TRY_STATUS(transfer::write_file(flags.svg, inspect::draw(*map)));
  }
  if (!flags.write.empty()) {
    const auto written = written_program(program, flags.write, flags.vhlo);
    if (!written) return rejected(written.error(), flags.file);
    MILLRACE_TRY_STATUS(transfer::write_file(flags.write, *written));
  }
  auto facts = inspect::program_facts(program, shapes);
  if (!facts) return rejected(facts.error(), flags.file);
  return facts;
}

}  // namespace

Result<ExitCode> inspect_command(const InspectFlags& flags, Console& console) {
  MILLRACE_TRY(const std::unique_ptr<Limits> limits,
               Limits::create(
                   console, {.deadline_seconds = flags.deadline_seconds,
                             // Without a plugin nothing has to end in order.
                             .grace = Limits::kReport,
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
  MILLRACE_TRY(const std::string facts, look_at(*program, flags, given->shapes));
  return print_facts(facts, *program, flags, *limits, console);
}

}  // namespace millrace::commands
