// The worker of tools/conformance: takes paths of StableHLO programs from stdin, one a line, and
// answers each with a line of JSON on stdout. A program is compiled as the CPU client compiles it,
// its @main runs on the CPU device, and the comparisons that it calls decide. It may crash: the
// script starts another one and reports the file.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/kernels/base/scalar.h"
#include "millrace/devices/cpu/kernels/custom_call.h"
#include "millrace/devices/memory_pool.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/tools/conformance_runner/interpret_case.h"

namespace millrace::conformance {
namespace {

using devices::DType;
using devices::Program;
using devices::cpu::ConstArray;
using devices::cpu::CustomCall;
using devices::cpu::definition::Form;
using devices::cpu::definition::Scalar;
namespace cpu = devices::cpu;
namespace stablehlo = devices::stablehlo;

// The comparisons that StableHLO's test programs call for: check.expect_eq, check.expect_close,
// check.expect_almost_eq and check.eq, as custom calls of the CPU device. The rules are those of
// StableHLO's own interpreter.
// Whether two numbers agree.
using Rule = std::function<bool(DType type, double got, double want)>;

constexpr std::int64_t kMostUlps = 3;
constexpr double kTolerance = 1e-3;

// Whether at most kMostUlps floats of the format lie between two values; the signs of zero are one
// place. In integers: a double has no room for the places of f64.
bool within_ulps(DType type, double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  const auto place = [type](double x) {
    std::byte bytes[8] = {};
    Scalar s;
    s.re = std::fabs(x);
    devices::cpu::definition::store(type, s, bytes);
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    const auto magnitude = static_cast<std::int64_t>(bits);
    return x < 0 ? -magnitude : magnitude;
  };
  const std::int64_t x = place(a), y = place(b);
  // Numbers of opposite signs are near only where both are small: no overflow.
  return x < y ? x >= y - kMostUlps : y >= x - kMostUlps;
}

bool equal(DType /*type*/, double got, double want) { return got == want; }

// By a tolerance.
bool almost_equal(double tolerance, double got, double want) {
  return got == want || (std::isnan(got) && std::isnan(want)) || std::fabs(got - want) <= tolerance;
}

std::string value(DType type, const Scalar& s) {
  switch (devices::cpu::definition::form_of(type)) {
    case Form::kBool:
      return s.u != 0 ? "true" : "false";
    case Form::kSigned:
      return std::to_string(s.i);
    case Form::kUnsigned:
      return std::to_string(s.u);
    case Form::kComplex:
    case Form::kComplex64:
      return printed("(%.17g, %.17g)", s.re, s.im);
    default:
      return printed("%.17g", s.re);
  }
}

bool element_agrees(const Rule& rule, DType type, const Scalar& got, const Scalar& want) {
  switch (devices::cpu::definition::form_of(type)) {
    case Form::kBool:
    case Form::kSigned:
    case Form::kUnsigned:
      return got.u == want.u;
    case Form::kComplex:
    case Form::kComplex64: {
      const DType part = type == DType::kC64 ? DType::kF32 : DType::kF64;
      return rule(part, got.re, want.re) && rule(part, got.im, want.im);
    }
    default:
      return rule(type, got.re, want.re);
  }
}

// "[1,2]" of a row-major place.
std::string index_text(const devices::Shape& shape, std::int64_t linear) {
  std::string text;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (!text.empty()) text.insert(0, ",");
    text.insert(0, std::to_string(linear % shape.dim(d)));
    linear /= shape.dim(d);
  }
  return "[" + text + "]";
}

Status compare(const Rule& rule, const CustomCall& call) {
  if (call.operands.size() != 2 || !(call.operands[0].shape == call.operands[1].shape)) {
    return fail(ErrorCode::kInvalidArgument,
                "a comparison of two arrays of one shape was expected");
  }
  const ConstArray &got = call.operands[0], &want = call.operands[1];
  const DType type = got.shape.dtype();
  const std::size_t width = devices::byte_width(type);
  std::int64_t wrong = 0;
  std::string first;
  for (std::int64_t i = 0; i < got.shape.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i) * width;
    const Scalar g = devices::cpu::definition::load(type, got.data + at);
    const Scalar w = devices::cpu::definition::load(type, want.data + at);
    if (element_agrees(rule, type, g, w)) continue;
    if (++wrong == 1) {
      first = "element " + index_text(got.shape, i) + " of " + got.shape.to_string() + ": got " +
              value(type, g) + ", expected " + value(type, w);
    }
  }
  if (wrong == 0) return {};
  return fail(ErrorCode::kDataLoss, first + " (" + std::to_string(wrong) + " of " +
                                        std::to_string(got.shape.elements()) +
                                        " elements are wrong)");
}

