#include "millrace/tools/conformance_runner/interpret_case.h"

#include <string>
#include <vector>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/spread/spread.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::conformance {
namespace {

namespace ir = devices::stablehlo::ir;
namespace spread = devices::stablehlo::spread;

constexpr std::string_view kSeparator = "// -----";
constexpr std::string_view kCheck = "check.expect_";
constexpr std::string_view kRunParallel = "interpreter.run_parallel";

std::string_view trimmed(std::string_view s) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

// From `at` on, up to the first of these characters outside of brackets and quotes.
std::string_view until(std::string_view text, std::size_t& at, std::string_view ends) {
  const std::size_t begin = at;
  int depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (depth == 0 && ends.find(c) != ends.npos) break;
    if (c == '<' || c == '[' || c == '(') ++depth;
    if (c == '>' || c == ']' || c == ')') --depth;
  }
  return trimmed(text.substr(begin, at - begin));
}

// One check, whose name begins at `at`; at is moved behind it.
std::string called_check(std::string_view text, std::size_t& at, int number) {
  std::string_view name = until(text, at, " \n");
  constexpr std::string_view kConstant = "_const";
  const bool constant = name.ends_with(kConstant);
  if (constant) name.remove_suffix(kConstant.size());
  std::vector<std::string_view> given;  // operands and attributes
  do {
    if (!given.empty()) ++at;
    given.push_back(until(text, at, ",:"));
  } while (at < text.size() && text[at] == ',');
  if (at < text.size()) ++at;
  const std::size_t type_begin = at;
  std::string_view type = until(text, at, ",{/\n");
  if (type.empty()) at = type_begin;
  std::string tolerance = name == "check.expect_almost_eq" ? "1.0e-4" : "";
  const auto read_tolerance = [&](std::string_view words) {
    constexpr std::string_view kName = "tolerance = ";
    const std::size_t found = words.find(kName);
    if (found == words.npos) return;
    words.remove_prefix(found + kName.size());
    tolerance = std::string(words.substr(0, words.find_first_of(" :}")));
  };
  while (at < text.size() && text[at] != '\n') {  // a second type, or {tolerance = 0.1 : f64}
    const std::size_t begin = at;
    while (at < text.size() && text[at] != '\n') ++at;
    read_tolerance(text.substr(begin, at - begin));
  }
  for (const std::string_view word : given) read_tolerance(word);
  std::string out, right(given.size() > 1 ? given[1] : "");
  if (constant) {
    const std::string value = "%check_" + std::to_string(number);
    out += value + " = stablehlo.constant " + right + " : " + std::string(type) + "\n  ";
    right = value;
  }
  out += "\"stablehlo.custom_call\"(" + std::string(given[0]) + ", " + right +
         ") {call_target_name = \"" + std::string(name) +
         "\", has_side_effect = true, api_version = 4 : i32";
  if (!tolerance.empty()) {
    if (tolerance.find('.') == tolerance.npos) tolerance += ".0";
    out += ", backend_config = {tolerance = " + tolerance + " : f64}";
  }
  return out + "} : (" + std::string(type) + ", " + std::string(type) + ") -> ()";
}

// The grid of programs: replicas of partitions, all one function.
struct Grid {
  const ir::Function* program = nullptr;
  spread::SpreadOptions devices;
};

Result<Grid> grid_of(const ir::Module& module, const ir::Op& op) {
  Grid grid;
  const auto* rows = op.attr<ir::ArrayAttr>("programs");
  if (rows == nullptr) return ir::invalid(op, "found no programs");
  grid.devices.replicas = static_cast<int>(rows->values.size());
  for (const ir::Attribute row : rows->values) {
    const auto* programs = row.as<ir::ArrayAttr>();
    if (programs == nullptr) return ir::invalid(op, "programs are no list of lists");
    grid.devices.partitions = static_cast<int>(programs->values.size());
    for (const ir::Attribute program : programs->values) {
      const auto* name = program.as<ir::SymbolAttr>();
      const ir::Function* found = name == nullptr ? nullptr : module.find(name->path.front());
      if (found == nullptr) return ir::invalid(op, "a program is no function of the module");
      if (grid.program != nullptr && grid.program != found)
        return ir::unimplemented(op, "its processes run different programs");
      grid.program = found;
    }
  }
  if (grid.program == nullptr) return ir::invalid(op, "found no programs");
  return grid;
}

