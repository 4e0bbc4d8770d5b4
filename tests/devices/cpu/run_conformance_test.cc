// Runs StableHLO's own test data (programs with inputs and expected results made by JAX) through
// read, plan and run. The checks are taken out of the program: its inputs become arguments, its
// results are compared here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/run_context.h"
#include "millrace/devices/cpu/kernels/base/scalar.h"
#include "millrace/devices/stablehlo/ir/float_format.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "tests/devices/cpu/conformance_programs.h"
#include "tests/support/interpreter.h"

namespace millrace::devices::cpu {
namespace {

namespace fs = std::filesystem;

using testing::Check;
using testing::optional_files;
using testing::take_checks_out;

using Bytes = std::vector<std::byte>;

// Runs one function of the module; the arrays are misaligned on purpose where `shift` is not zero.
Result<std::vector<Bytes>> run_function(const ir::Module& module, const std::string& name,
                                        const std::vector<Bytes>& inputs) {
  MILLRACE_TRY(const auto plan, make_plan(module, {.deterministic = true, .function = name}));
  MILLRACE_TRY(const auto context, RunContext::create(*plan));
  std::vector<Bytes> outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Bytes& b : inputs) in.push_back(b.data());
  for (const Shape& s : plan->outputs())
    outputs.emplace_back(std::max<std::size_t>(s.size_bytes(), 1));
  for (Bytes& b : outputs) out.push_back(b.data());
  const auto serial = make_serial_parallel();
  MILLRACE_TRY_STATUS(context->run(in, out, *serial));
  return outputs;
}

// Whether the distance in units of the last place, as stablehlo-translate counts it, is at most 3.
bool close(DType type, double a, double b) {
  if (a == b || (a != a && b != b)) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  const auto ordered = [type](double x) {
    const auto magnitude = static_cast<std::int64_t>(ir::encode_float(type, std::fabs(x)));
    return x < 0 ? -magnitude : magnitude;
  };
  // In integers: a double has no room for the bits of another one.
  const std::int64_t x = ordered(a), y = ordered(b);
  return x < y ? x >= y - 3 : y >= x - 3;
}

bool agree(Check check, DType type, double got, double want) {
  if (check == Check::kEqual) return got == want;
  if (check == Check::kClose) return close(type, got, want);
  return got == want || (got != got && want != want) || std::fabs(got - want) <= 1e-3;
}

// Empty if all elements agree, else the first difference.
std::string compare(Check check, const Shape& shape, const Bytes& got, const Bytes& want) {
  const DType type = shape.dtype();
  const DType part = type == DType::kC64 ? DType::kF32 : type == DType::kC128 ? DType::kF64 : type;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i) * byte_width(type);
    const definition::Scalar g = definition::load(type, &got[at]),
                             w = definition::load(type, &want[at]);
    std::ostringstream text;
    text.precision(17);
    if (!is_floating(type) && !is_complex(type)) {
      if (g.u == w.u) continue;
      text << "element " << i << ": got " << g.i << ", expected " << w.i;
    } else {
      if (agree(check, part, g.re, w.re) && agree(check, part, g.im, w.im)) continue;
      text << "element " << i << ": got " << g.re << " " << g.im << ", expected " << w.re << " "
           << w.im;
    }
    return text.str();
  }
  return "";
}

// Empty if the program passes, else why it does not.
std::string run_file(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  auto module = stablehlo::text::read_text(text.str());
  if (!module) return module.error().message();
  std::vector<Bytes> inputs;
  if (module->find("inputs") != nullptr) {
    auto made = run_function(*module, "inputs", {});
    if (!made) return made.error().message();
    inputs = *std::move(made);
  }
  auto tested = take_checks_out(*std::move(module));
  if (!tested) return tested.error().message();
  auto results = run_function(tested->module, "tested", inputs);
  if (!results) return results.error().message();
  for (std::size_t i = 0; i < tested->checks.size(); ++i) {
    const std::string difference = compare(tested->checks[i], tested->shapes[i], (*results)[i],
                                           (*results)[tested->checks.size() + i]);
    if (!difference.empty()) return difference;
  }
  return "";
}

TEST(ConformanceTest, EveryEnabledProgramPasses) {
  const fs::path folder = testing::conformance_folder();
  if (!fs::exists(folder)) GTEST_SKIP() << "no test data at " << folder;
  const std::set<std::string> optional = optional_files(folder);
  int passed = 0, optional_passed = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".mlir") continue;
    const std::string why = run_file(entry.path());
    if (optional.contains(name)) {
      optional_passed += why.empty() ? 1 : 0;
    } else if (why.empty()) {
      ++passed;
    } else {
      ADD_FAILURE() << name << ": " << why;
    }
  }
  std::printf("conformance: %d enabled programs pass, and %d of %zu that are disabled upstream\n",
              passed, optional_passed, optional.size());
  EXPECT_GT(passed, 0);
}

// The interpreter runs @main; what it is compared with is a value of the program too.
TEST(ConformanceTest, TheInterpreterGivesTheExpectedValuesToo) {
  const fs::path folder = testing::conformance_folder();
  if (!fs::exists(folder)) GTEST_SKIP() << "no test data at " << folder;
  const std::set<std::string> optional = optional_files(folder);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".mlir" || optional.contains(name)) continue;
    SCOPED_TRACE(name);
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    auto module = stablehlo::text::read_text(text.str());
    ASSERT_TRUE(module.has_value());
    std::vector<testing::Array> inputs;
    if (const ir::Function* made = module->find("inputs")) {
      auto values = testing::interpret(*module, *made, {});
      ASSERT_TRUE(values.has_value()) << values.error().to_string();
      inputs = *std::move(values);
    }
    const auto tested = take_checks_out(*std::move(module));
    ASSERT_TRUE(tested.has_value());
    const auto results =
        testing::interpret(tested->module, *tested->module.find("tested"), std::move(inputs));
    ASSERT_TRUE(results.has_value()) << results.error().to_string();
    for (std::size_t i = 0; i < tested->checks.size(); ++i) {
      EXPECT_EQ(compare(tested->checks[i], tested->shapes[i], (*results)[i].bytes,
                        (*results)[tested->checks.size() + i].bytes),
                "");
    }
  }
}

}  // namespace
}  // namespace millrace::devices::cpu
