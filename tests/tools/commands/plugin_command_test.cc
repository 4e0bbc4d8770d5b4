// The commands on a PJRT plugin: named on the command line or by a manifest, with and without a
// cache of what it compiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
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

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using testing::run_millrace;
using testing::TempFolder;
using Json = nlohmann::json;

constexpr std::string_view kProgram = R"(
func.func public @main() -> tensor<4xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = stablehlo.add %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
})";

class PluginCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto plugins = testing::plugins_at_hand();
    const auto found = plugins.find("Xla0115");
    if (found == plugins.end()) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
    library_ = found->second;
    const Json manifest = {{"name", "xla_cpu"},
                           {"library_path", library_},
                           {"create_options", {{"cpu_device_count", 2}}}};
    const std::string text = manifest.dump();
    folder_.write("plugins.json", std::as_bytes(std::span(text)));
    program_ = folder_.write("p.mlir", std::as_bytes(std::span(kProgram)));
  }
  // Entries of the cache.
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(cache(), none)) found.push_back(entry.path());
    return found;
  }
  std::string cache() const { return folder_.file("cache"); }

  const TempFolder folder_;
  std::string library_, program_;
};

TEST_F(PluginCommandTest, ManifestAndPjrtDeviceWorkForEveryVerb) {
  const std::map<std::string, std::string> variables = {{"PJRT_DEVICE", "xla_cpu"},
                                                        {"MILLRACE_PLUGIN_PATH", folder_.path()}};
  const Outcome run = run_millrace({"run", program_}, variables);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("2"));
  const Outcome listed = run_millrace({"devices", "--json"}, variables);
  EXPECT_EQ(Json::parse(listed.out)["name"], "xla_cpu");
  EXPECT_EQ(Json::parse(listed.out)["devices"].size(), 2U);
  const Outcome inspected = run_millrace({"inspect", program_, "--json"}, variables);
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_EQ(Json::parse(inspected.out)["compiled"]["device"], "xla_cpu");
  const Outcome trained = run_millrace({"train", "--model", testing::mnist_model(), "--fake-data",
                                        "--devices", "2", "--max-steps", "2", "--json"},
                                       variables);
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(run_millrace({"env"}, variables).code, 0);
}

TEST_F(PluginCommandTest, PluginThatIsAskedForIsNoSurprise) {
  const Outcome run = run_millrace({"run", program_, "--plugin", "x=" + library_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("opened 'x'")));
  const Outcome found = run_millrace({"run", program_}, {{"MILLRACE_PLUGIN_PATH", folder_.path()}});
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.err, HasSubstr("warning millrace/runtime: opened 'xla_cpu'"));
}

TEST_F(PluginCommandTest, ProgramOfSeveralDevicesWantsThemOfThePlugin) {
  for (const std::string count : {"mhlo.num_partitions", "mhlo.num_replicas"}) {
    const std::string text =
        "module @two attributes {" + count + " = 2 : i32} {" + std::string(kProgram) + "\n}\n";
    const std::string program = folder_.write("two.mlir", std::as_bytes(std::span(text)));
    const std::string one = ",cpu_device_count=1";
    EXPECT_EQ(run_millrace({"run", program, "--plugin", "x=" + library_}).code, 0)
        << "it has four devices";
    EXPECT_NE(run_millrace({"run", program, "--plugin", "x=" + library_ + one}).code, 0);
    const Outcome o = run_millrace({"inspect", program, "--plugin", "x=" + library_});
    EXPECT_EQ(o.code, 4) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_THAT(o.err, HasSubstr(program + " has " + count +
                                 " = 2, and this command takes programs of one device"));
    EXPECT_EQ(run_millrace({"run", program}).code, 0) << "the CPU device has as many as wanted";
  }
}

TEST_F(PluginCommandTest, InspectPrintsWhatThePluginMakesOfTheProgram) {
  const std::string plugin = "x=" + library_;
  const Outcome text = run_millrace({"inspect", program_, "--plugin", plugin});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("the CPU device's plan"));
  EXPECT_THAT(text.out, HasSubstr("compiled by x (cpu cpu (PJRT API 0.115)) in "));
  EXPECT_THAT(run_millrace({"inspect", program_}).out, Not(HasSubstr("compiled by")));
  EXPECT_EQ(run_millrace({"inspect", program_, "--ops", "--plugin", plugin}).code, 2);
  EXPECT_EQ(run_millrace({"inspect", program_, "--plugin", "x=/nowhere.so"}).code, 3);
}

TEST_F(PluginCommandTest, SecondProcessTakesWhatTheFirstHasCompiledAndSurvivesDamage) {
  const std::vector<std::string> words = {
      "run", program_, "--plugin", "x=" + library_, "--compilation-cache", cache()};
  const Outcome first = run_millrace(words);
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(entries().size(), 1U);
  const auto time = fs::last_write_time(entries()[0]);
  const Outcome second = run_millrace(words, {{"MILLRACE_LOG", "debug"}});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.out, first.out);
  EXPECT_GT(fs::last_write_time(entries()[0]), time);  // used, not compiled and written:
  EXPECT_THAT(second.err, HasSubstr("loaded " + program_ + " from the cache in "));
  fs::resize_file(entries()[0], fs::file_size(entries()[0]) / 2);
  const Outcome third = run_millrace(words);
  ASSERT_EQ(third.code, 0) << third.err;
  EXPECT_EQ(third.out, first.out);
  EXPECT_THAT(third.err, HasSubstr("compiling " + program_ + " again"));
  // Read only, by the environment: nothing is written.
  fs::remove(entries()[0]);
  EXPECT_EQ(run_millrace({"run", program_, "--plugin", "x=" + library_},
                         {{"MILLRACE_COMPILATION_CACHE", cache() + ",read_only"}})
                .code,
            0);
  EXPECT_TRUE(entries().empty());
}

TEST_F(PluginCommandTest, CpuDeviceUsesTheSameCacheAndABadOneIsAUsageError) {
  const std::vector<std::string> words = {"run", program_, "--compilation-cache", cache()};
  const Outcome first = run_millrace(words);
  EXPECT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(entries().size(), 1U);
  const Outcome second = run_millrace(words, {{"MILLRACE_LOG", "debug"}});
  EXPECT_EQ(second.out, first.out);
  EXPECT_THAT(second.err, HasSubstr("loaded " + program_ + " from the cache in "));
#ifdef MILLRACE_SANITIZED
  constexpr std::size_t kOtherKernels = 0;  // there are none but the baseline's
#else
  constexpr std::size_t kOtherKernels = 1;
#endif
  // Another instruction set has other kernels; so has another device.
  EXPECT_EQ(run_millrace(words, {{"MILLRACE_CPU_ISA", "baseline"}}).code, 0);
  EXPECT_EQ(entries().size(), 1 + kOtherKernels);
  std::vector<std::string> on_plugin = words;
  on_plugin.insert(on_plugin.end(), {"--plugin", "x=" + library_});
  EXPECT_EQ(run_millrace(on_plugin).code, 0);
  EXPECT_EQ(entries().size(), 2 + kOtherKernels);
  const Outcome flag = run_millrace({"run", program_, "--compilation-cache", "x,fast"});
  EXPECT_EQ(flag.code, 2);
  EXPECT_THAT(flag.err, HasSubstr("--compilation-cache: "));
  const Outcome variable = run_millrace({"devices"}, {{"MILLRACE_COMPILATION_CACHE", "x,max=0"}});
  EXPECT_EQ(variable.code, 2);
  EXPECT_THAT(variable.err, HasSubstr("MILLRACE_COMPILATION_CACHE: "));
}

}  // namespace
}  // namespace millrace