// What `op` does as a call; the text of the function that it calls is added to functions.
Status make_call(ir::Module& module, ir::Block& block, ir::Op& op, int number,
                 std::string& functions) {
  MILLRACE_TRY(const Grid grid, grid_of(module, op));
  MILLRACE_TRY(const spread::Spread made, spread::spread(module, *grid.program, grid.devices));
  const auto arguments = grid.program->inputs().size();
  std::vector<ir::Value*> operands;
  for (const auto& [device, argument, holders] : made.inputs)
    operands.push_back(op.operand(device * static_cast<int>(arguments) + argument));
  const std::string name = "spread." + std::to_string(number);
  const ir::NamedAttribute callee[] = {{"callee", module.symbol(name)}};
  const ir::Function& main = made.module.functions().front();
  // The types of results as this module has them: those of op's results.
  std::vector<ir::Type> types(main.results().size());
  std::vector<int> results;
  for (const auto& device : made.outputs)
    results.insert(results.end(), device.begin(), device.end());
  for (std::size_t i = 0; i < results.size(); ++i)
    types[static_cast<std::size_t>(results[i])] = op.result(static_cast<int>(i))->type();
  ir::Op* call = module.create_op({.kind = ir::OpKind::kCall,
                                   .location = op.location(),
                                   .operands = operands,
                                   .result_types = types,
                                   .attributes = callee});
  block.insert(&op, call);
  for (ir::Op& user : block) {
    for (int i = 0; i < user.operand_count(); ++i) {
      if (user.operand(i)->def() != &op) continue;
      const int result = results[static_cast<std::size_t>(user.operand(i)->index())];
      user.set_operand(i, call->result(result));
    }
  }
  block.remove(&op);
  std::string text = ir::print(made.module);
  const std::string before = "@" + std::string(main.name()) + "(";
  text.replace(text.find(before), before.size(), "@" + name + "(");
  // Without the module around it.
  const std::size_t first = text.find('\n') + 1;
  functions += text.substr(first, text.rfind('}') - first);
  return {};
}

}  // namespace

Result<std::string> part_of(std::string_view text, int i) {
  for (; i > 0; --i) {
    const std::size_t at = text.find(kSeparator);
    if (at == text.npos) return fail(ErrorCode::kNotFound, "the file has no such part");
    text.remove_prefix(at + kSeparator.size());
  }
  return std::string(text.substr(0, text.find(kSeparator)));
}

std::string with_called_checks(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  for (int number = 0;; ++number) {
    const std::size_t found = text.find(kCheck, at);
    // In a name of a custom call it is called already.
    if (found == text.npos) return out + std::string(text.substr(at));
    out += text.substr(at, found - at);
    at = found;
    if (found > 0 && (text[found - 1] == '@' || text[found - 1] == '"')) {
      out += kCheck;
      at += kCheck.size();
    } else {
      out += called_check(text, at, number);
    }
  }
}

Result<std::string> in_one_process(const std::string& text) {
  if (text.find(kRunParallel) == text.npos) return text;
  MILLRACE_TRY(ir::Module module, devices::stablehlo::text::read_text(text));
  MILLRACE_TRY_STATUS(devices::stablehlo::verify::verify(module));
  std::string functions;
  int number = 0;
  for (ir::Function& f : module.functions()) {
    if (f.is_declaration()) continue;
    ir::Block& body = f.body().block();
    for (ir::Op* op = body.front(); op != nullptr;) {
      ir::Op* next = op->next();
      if (op->name() == kRunParallel)
        MILLRACE_TRY_STATUS(make_call(module, body, *op, number++, functions));
      op = next;
    }
  }
  std::string whole = ir::print(module);
  whole.insert(whole.rfind('}'), functions);
  return whole;
}

}  // namespace millrace::conformance
