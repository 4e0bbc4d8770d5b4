// An execution allocates nothing after its context's first: every enabled conformance program, run
// several times in one context, with every call of the system's allocator on any thread counted
// from the second run on, but those inside of oneDNN. Arrays of inputs and outputs are there
// before.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "tests/devices/cpu/conformance_programs.h"
#include "tests/devices/cpu/run_support.h"
#include "tests/support/allocation_count.h"

namespace millrace::devices::cpu {
namespace {

using millrace::testing::AllocationCount;
using testing::Bytes;

constexpr int kSlices = 8;
constexpr int kLaterRuns = 2;

// Runs a function and gives its results. `message` gets which later run allocated, and where.
Result<std::vector<Bytes>> run_repeatedly(const ir::Module& module, const std::string& name,
                                          const std::vector<Bytes>& inputs, std::string& message) {
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
  for (int later = 1; later <= kLaterRuns; ++later) {
    AllocationCount count(inside_onednn);
    MILLRACE_TRY_STATUS(context->run(in, out, *serial));
    if (count.count() == 0) continue;
    message = "run " + std::to_string(later + 1) + " allocates " + std::to_string(count.count()) +
              " times:\n" + count.stacks();
    for (const Step& s : plan->steps()) message += "\n  step " + s.info.name;
    break;
  }
  return outputs;
}

// Empty if the program allocates nothing, else where.
std::string allocations_of(const std::filesystem::path& path) {
  auto module = stablehlo::text::read_text(testing::read_whole_file(path));
  if (!module) return module.error().message();
  std::string message;
  std::vector<Bytes> inputs;
  if (module->find("inputs") != nullptr) {
    auto made = run_repeatedly(*module, "inputs", {}, message);
    if (!made) return made.error().message();
    if (!message.empty()) return message;
    inputs = *std::move(made);
  }
  auto tested = testing::take_checks_out(*std::move(module));
  if (!tested) return tested.error().message();
  const auto results = run_repeatedly(tested->module, "tested", inputs, message);
  return results ? message : results.error().message();
}

class ConformanceAllocationTest : public ::testing::TestWithParam<int> {};

TEST_P(ConformanceAllocationTest, LaterRunsAllocateNothing) {
  if (!millrace::testing::kAllocationsCountable)
    GTEST_SKIP() << "allocations are not countable under a sanitizer";
  const std::filesystem::path folder = testing::conformance_folder();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no test data at " << folder;
  const auto files = testing::enabled_files(folder);
  ASSERT_FALSE(files.empty());
  for (std::size_t i = static_cast<std::size_t>(GetParam()); i < files.size(); i += kSlices)
    EXPECT_EQ(allocations_of(files[i]), "") << files[i].filename();
}

INSTANTIATE_TEST_SUITE_P(Slices, ConformanceAllocationTest, ::testing::Range(0, kSlices));

}  // namespace
}  // namespace millrace::devices::cpu
