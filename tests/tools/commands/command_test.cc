// The command as its user sees it: exit codes and words, by running it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/support/plugins.h"
#include "tests/support/temp_folder.h"
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

TEST(CommandTest, UnknownWordIsReportedBeforeWhatIsMissingBecauseOfIt) {
  EXPECT_EQ(run_millrace({"trian", "--model", "m"}).err,
            "millrace: error: there is no option or command 'trian'; did you mean 'train'? See "
            "millrace --help\n");
  EXPECT_EQ(run_millrace({"train", "--modle", "m"}).err,
            "millrace train: error: there is no option or command '--modle'; did you mean "
            "'--model'? See millrace train "
            "--help\n");
  EXPECT_THAT(run_millrace({"run"}).err,
              ::testing::AllOf(StartsWith("millrace run: error: FILE"), HasSubstr("required")));
  EXPECT_THAT(run_millrace({"launch", "-n", "2", "-n", "3", "--", "true"}).err,
              StartsWith("millrace launch: error: --ranks: At Most 1 required"));
}

TEST(CommandTest, JsonReportsFailuresTooWithTheExitCode) {
  const Outcome o = run_millrace({"run", "nowhere.mlir", "--json"});
  EXPECT_EQ(o.code, 1);
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["event"], "error");
  EXPECT_EQ(json["code"], "NOT_FOUND");
  EXPECT_EQ(json["exit"], 1);
  EXPECT_THAT(json["message"], HasSubstr("nowhere.mlir"));
  EXPECT_THAT(o.err, HasSubstr("nowhere.mlir"));
}

TEST(CommandTest, BadLogLevelIsAUsageError) {
  const Outcome o = run_millrace({"devices"}, {{"MILLRACE_LOG", "loud"}});
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("'loud' is no level"));
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

// A manifest of a plugin that is not there.
std::string broken_manifest(const testing::TempFolder& folder) {
  const std::string text = R"({"name": "npu", "library_path": "/nowhere/npu.so"})";
  folder.write("npu.json", std::as_bytes(std::span(text)));
  return folder.path();
}

TEST(CommandTest, PluginThatCannotBeUsedIsListedWithItsReason) {
  const testing::TempFolder folder;
  const std::map<std::string, std::string> known = {
      {"MILLRACE_PLUGIN_PATH", broken_manifest(folder)}};
  const Outcome o = run_millrace({"devices", "--json"}, known);
  ASSERT_EQ(o.code, 0) << o.err;  // the CPU device is what is left
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["name"], "cpu");
  EXPECT_THAT(json["reason"], HasSubstr("'npu' cannot be used"));
  ASSERT_EQ(json["others"].size(), 1U);
  EXPECT_EQ(json["others"][0]["name"], "npu");
  EXPECT_THAT(json["others"][0]["problem"], HasSubstr("/nowhere/npu.so"));
  // Asking for it by name gives no other device, but the list is printed.
  for (const Outcome& asked : {run_millrace({"devices"}, {{"PJRT_DEVICE", "NPU"},
                                                          {"MILLRACE_PLUGIN_PATH", folder.path()}}),
                               run_millrace({"devices", "--plugin", "npu=/nowhere/npu.so"})}) {
    EXPECT_EQ(asked.code, 3);
    EXPECT_THAT(asked.err, HasSubstr("/nowhere/npu.so"));
    EXPECT_THAT(asked.out, HasSubstr("not chosen, cpu (PJRT_DEVICE=cpu):"));
  }
  EXPECT_EQ(run_millrace({"devices", "--plugin", "npu"}).code, 2);
}

TEST(CommandTest, ManifestThatCannotBeReadIsReportedOnceAndBreaksNothing) {
  const testing::TempFolder folder;
  folder.write("bad.json", std::as_bytes(std::span("{")));
  for (const char* verb : {"devices", "env"}) {
    const Outcome o = run_millrace({verb}, {{"MILLRACE_PLUGIN_PATH", folder.path()}});
    ASSERT_EQ(o.code, 0) << o.err;
    const std::string told = o.out + o.err;
    const std::size_t first = told.find("bad.json");
    ASSERT_NE(first, std::string::npos) << verb << ": " << told;
    EXPECT_EQ(told.find("bad.json", first + 1), std::string::npos) << verb << ": " << told;
  }
}

TEST(CommandTest, ChoiceAmongSeveralIsReportedInOneLineAndANamedPluginIsNotReplaced) {
  const testing::TempFolder folder;
  const std::vector<std::string> train = {"train",        "--model",     testing::mnist_model(),
                                          "--fake-data",  "--max-steps", "2",
                                          "--batch-size", "64",          "--quiet"};
  const Outcome passed_over =
      run_millrace(train, {{"MILLRACE_PLUGIN_PATH", broken_manifest(folder)}});
  EXPECT_EQ(passed_over.code, 0);
  EXPECT_THAT(passed_over.err, HasSubstr("opened 'cpu' with 1 device: PJRT_DEVICE is not set; "
                                         "'npu' cannot be used"));
  EXPECT_EQ(std::count(passed_over.err.begin(), passed_over.err.end(), '\n'), 1) << passed_over.err;
  EXPECT_THAT(run_millrace(train).err, IsEmpty());
  std::vector<std::string> named = train;
  named.insert(named.end(), {"--plugin", "npu=/nowhere/npu.so"});
  const Outcome refused = run_millrace(named);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("--plugin names 'npu', which cannot be used"));
  EXPECT_EQ(run_millrace(named, {{"PJRT_DEVICE", "CPU"}}).code, 0);
}

TEST(CommandTest, TrainingRunsOnAPluginUnchanged) {
  const auto plugins = testing::plugins_at_hand();
  const auto found = plugins.find("Xla0115");
  if (found == plugins.end()) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
  const Outcome o = run_millrace({"train", "--model", testing::mnist_model(), "--fake-data",
                                  "--plugin", "xla_cpu=" + found->second + ",cpu_device_count=2",
                                  "--devices", "2", "--max-steps", "20", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json done = Json::parse(o.out.substr(o.out.rfind("{\"event\":\"done\"")));
  EXPECT_EQ(done["steps"], 20);
  EXPECT_LT(done["final_loss"], 2.0);
  EXPECT_GT(done["stage_ms"]["execute"], 0.0);
}

TEST(CommandTest, SeedsAreWholeNumbers) {
  for (const char* seed : {"-1", "1.5", "99999999999999999999", "x"}) {
    const Outcome o =
        run_millrace({"train", "--model", testing::mnist_model(), "--fake-data", "--seed", seed});
    EXPECT_EQ(o.code, 2) << seed;
    EXPECT_THAT(o.err, HasSubstr(seed));
  }
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
  EXPECT_THAT(o.err, HasSubstr("--plugin abacus=PATH"));
}

}  // namespace
}  // namespace millrace
