// A plugin that ends the process, by exit() or a crash: the command tells who it was, and never
// looks as if it had done its work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "millrace/tools/child/in_child.h"
#include "millrace/tools/commands/console.h"
#include "tests/support/paths.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::EndsWith;
using testing::Outcome;
using testing::run_millrace;
using Json = nlohmann::json;

constexpr std::string_view kProgram = R"(
func.func public @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
})";

class CrashReportTest : public ::testing::Test {
 protected:
  std::string library() const { return testing::build_folder() + "/lib/faulty_plugin.so"; }
  Outcome run_with(const std::string& fault, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"run", program_, "--plugin", "npu=" + library()};
    words.insert(words.end(), more.begin(), more.end());
    return run_millrace(words, {{"MILLRACE_FAULT", fault}});
  }

  const testing::TempFolder folder_;
  const std::string program_ = folder_.write("p.mlir", std::as_bytes(std::span(kProgram)));
};

TEST_F(CrashReportTest, ExitOfAPluginIsAFailureThatNamesTheFunction) {
  for (const auto& [fault, function] :
       {std::pair("create.exits_with_0", "PJRT_Client_Create"),
        std::pair("create.execute_exits_with_0", "PJRT_LoadedExecutable_Execute")}) {
    const std::string told = std::string(function) + " of the plugin npu (" + library() +
                             ") ended the process with exit(), before the command had";
    const Outcome o = run_with(fault);
    EXPECT_EQ(o.code, 3) << fault;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "millrace run: error: " + told + "\n");
    const Outcome json = run_with(fault, {"--json"});
    EXPECT_EQ(json.code, 3);
    const Json event = Json::parse(json.out);
    EXPECT_EQ(event["event"], "error");
    EXPECT_EQ(event["message"], told);
    EXPECT_EQ(event["exit"], 3);
  }
}

// As where a library ends the process because it gets no memory.
TEST(OutOfMemoryTest, ABadAllocThatNothingCatchesIsAFailureInWords) {
  const ChildEnd end = in_child(
      [] {
        commands::watch_for_crashes("millrace run", true);
        const auto allocate = +[] { throw std::bad_alloc(); };
        [&]() noexcept { allocate(); }();
        return std::string("it went on");
      },
      300);
  EXPECT_FALSE(end.answer);
  EXPECT_EQ(end.why_not, "the process ended with status 1");
  EXPECT_EQ(end.words,
            "{\"event\":\"error\",\"code\":\"RESOURCE_EXHAUSTED\",\"message\":\"no memory is "
            "left\",\"exit\":1}\nmillrace run: error: no memory is left\n");
}

#if !defined(MILLRACE_SANITIZED)  // which tell of crashes themselves
TEST_F(CrashReportTest, CrashOfAPluginIsReportedWithItsFunctionAndTakesItsCourse) {
  struct Row {
    const char *fault, *words;
    int code;
  };
  for (const Row& row :
       {Row{"create.abort", "SIGABRT in PJRT_Client_Create", 134},
        Row{"create.table_aborts", "SIGABRT in GetPjrtApi", 134},
        Row{"create.segfault", "SIGSEGV in PJRT_Client_Create", 139},
        Row{"create.execute_segfaults", "SIGSEGV in PJRT_LoadedExecutable_Execute", 139}}) {
    const Outcome o = run_with(row.fault);
    EXPECT_EQ(o.code, row.code) << row.fault;
    EXPECT_THAT(o.err, EndsWith("millrace run: error: " + std::string(row.words) +
                                " of the plugin npu (" + library() + ")\n"));
  }
}

// As one in our own code would be.
TEST_F(CrashReportTest, CrashOutsideOfAPluginsFunctionsIsReportedToo) {
  const Outcome o = run_with("create.thread_segfaults");
  EXPECT_EQ(o.code, 139);
  EXPECT_THAT(o.err,
              EndsWith("millrace run: error: SIGSEGV outside of any function of a plugin: in "
                       "Millrace, in a library that it uses, or on a thread of a plugin\n"));
}
#endif

}  // namespace
}  // namespace millrace
