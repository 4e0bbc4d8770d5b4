#include "millrace/tools/api/runtime_options.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

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

TEST(RuntimeOptionsTest, BadLogLevelIsToldBeforeAnythingIsLogged) {
  EXPECT_TRUE(from({{"MILLRACE_LOG", "warn,pjrt=debug"}}));
  const auto options = from({{"MILLRACE_LOG", "loud"}});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(options.error().message().find("(MILLRACE_LOG): 'loud' is no level"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace
