#include "millrace/tools/api/runtime_options.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "millrace/core/base/cores.h"
#include "millrace/tools/api/runtime.h"

namespace millrace {
namespace {

Result<RuntimeOptions> from(std::map<std::string, std::string> variables) {
  return RuntimeOptions::from_env(
      [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      });
}

TEST(RuntimeOptionsTest, NothingSetGivesTheDefaults) {
  for (const auto& options :
       {from({}), from({{"CPU_NUM_DEVICES", ""}, {"MILLRACE_THREADS", ""}})}) {
    ASSERT_TRUE(options);
    EXPECT_EQ(options->device, "");
    EXPECT_FALSE(options->devices);
    EXPECT_EQ(options->threads, 0);
    EXPECT_GE(compute_threads(*options), 1);
  }
}

TEST(RuntimeOptionsTest, VariablesAreRead) {
  const auto options =
      from({{"PJRT_DEVICE", "CPU"}, {"CPU_NUM_DEVICES", "4"}, {"MILLRACE_THREADS", "3"}});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->device, "CPU");
  EXPECT_EQ(options->variables("CPU_NUM_DEVICES"), "4");
  EXPECT_EQ(compute_threads(*options), 3);
}

TEST(RuntimeOptionsTest, VariablesOfOtherRuntimesAreHonouredOrRefusedInWords) {
  EXPECT_EQ(from({{"PJRT_DEVICE", "CUDA"}, {"GPU_NUM_DEVICES", "4"}})->devices, 4);
  EXPECT_FALSE(from({{"PJRT_DEVICE", "CPU"}, {"GPU_NUM_DEVICES", "4"}})->devices);
  for (const auto& [variables, words] : std::map<std::map<std::string, std::string>, std::string>{
           {{{"GPU_NUM_DEVICES", "4"}}, "PJRT_DEVICE is not"},
           {{{"PJRT_DEVICE", "CUDA"}, {"GPU_NUM_DEVICES", "four"}}, "GPU_NUM_DEVICES is 'four'"},
           {{{"XRT_TPU_CONFIG", "localservice;0;localhost:51011"}}, "PJRT_DEVICE=TPU"}}) {
    const auto options = from(variables);
    ASSERT_FALSE(options) << words;
    EXPECT_NE(options.error().message().find(words), std::string::npos)
        << options.error().message();
  }
}

TEST(RuntimeOptionsTest, PlaceAndStoreOfAJobAreRead) {
  std::map<std::string, std::string> variables = {{"RANK", "1"},
                                                  {"WORLD_SIZE", "4"},
                                                  {"LOCAL_RANK", "1"},
                                                  {"LOCAL_WORLD_SIZE", "4"},
                                                  {"MILLRACE_JOB", "night"}};
  auto options = from(variables);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->process.index, 1);
  EXPECT_EQ(options->process.count, 4);
  EXPECT_FALSE(options->job) << "its launcher has no store";
  variables["MILLRACE_STORE"] = "unix:/run/x";
  options = from(variables);
  ASSERT_TRUE(options);
  ASSERT_TRUE(options->job);
  EXPECT_EQ(options->job->address, "unix:/run/x");
  EXPECT_EQ(options->job->rank, 1U);
  variables.erase("WORLD_SIZE");
  const auto half = from(variables);
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(half.error().message().find("WORLD_SIZE"), std::string::npos);
}

