// The command as its user sees it: exit codes and words, by running it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::run_millrace;
using ::testing::StartsWith;
using Json = nlohmann::json;

TEST(CommandTest, VersionNamesCompilerAndDevices) {
  const Outcome o = run_millrace({"--version"});
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.out, StartsWith("millrace 0."));
  EXPECT_THAT(o.out, HasSubstr("\ncompiler: "));
  EXPECT_THAT(o.out, HasSubstr("\ndevices: cpu"));
  EXPECT_THAT(o.err, IsEmpty());
}

TEST(CommandTest, HelpGoesToStdoutAndSucceeds) {
  const Outcome o = run_millrace({"train", "--help"});
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.out, HasSubstr("--steps-in-flight"));
}

TEST(CommandTest, NoVerbAndUnknownOptionsAreUsageErrorsOnStderr) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"fly"},
                                                {"devices", "--jsn"},
                                                {"run"},
                                                {"run", "a", "--repeat", "0"}}) {
    const Outcome o = run_millrace(words);
    EXPECT_EQ(o.code, 2) << ::testing::PrintToString(words);
    EXPECT_THAT(o.out, IsEmpty());
    EXPECT_FALSE(o.err.empty());
  }
}

TEST(CommandTest, DevicesListsAsManyAsTheEnvironmentSays) {
  const Outcome o = run_millrace({"devices", "--json"}, {{"CPU_NUM_DEVICES", "3"}});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["platform"], "cpu");
  ASSERT_EQ(json["devices"].size(), 3U);
  EXPECT_EQ(json["devices"][2]["id"], 2);
  const Outcome text = run_millrace({"devices"}, {{"CPU_NUM_DEVICES", "2"}});
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 3);  // the platform and two devices
}

TEST(CommandTest, BadNumbersInTheEnvironmentNameVariableAndValue) {
  const Outcome o = run_millrace({"devices"}, {{"CPU_NUM_DEVICES", "two"}});
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("CPU_NUM_DEVICES is 'two'"));
}

TEST(CommandTest, UnknownDeviceIsNamedWithWhatThereIs) {
  const Outcome o = run_millrace({"devices"}, {{"PJRT_DEVICE", "ABACUS"}});
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr("ABACUS"));
  EXPECT_THAT(o.err, ::testing::ContainsRegex("[cC][pP][uU]"));
}

}  // namespace
}  // namespace millrace
