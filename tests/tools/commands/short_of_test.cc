// The command where the process may have little memory, few descriptors or no threads: it does its
// work, or ends with 1 and says what was missing. Never by a signal, nor as if there were no such
// device or the program had been at fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/fault_point.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/commands/console.h"
#include "tests/support/memory_limit.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::Process;

Outcome limited(const std::string& limit, const std::vector<std::string>& words) {
  std::vector<std::string> all = {"/bin/sh", "-c", "ulimit " + limit + " && exec \"$0\" \"$@\""};
  for (const std::string& word : testing::millrace_command(words)) all.push_back(word);
  return Process(all, {{"MILLRACE_THREADS", "2"}}).wait();
}

const std::vector<std::string> kTrain = {
    "train", "--model", testing::mnist_model(), "--quiet", "--fake-data", "--max-steps", "5"};
// With work for oneDNN.
constexpr std::string_view kProgram = R"(
func.func @main() -> tensor<256x256xf32> {
  %x = stablehlo.iota dim = 0 : tensor<256x256xf32>
  %y = stablehlo.iota dim = 1 : tensor<256x256xf32>
  %0 = stablehlo.dot %x, %y : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
})";

class ShortOfTest : public ::testing::Test {
 protected:
  const testing::TempFolder folder_;
  const std::vector<std::string> run_ = {
      "run", folder_.write("p.mlir", std::as_bytes(std::span(kProgram)))};
};

TEST_F(ShortOfTest, LittleMemoryIsSaidAndNeverACrash) {
  if (!testing::kMemoryCanBeLimited) GTEST_SKIP() << "a sanitizer takes the addresses for itself";
  int refused = 0;
  for (const auto& words : {kTrain, run_}) {
    for (int thousands = 120; thousands <= 600; thousands += thousands < 300 ? 10 : 100) {
      const std::string kib = std::to_string(thousands * 1000);
      const Outcome o = limited("-v " + kib, words);
      if (o.code == 127) continue;  // not even its libraries
      EXPECT_THAT(o.code, AnyOf(0, 1)) << kib << ": " << o.err;
      if (o.code == 0) continue;
      ++refused;
      EXPECT_THAT(o.err, AnyOf(HasSubstr("no memory"), HasSubstr("cannot start the thread")))
          << kib;
    }
  }
  EXPECT_GT(refused, 0);
  // Most of such a limit is not used: the arenas of glibc would take it all.
  EXPECT_EQ(limited("-v 600000", kTrain).code, 0);
}

// What a run takes is refused before it, by the peak that `inspect` prints; the tables of a kernel
// are when they are made.
TEST_F(ShortOfTest, ALargeProgramIsRefusedWithItsNameAndItsBytes) {
  if (!testing::kMemoryCanBeLimited) GTEST_SKIP() << "a sanitizer takes the addresses for itself";
  constexpr std::string_view kProduct = R"(
func.func @main() -> tensor<12000x12000xf32> {
  %x = stablehlo.iota dim = 0 : tensor<12000x12000xf32>
  %y = stablehlo.iota dim = 1 : tensor<12000x12000xf32>
  %0 = stablehlo.dot %x, %y : (tensor<12000x12000xf32>, tensor<12000x12000xf32>) -> tensor<12000x12000xf32>
  return %0 : tensor<12000x12000xf32>
})";
  constexpr std::string_view kTransform = R"(
func.func @main() -> tensor<16777213xcomplex<f32>> {
  %x = stablehlo.iota dim = 0 : tensor<16777213xcomplex<f32>>
  %0 = stablehlo.fft %x, type = FFT, length = [16777213] : (tensor<16777213xcomplex<f32>>) -> tensor<16777213xcomplex<f32>>
  return %0 : tensor<16777213xcomplex<f32>>
})";
  const std::string product = folder_.write("product.mlir", std::as_bytes(std::span(kProduct)));
  const Outcome facts = testing::run_millrace({"inspect", product, "--json"});
  ASSERT_EQ(facts.code, 0) << facts.err;
  const auto peak = nlohmann::json::parse(facts.out)["memory"]["peak"].get<std::int64_t>();
  for (const char* kib : {"400000", "1600000"}) {
    const Outcome o = limited(std::string("-v ") + kib, {"run", product});
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_THAT(o.err, HasSubstr("running " + product +
                                 ": no memory for the results and temporaries of an execution: " +
                                 std::to_string(peak) + " bytes are needed"));
  }
  const std::string transform =
      folder_.write("transform.mlir", std::as_bytes(std::span(kTransform)));
  const Outcome o = limited("-v 1000000", {"run", transform});
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_THAT(o.err, HasSubstr("running " + transform +
                               ": no memory for the tables of a Fourier "
                               "transform: 1879048144 bytes are needed"));
}

TEST_F(ShortOfTest, FewDescriptorsAreSaidAndNotTakenForADevice) {
#ifdef MILLRACE_SANITIZED
  GTEST_SKIP() << "a sanitizer wants descriptors of its own";
#endif
  int refused = 0;
  for (const auto& words : {kTrain, run_}) {
    for (int most = 5; most <= 24; ++most) {
      const Outcome o = limited("-n " + std::to_string(most), words);
      if (o.code == 127) continue;
      EXPECT_THAT(o.code, AnyOf(0, 1)) << most << ": " << o.err;
      if (o.code == 0) continue;
      ++refused;
      EXPECT_THAT(o.err, HasSubstr("error: ")) << most;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_F(ShortOfTest, AThreadThatDoesNotStartIsNoMissingDevice) {
  const ArmedFault fault("core.start_thread", 3,
                         Error(ErrorCode::kResourceExhausted, "no more threads"));
  commands::Console console("millrace test");
  const auto limits = commands::Limits::create(console, {.progress = [] { return "at once"; }});
  ASSERT_TRUE(limits);
  const Result<Runtime> runtime = commands::open_runtime({}, **limits);
  ASSERT_FALSE(runtime);
  EXPECT_EQ(commands::exit_code(runtime.error()), commands::ExitCode::kFailure);
  EXPECT_THAT(runtime.error().message(), HasSubstr("cannot start the thread"));
}

TEST_F(ShortOfTest, MoreThreadsThanMakeAnyWayAreRefused) {
  for (const auto& [variable, value] :
       {std::pair("MILLRACE_THREADS", "1000000"), std::pair("MILLRACE_CPU_ISA", "v9")}) {
    const Outcome o = testing::run_millrace(run_, {{variable, value}});
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_THAT(o.err, HasSubstr(std::string(variable) + " is '" + value + "', but must be "));
  }
  std::vector<std::string> words = run_;
  words.insert(words.end(), {"--threads", "1000000"});
  EXPECT_EQ(testing::run_millrace(words).code, 2);
}

}  // namespace
}  // namespace millrace