TEST(RuntimeOptionsTest, BadNumbersNameVariableValueAndRange) {
  for (const std::string name : {"CPU_NUM_DEVICES", "MILLRACE_THREADS"}) {
    for (const std::string value :
         {"x", "-1", "1.5", "2 ", "0x2", "99999999999999999999", "5000"}) {
      const auto options = from({{name, value}});
      ASSERT_FALSE(options) << name << "=" << value;
      EXPECT_EQ(options.error().code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(options.error().message().find(name + " is '" + value + "'"), std::string::npos);
      EXPECT_NE(options.error().message().find(" to "), std::string::npos);
    }
  }
  EXPECT_FALSE(from({{"CPU_NUM_DEVICES", "0"}}));
  EXPECT_FALSE(from({{"MILLRACE_THREADS", "0"}}));
}

TEST(RuntimeOptionsTest, ThreadsAreAtMostSixteenPerCore) {
  const int most = 16 * usable_cores();
  EXPECT_TRUE(from({{"MILLRACE_THREADS", std::to_string(most)}}));
  const auto options = from({{"MILLRACE_THREADS", std::to_string(most + 1)}});
  ASSERT_FALSE(options);
  EXPECT_NE(options.error().message().find("from 1 to " + std::to_string(most)), std::string::npos);
  RuntimeOptions by_hand;
  by_hand.threads = most + 1;
  const auto runtime = Runtime::create(by_hand);
  ASSERT_FALSE(runtime);
  EXPECT_EQ(runtime.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(
      runtime.error().message().find("RuntimeOptions::threads is " + std::to_string(most + 1)),
      std::string::npos);
}

TEST(RuntimeOptionsTest, InstructionSetsOfNoNameAreRefused) {
  for (const std::string name : {"", "baseline", "v3", "v4"})
    EXPECT_TRUE(from({{"MILLRACE_CPU_ISA", name}})) << name;
  for (const std::string name : {"v9", "V3", "avx2", " "}) {
    const auto options = from({{"MILLRACE_CPU_ISA", name}});
    ASSERT_FALSE(options) << name;
    EXPECT_EQ(options.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(options.error().message().find("MILLRACE_CPU_ISA is '" + name +
                                             "', but must be baseline, v3 or v4"),
              std::string::npos);
  }
}

TEST(RuntimeOptionsTest, NumbersThatNoRuntimeCanHaveAreRefusedByTheirNames) {
  const auto refused = [](const auto& set, const std::string& words) {
    RuntimeOptions options;
    options.device = "cpu";
    set(options);
    const Result<Runtime> runtime = Runtime::create(options);
    ASSERT_FALSE(runtime) << words;
    EXPECT_EQ(runtime.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(runtime.error().message().find(words), std::string::npos)
        << runtime.error().message();
  };
  refused([](RuntimeOptions& o) { o.threads = -1; }, "RuntimeOptions::threads is -1");
  refused([](RuntimeOptions& o) { o.blocking_threads = -1; }, "::blocking_threads is -1");
  refused([](RuntimeOptions& o) { o.limits.launches = -5; }, "::limits.launches is -5");
  refused([](RuntimeOptions& o) { o.devices = 0; }, "RuntimeOptions::devices is 0");
  refused([](RuntimeOptions& o) { o.close_timeout = Duration(-1); }, "::close_timeout is -1");
}

TEST(RuntimeOptionsTest, UnknownDeviceIsNotFoundAndReportedWithWhereItWasNamed) {
  const auto told = [](RuntimeOptions options) {
    const Result<Runtime> runtime = Runtime::create(std::move(options));
    EXPECT_FALSE(runtime);
    if (runtime) return std::string();
    EXPECT_EQ(runtime.error().code(), ErrorCode::kNotFound);
    return runtime.error().message();
  };
  RuntimeOptions options;
  options.device = "tpu";
  EXPECT_TRUE(told(options).starts_with("RuntimeOptions::device names the device kind 'tpu'"));
  EXPECT_TRUE(told(from({{"PJRT_DEVICE", "tpu"}}).value())
                  .starts_with("PJRT_DEVICE names the device kind 'tpu'"));
  options = from({{"PJRT_DEVICE", "cpu"}}).value();
  options.device = "tpu";
  options.device_said_by = "--device";
  EXPECT_TRUE(told(options).starts_with("--device names the device kind 'tpu'"));
}

TEST(RuntimeOptionsTest, BadLogLevelIsReportedBeforeAnythingIsLogged) {
  EXPECT_TRUE(from({{"MILLRACE_LOG", "warn,pjrt=debug"}}));
  const auto options = from({{"MILLRACE_LOG", "loud"}});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(options.error().message().find("(MILLRACE_LOG): 'loud' is no level"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace
