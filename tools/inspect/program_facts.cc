#include "millrace/tools/inspect/program_facts.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/devices/cpu/compile.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/shape_pattern.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::inspect {
namespace {

namespace cpu = devices::cpu;
namespace stablehlo = devices::stablehlo;
namespace ir = stablehlo::ir;
using Tally = std::map<std::string, std::uint64_t>;

Counts sorted(const Tally& tally) {
  Counts counts(tally.begin(), tally.end());
  std::ranges::stable_sort(counts, std::greater(), &Counts::value_type::second);
  return counts;
}

void count(const ir::Region& region, Tally& tally) {
  for (const ir::Block* block : region.blocks()) {
    for (const ir::Op& op : *block) {
      ++tally[std::string(op.name())];
      for (const ir::Region& inner : op.regions()) count(inner, tally);
    }
  }
}

ArgumentFacts argument_facts(const ir::Function& function, int i) {
  ArgumentFacts facts{.type = function.inputs()[static_cast<std::size_t>(i)].to_string()};
  if (const auto* result = function.arg_attribute(i, "tf.aliasing_output").as<ir::IntegerAttr>()) {
    facts.donated = true;
    facts.result = static_cast<int>(result->value);
  } else if (const ir::Attribute donor = function.arg_attribute(i, "jax.buffer_donor")) {
    const auto* flag = donor.as<ir::BoolAttr>();
    facts.donated = flag == nullptr || flag->value;
  }
  return facts;
}

FunctionFacts function_facts(const ir::Function& function) {
  FunctionFacts facts{
      .name = std::string(function.name()),
      .is_public = function.visibility().empty() || function.visibility() == "public"};
  for (int i = 0; i < static_cast<int>(function.inputs().size()); ++i)
    facts.arguments.push_back(argument_facts(function, i));
  for (const ir::Type type : function.results()) facts.results.push_back(type.to_string());
  Tally tally;
  count(function.body(), tally);
  facts.operations = sorted(tally);
  return facts;
}

// Whether @main has arguments whose shapes a call decides.
bool is_open(const ir::Module& module) {
  const auto shapes = cpu::argument_shapes(module);
  return shapes && !devices::are_complete(*shapes);
}

void plan_facts(const devices::Program& program, std::span<const devices::Shape> shapes,
                ProgramFacts& facts) {
  const auto module = cpu::read_to_run(program, shapes);
  facts.open = module && is_open(*module);
  if (facts.open) return;
  const auto plan = module ? cpu::Plan::create(*module, {})
                           : Result<std::unique_ptr<cpu::Plan>>(std::unexpected(module.error()));
  if (!plan) {
    facts.not_planned = plan.error();
    return;
  }
  Tally tally;
  for (const cpu::Step& step : (*plan)->steps()) ++tally[step_kind(step.info.name)];
  facts.steps = sorted(tally);
  MemoryFacts& memory = facts.memory;
  for (const devices::Shape& shape : (*plan)->inputs()) memory.arguments += shape.size_bytes();
  for (const devices::Shape& shape : (*plan)->outputs()) memory.results += shape.size_bytes();
  memory.constants = (*plan)->constant_bytes();
  memory.temporaries = (*plan)->temporary_bytes();
  for (const cpu::OutputAlias& alias : (*plan)->aliases())
    memory.reused += (*plan)->outputs()[static_cast<std::size_t>(alias.output)].size_bytes();
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string counts_text(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += right(std::to_string(count), 10) + "  " + name + "\n";
  return text;
}

nlohmann::ordered_json counts_json(const Counts& counts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, count] : counts) json[name] = count;
  return json;
}

std::string plural(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string function_text(const FunctionFacts& f) {
  std::string text = "\n@" + f.name + (f.is_public ? ", public: " : ": ") +
                     plural(f.arguments.size(), "argument") + ", " +
                     plural(f.results.size(), "result") + ", " +
                     plural(f.operation_count(), "operation") + "\n";
  for (std::size_t i = 0; i < f.arguments.size(); ++i) {
    const ArgumentFacts& a = f.arguments[i];
    std::string line = "  argument " + right(std::to_string(i), 3) + "  " + a.type;
    if (a.donated) {
      line = padded(line, 46) + "  donated";
      if (a.result) line += ", may become result " + std::to_string(*a.result);
    }
    text += line + "\n";
  }
  for (std::size_t i = 0; i < f.results.size(); ++i)
    text += "  result   " + right(std::to_string(i), 3) + "  " + f.results[i] + "\n";
  return text + counts_text(f.operations);
}

}  // namespace