// With the CPU device, once per process. A comparison that fails is an error kDataLoss of the
// execution that says which element is wrong, and both values.
Status register_checks() {
  const struct {
    const char* target;
    Rule rule;
  } kChecks[] = {
      {"check.expect_eq", &equal}, {"check.eq", &equal}, {"check.expect_close", &within_ulps}};
  for (const auto& check : kChecks) {
    MILLRACE_TRY_STATUS(devices::cpu::register_custom_call(
        check.target, [rule = check.rule](const CustomCall& call) { return compare(rule, call); }));
  }
  return devices::cpu::register_custom_call("check.expect_almost_eq", [](const CustomCall& call) {
    const double* given = devices::cpu::find_attribute<double>(call.attributes, "tolerance");
    const double tolerance = given != nullptr ? *given : kTolerance;
    return compare(
        [tolerance](DType, double got, double want) { return almost_equal(tolerance, got, want); },
        call);
  });
}

Status run_program(const Program& program) {
  MILLRACE_TRY(const auto compiled, cpu::compile(program, {.deterministic = true}));
  if (!compiled->inputs().empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "@main takes arguments, and the file has no values for them");
  }
  MILLRACE_TRY(const auto run, compiled->make_run());
  std::vector<devices::SystemMemory> memory;
  std::vector<void*> outputs;
  for (const devices::Shape& shape : compiled->outputs()) {
    MILLRACE_TRY(devices::SystemMemory block,
                 devices::allocate_memory(shape.size_bytes(), "a result of a program"));
    outputs.push_back(memory.emplace_back(std::move(block)).get());
  }
  const auto parallel = make_serial_parallel();
  const auto done = run->run({.inputs = {},
                              .outputs = outputs,
                              .parallel = *parallel,
                              .output_written = [](int) {},
                              .stop = {}});
  return done ? Status() : Status(std::unexpected(done.error()));
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

// "path", or "path#3": part 3 of a file of several, from 0.
Result<Program> program_of(const std::string& name) {
  const std::size_t at = name.rfind('#');
  MILLRACE_TRY(Program file, Program::from_file(name.substr(0, at)));
  std::string text(file.code());
  if (at != name.npos) {
    MILLRACE_TRY(text, part_of(text, std::atoi(name.c_str() + at + 1)));
  }
  const bool is_bytecode = text.starts_with("ML\xef\x52");
  const bool whole = text == file.code();
  if (is_bytecode ||
      (whole && text.find("check.") == text.npos && text.find("interpreter.") == text.npos))
    return file;
  MILLRACE_TRY(text, in_one_process(with_called_checks(text)));
  return Program::from_text(std::move(text), name);
}

// What no device here has: transfers with the host, or between programs, while they run.
bool is_absent(const std::string& name) {
  const auto file = Program::from_file(name.substr(0, name.rfind('#')));
  if (!file) return false;
  std::string text(file->code());
  if (const std::size_t at = name.rfind('#'); at != name.npos) {
    auto part = part_of(text, std::atoi(name.c_str() + at + 1));
    if (!part) return false;
    text = *std::move(part);
  }
  for (const char* op :
       {"stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv"}) {
    if (text.find(op) != text.npos) return true;
  }
  return false;
}

nlohmann::json run_file(const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  nlohmann::json answer = {{"file", path}};
  const auto program = program_of(path);
  const Status done = program ? run_program(*program) : Status(std::unexpected(program.error()));
  answer["status"] = done ? "passed" : is_absent(path) ? "absent" : "failed";
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
