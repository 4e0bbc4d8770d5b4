#include "millrace/tools/inspect/program_facts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/philox.h"
#include "millrace/core/base/printed.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/run_context.h"
#include "millrace/devices/cpu/kernels/base/scalar.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "millrace/tools/inspect/bytes_text.h"

namespace millrace::inspect {
namespace {

namespace cpu = devices::cpu;
namespace stablehlo = devices::stablehlo;
namespace ir = stablehlo::ir;
using cpu::definition::Scalar;
using devices::DType;
using devices::Shape;
using Json = nlohmann::ordered_json;
using Tally = std::map<std::string, std::uint64_t>;

// The largest count first.
Json to_json(const Tally& tally) {
  std::vector<std::pair<std::string, std::uint64_t>> counts(tally.begin(), tally.end());
  std::ranges::stable_sort(counts, std::greater(), [](const auto& one) { return one.second; });
  Json json = Json::object();
  for (const auto& [name, count] : counts) json[name] = count;
  return json;
}

void count(const ir::Region& region, Tally& tally) {
  for (const ir::Block* block : region.blocks()) {
    for (const ir::Op& op : *block) {
      ++tally[std::string(op.name())];
      for (const ir::Region& inner : op.regions()) count(inner, tally);
    }
  }
}

// "result": the one that may take over its memory, as the program says.
Json argument_facts(const ir::Function& function, int i) {
  Json facts = {{"type", function.inputs()[static_cast<std::size_t>(i)].to_string()},
                {"donated", false}};
  if (const auto* result = function.arg_attribute(i, "tf.aliasing_output").as<ir::IntegerAttr>()) {
    facts["donated"] = true;
    facts["result"] = static_cast<int>(result->value);
  } else if (const ir::Attribute donor = function.arg_attribute(i, "jax.buffer_donor")) {
    const auto* flag = donor.as<ir::BoolAttr>();
    facts["donated"] = flag == nullptr || flag->value;
  }
  return facts;
}

Json function_facts(const ir::Function& function) {
  Json arguments = Json::array();
  for (int i = 0; i < static_cast<int>(function.inputs().size()); ++i)
    arguments.push_back(argument_facts(function, i));
  Json results = Json::array();
  for (const ir::Type type : function.results()) results.push_back(type.to_string());
  Tally tally;
  count(function.body(), tally);
  return {{"name", function.name()},
          {"public", function.visibility().empty() || function.visibility() == "public"},
          {"arguments", arguments},
          {"results", results},
          {"operations", to_json(tally)}};
}

// Whether @main has arguments whose shapes a call decides.
bool is_open(const ir::Module& module) {
  const auto shapes = cpu::argument_shapes(module);
  return shapes && !devices::are_complete(*shapes);
}

std::size_t bytes_of(std::span<const devices::Shape> shapes) {
  std::size_t bytes = 0;
  for (const devices::Shape& shape : shapes) bytes += shape.size_bytes();
  return bytes;
}

void add_plan(const devices::Program& program, std::span<const devices::Shape> shapes,
              Json& facts) {
  const auto one = cpu::read_for_all_devices(program, shapes);
  if (one && is_open(one->module)) {
    facts["open"] = true;
    return;
  }
  const auto plan = one ? cpu::make_plan(one->module, {})
                        : Result<std::unique_ptr<cpu::Plan>>(std::unexpected(one.error()));
  if (!plan) {
    facts["not_planned"] = plan.error().to_string();
    return;
  }
  if (!one->parts.outputs.empty()) facts["devices"] = one->parts.outputs.size();
  Tally tally;
  for (const cpu::Step& step : (*plan)->steps()) ++tally[step_kind(step.info.name)];
  facts["steps"] = to_json(tally);
  const std::size_t arguments = bytes_of((*plan)->inputs()), results = bytes_of((*plan)->outputs());
  const std::size_t temporaries = (*plan)->temporary_bytes(), constants = (*plan)->constant_bytes();
  std::size_t reused = 0;
  for (const cpu::OutputAlias& alias : (*plan)->aliases())
    reused += (*plan)->outputs()[static_cast<std::size_t>(alias.output)].size_bytes();
  facts["memory"] = {{"arguments", arguments},
                     {"results", results},
                     {"temporaries", temporaries},
                     {"constants", constants},
                     {"reused", reused},
                     {"peak", arguments + results + constants + temporaries - reused}};
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string counts_text(const Json& counts) {
  std::string text;
  for (const auto& [name, count] : counts.items())
    text += right(std::to_string(count.get<std::uint64_t>()), 10) + "  " + name + "\n";
  return text;
}

std::uint64_t sum(const Json& counts) {
  std::uint64_t total = 0;
  for (const Json& count : counts) total += count.get<std::uint64_t>();
  return total;
}

std::string plural(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string function_text(const Json& f) {
  const Json &arguments = f["arguments"], &results = f["results"], &operations = f["operations"];
  std::string text =
      "\n@" + f["name"].get<std::string>() + (f["public"].get<bool>() ? ", public: " : ": ") +
      plural(arguments.size(), "argument") + ", " + plural(results.size(), "result") + ", " +
      plural(sum(operations), "operation") + "\n";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Json& a = arguments[i];
    std::string line =
        "  argument " + right(std::to_string(i), 3) + "  " + a["type"].get<std::string>();
    if (a["donated"].get<bool>()) line = padded(line, 46) + "  donated";
    if (a.contains("result"))
      line += ", may become result " + std::to_string(a["result"].get<int>());
    text += line + "\n";
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    text +=
        "  result   " + right(std::to_string(i), 3) + "  " + results[i].get<std::string>() + "\n";
  }
  return text + counts_text(operations);
}

constexpr int kWarmUps = 2;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string row(const std::string& name, const std::string& count, const std::string& time,
                const std::string& share, const std::string& bytes, const std::string& rate,
                const std::string& speed) {
  return printed("%-42s %6s %11s %7s %12s %9s %9s\n", name.c_str(), count.c_str(), time.c_str(),
                 share.c_str(), bytes.c_str(), rate.c_str(), speed.c_str());
}

std::vector<std::byte> random_bytes(const Shape& shape, std::uint32_t argument) {
  std::vector<std::byte> bytes(shape.size_bytes());
  RandomStream stream(1, argument, 0);
  const DType type = shape.dtype() == DType::kTF32 ? DType::kF32 : shape.dtype();
  const auto real = [&stream] { return static_cast<double>(stream.next_float() * 2 - 1); };
  for (std::size_t at = 0; at < bytes.size(); at += devices::byte_width(type)) {
    Scalar value;
    if (type == DType::kI1) {
      value.u = stream.next() % 2;
    } else if (devices::is_signed_integer(type) || devices::is_unsigned_integer(type)) {
      value.u = stream.next() % 10;
    } else {
      value.re = real();
      if (devices::is_complex(type)) value.im = real();
    }
    cpu::definition::store(type, value, &bytes[at]);
  }
  return bytes;
}

}  // namespace

std::string step_kind(const std::string& step) {
  return step.starts_with("fused loop of ") ? "fused loop" : step;
}

Result<std::vector<devices::Shape>> argument_shapes(const devices::Program& program) {
  MILLRACE_TRY(const ir::Module module, stablehlo::read_program(program.code()));
  return cpu::argument_shapes(module);
}

Result<std::string> program_facts(const devices::Program& program,
                                  std::span<const devices::Shape> shapes) {
  MILLRACE_TRY(const ir::Module module, stablehlo::read_program(program.code()));
  MILLRACE_TRY_STATUS(stablehlo::verify::verify(module));
  Json functions = Json::array();
  for (const ir::Function& function : module.functions())
    functions.push_back(function_facts(function));
  Json facts = {{"schema", 1},
                {"file", program.name()},
                {"module", module.name()},
                {"text_bytes", program.code().size()},
                {"functions", functions}};
  add_plan(program, shapes, facts);
  return json_text(facts);
}

std::string facts_text(const std::string& facts) {
  const Json json = Json::parse(facts);
  const std::string module = json["module"];
  std::string text = json["file"].get<std::string>() + ": module" +
                     (module.empty() ? "" : " @" + module) + ", " +
                     plural(json["functions"].size(), "function") + ", " +
                     bytes_text(json["text_bytes"].get<std::size_t>()) + "\n";
  for (const Json& function : json["functions"]) text += function_text(function);
  if (json.contains("not_planned")) {
    return text + "\nThe CPU device does not run it: " + json["not_planned"].get<std::string>() +
           "\n";
  }
  if (json.contains("open"))
    return text + "\nSteps and memory depend on the shapes of the arguments: --input gives them.\n";
  text += "\nthe CPU device's plan" +
          (json.contains("devices") ? ", for all " + plural(json["devices"], "device") : "") +
          ": " + plural(sum(json["steps"]), "step") + "\n" + counts_text(json["steps"]);
  text += "\nmemory of a run\n";
  const std::map<std::string, std::string> notes = {
      {"temporaries", "  one arena"},
      {"constants", "  shared by all runs"},
      {"reused", "  results in the place of donated arguments"}};
  for (const auto& [name, value] : json["memory"].items()) {
    const auto bytes = value.get<std::size_t>();
    const bool reused = name == "reused";
    if (reused && bytes == 0) continue;
    const auto note = notes.find(name);
    text += "  " + padded(name, 13) + right((reused ? "-" : "") + bytes_text(bytes), 12) +
            (note == notes.end() ? "" : note->second) + "\n";
  }
  return text;
}

Result<std::string> time_ops(const cpu::Plan& plan, std::span<const void* const> inputs, int runs,
                             Parallel& parallel, const std::stop_token& stop) {
  MILLRACE_CHECK(runs > 0, "times are those of one run at least");
  std::vector<std::vector<std::byte>> made;
  std::vector<const void*> addresses(inputs.begin(), inputs.end());
  for (const Shape& shape : inputs.empty() ? plan.inputs() : std::span<const Shape>()) {
    made.push_back(random_bytes(shape, static_cast<std::uint32_t>(made.size())));
    addresses.push_back(made.back().data());
  }
  MILLRACE_TRY(const std::unique_ptr<cpu::RunContext> context, cpu::RunContext::create(plan));
  std::vector<devices::SystemMemory> blocks;
  std::vector<void*> outputs;
  for (const Shape& shape : plan.outputs()) {
    MILLRACE_TRY(devices::SystemMemory block,
                 devices::allocate_memory(shape.size_bytes(), "a result of a run"));
    outputs.push_back(blocks.emplace_back(std::move(block)).get());
  }
  struct Seen {
    std::vector<double> ms;  // of each run
    std::uint64_t count = 0;
  };
  std::unordered_map<const cpu::Step*, Seen> seen;
  std::vector<double> totals;
  const auto add = [&](const cpu::Step& step, double ms) {
    Seen& one = seen[&step];
    one.ms.resize(totals.size());
    one.ms.back() += ms;
    ++one.count;
    totals.back() += ms;
  };
  const cpu::RunContext::Timed timed = add;
  for (int i = 0; i < kWarmUps + runs; ++i) {
    if (stop.stop_requested())
      return fail(ErrorCode::kCancelled, "stopped before the program had run often enough");
    if (i == kWarmUps) {
      seen.clear();
      totals.clear();
    }
    totals.push_back(0);
    MILLRACE_TRY_STATUS(context->run(addresses, outputs, parallel, [](int) {}, {}, &timed));
  }
  struct Kind {
    std::string name;
    std::uint64_t count = 0;
    double ms = 0, operations = 0;
    std::size_t bytes = 0;
  };
  std::map<std::string, Kind> by_name;
  double total = 0;
  for (auto& [step, one] : seen) {
    const cpu::StepInfo& info = step->info;
    const auto times = static_cast<double>(one.count) / runs;  // in a run
    Kind& kind = by_name[step_kind(info.name)];
    kind.name = step_kind(info.name);
    kind.count += one.count / static_cast<std::uint64_t>(runs);
    one.ms.resize(totals.size());
    const double ms = median(one.ms);
    kind.ms += ms;
    total += ms;
    kind.bytes += static_cast<std::size_t>(times * static_cast<double>(info.bytes));
    kind.operations += times * info.operations;
  }
  std::vector<Kind> kinds;
  for (auto& [name, kind] : by_name) kinds.push_back(std::move(kind));
  std::ranges::stable_sort(kinds, std::greater(), &Kind::ms);
  Json list = Json::array();
  for (const Kind& k : kinds) {
    list.push_back({{"name", k.name},
                    {"count", k.count},
                    {"ms", k.ms},
                    {"share", total > 0 ? k.ms / total : 0},
                    {"bytes", k.bytes},
                    {"operations", k.operations},
                    {"gflops_per_s", k.ms > 0 ? k.operations / k.ms / 1e6 : 0}});
  }
  return json_text(Json{{"schema", 1}, {"runs", runs}, {"run_ms", median(totals)}, {"ops", list}});
}

std::string op_times_text(const std::string& times) {
  const Json json = Json::parse(times);
  std::string text = row("step", "count", "time", "share", "bytes", "GB/s", "GFLOP/s");
  for (const Json& op : json["ops"]) {
    const double ms = op["ms"], speed = op["gflops_per_s"];
    const std::size_t bytes = op["bytes"];
    text +=
        row(op["name"], std::to_string(op["count"].get<std::uint64_t>()), printed("%.3f ms", ms),
            printed("%.1f %%", 100 * op["share"].get<double>()), bytes_text(bytes),
            ms > 0 && bytes > 0 ? printed("%.1f", static_cast<double>(bytes) / ms / 1e6) : "-",
            speed > 0 ? printed("%.1f", speed) : "-");
  }
  return text + printed("one run: %.3f ms, median of %d\n", json["run_ms"].get<double>(),
                        json["runs"].get<int>());
}

}  // namespace millrace::inspect