std::uint64_t FunctionFacts::operation_count() const {
  std::uint64_t total = 0;
  for (const auto& [name, count] : operations) total += count;
  return total;
}

std::string step_kind(const std::string& step) {
  return step.starts_with("fused loop of ") ? "fused loop" : step;
}

std::string bytes_text(std::size_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
  return text;
}

Result<std::vector<devices::Shape>> argument_shapes(const devices::Program& program) {
  MILLRACE_TRY(const ir::Module module, stablehlo::read_program(program.code()));
  return cpu::argument_shapes(module);
}

Result<ProgramFacts> inspect(const devices::Program& program,
                             std::span<const devices::Shape> shapes) {
  MILLRACE_TRY(const ir::Module module, stablehlo::read_program(program.code()));
  MILLRACE_TRY_STATUS(stablehlo::verify::verify(module));
  ProgramFacts facts{.file = program.name(),
                     .module = std::string(module.name()),
                     .text_bytes = program.code().size()};
  for (const ir::Function& function : module.functions())
    facts.functions.push_back(function_facts(function));
  plan_facts(program, shapes, facts);
  return facts;
}

std::string ProgramFacts::to_text() const {
  std::string text = file + ": module" + (module.empty() ? "" : " @" + module) + ", " +
                     plural(functions.size(), "function") + ", " + bytes_text(text_bytes) + "\n";
  for (const FunctionFacts& function : functions) text += function_text(function);
  if (not_planned)
    return text + "\nThe CPU device does not run it: " + not_planned->to_string() + "\n";
  if (open)
    return text + "\nSteps and memory depend on the shapes of the arguments: --input gives them.\n";
  std::uint64_t step_count = 0;
  for (const auto& [name, count] : steps) step_count += count;
  text += "\nthe CPU device's plan: " + plural(step_count, "step") + "\n" + counts_text(steps);
  text += "\nmemory of a run\n";
  const auto line = [&text](const char* what, const std::string& value, const char* note) {
    text += "  " + padded(what, 13) + right(value, 12) + (*note != '\0' ? "  " : "") + note + "\n";
  };
  line("arguments", bytes_text(memory.arguments), "");
  line("results", bytes_text(memory.results), "");
  line("temporaries", bytes_text(memory.temporaries), "one arena");
  line("constants", bytes_text(memory.constants), "shared by all runs");
  if (memory.reused > 0) {
    line("reused", "-" + bytes_text(memory.reused), "results in the place of donated arguments");
  }
  line("peak", bytes_text(memory.peak()), "");
  return text;
}

std::string ProgramFacts::to_json() const {
  using Json = nlohmann::ordered_json;
  Json function_list = Json::array();
  for (const FunctionFacts& f : functions) {
    Json arguments = Json::array();
    for (const ArgumentFacts& a : f.arguments) {
      Json one = {{"type", a.type}, {"donated", a.donated}};
      if (a.result) one["result"] = *a.result;
      arguments.push_back(one);
    }
    function_list.push_back({{"name", f.name},
                             {"public", f.is_public},
                             {"arguments", arguments},
                             {"results", f.results},
                             {"operations", counts_json(f.operations)}});
  }
  Json json = {{"schema", 1},
               {"file", file},
               {"module", module},
               {"text_bytes", text_bytes},
               {"functions", function_list}};
  if (not_planned) {
    json["not_planned"] = not_planned->to_string();
  } else if (open) {
    json["open"] = true;
  } else {
    json["steps"] = counts_json(steps);
    json["memory"] = {{"arguments", memory.arguments},     {"results", memory.results},
                      {"temporaries", memory.temporaries}, {"constants", memory.constants},
                      {"reused", memory.reused},           {"peak", memory.peak()}};
  }
  return json_text(json);
}

}  // namespace millrace::inspect
