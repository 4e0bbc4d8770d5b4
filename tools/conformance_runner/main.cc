// The worker of tools/conformance: takes paths of StableHLO programs from stdin, one a line, and
// answers each with a line of JSON on stdout. A program is compiled as the CPU client compiles it,
// its @main runs on the CPU device, and the comparisons that it calls decide. It may crash: the
// script starts another one and reports the file.
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/json_text.h"
#include "millrace/devices/cpu/compile.h"
#include "millrace/devices/cpu/compiled.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/system_memory.h"
#include "millrace/tools/conformance_runner/checks.h"

namespace millrace::conformance {
namespace {

using devices::Program;
namespace cpu = devices::cpu;
namespace stablehlo = devices::stablehlo;

Status run_program(const Program& program) {
  MILLRACE_TRY(const auto compiled, cpu::compile(program, {.deterministic = true}));
  if (!compiled->inputs().empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "@main takes arguments, and the file has no values for them");
  }
  MILLRACE_TRY(const auto run, compiled->make_run());
  std::vector<devices::SystemMemory> memory;
  std::vector<std::byte*> outputs;
  for (const devices::Shape& shape : compiled->outputs()) {
    MILLRACE_TRY(devices::SystemMemory block,
                 devices::allocate_memory(shape.size_bytes(), "a result of a program"));
    outputs.push_back(memory.emplace_back(std::move(block)).get());
  }
  const auto parallel = make_serial_parallel();
  return run->run({.inputs = {},
                   .outputs = outputs,
                   .parallel = *parallel,
                   .output_written = [](int) {},
                   .stop = {}});
}

// The op whose result the failed comparison at "line:column: ..." looked at; "" if that is not what
// the message is about.
std::string checked_op(const Program& program, const std::string& message) {
  const auto module = stablehlo::read_program(program.code());
  if (!module) return {};
  for (const stablehlo::ir::Function& f : module->functions()) {
    if (f.is_declaration()) continue;
    for (const stablehlo::ir::Op& op : f.body().block()) {
      if (op.kind() != stablehlo::ir::OpKind::kCustomCall || !message.starts_with(op.where()))
        continue;
      if (op.operand_count() == 0) return {};
      const stablehlo::ir::Op* made = op.operand(0)->def();
      return made == nullptr ? std::string() : std::string(made->name());
    }
  }
  return {};
}

nlohmann::json run_file(const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  nlohmann::json answer = {{"file", path}};
  const auto program = Program::from_file(path);
  const Status done = program ? run_program(*program) : Status(std::unexpected(program.error()));
  answer["status"] = done ? "passed" : "failed";
  if (!done) {
    answer["error"] = done.error().message();
    answer["op"] = program ? checked_op(*program, done.error().message()) : "";
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  answer["ms"] = took.count();
  return answer;
}

int main_program() {
  if (const Status ready = register_checks(); !ready) {
    std::cerr << ready.error().to_string() << "\n";
    return 1;
  }
  for (std::string path; std::getline(std::cin, path);) {
    std::cout << json_text(run_file(path)) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace millrace::conformance

int main() { return millrace::conformance::main_program(); }
