// The worker of tools/conformance: takes paths of StableHLO programs from stdin, one a line, and
// answers each with a line of JSON on stdout. A program is compiled as the CPU client compiles it,
// its @main runs on the CPU device, and the comparisons that it calls decide. It may crash: the
// script starts another one and reports the file.
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "millrace/core/parallel_for.h"
#include "millrace/devices/cpu/compile.h"
#include "millrace/devices/cpu/compiled.h"
#include "millrace/devices/cpu/read/read_program.h"
#include "millrace/tools/conformance_runner/checks.h"

namespace millrace::conformance {
namespace {

using devices::Program;
namespace cpu = devices::cpu;

// Aligned as the device's memory is.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes + 64) {}
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (64 - address % 64) % 64;
  }

 private:
  std::vector<std::byte> bytes_;
};

Status run_program(const Program& program) {
  MILLRACE_TRY(const auto compiled, cpu::compile(program, {.deterministic = true}));
  if (!compiled->inputs().empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "@main takes arguments: nobody knows with which values");
  }
  MILLRACE_TRY(const auto run, compiled->make_run());
  std::vector<Memory> memory;
  std::vector<std::byte*> outputs;
  for (const devices::Shape& shape : compiled->outputs()) memory.emplace_back(shape.size_bytes());
  for (Memory& m : memory) outputs.push_back(m.data());
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
  const auto module = cpu::read::read_program(program.code());
  if (!module) return {};
  for (const cpu::ir::Function& f : module->functions()) {
    if (f.is_declaration()) continue;
    for (const cpu::ir::Op& op : f.body().block()) {
      if (op.kind() != cpu::ir::OpKind::kCustomCall || !message.starts_with(op.where())) continue;
      if (op.operand_count() == 0) return {};
      const cpu::ir::Op* made = op.operand(0)->def();
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
    std::cout << run_file(path).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace millrace::conformance

int main() { return millrace::conformance::main_program(); }
