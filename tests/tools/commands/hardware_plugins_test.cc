// Plugins whose hardware is not here, in a process of their own (they take hundreds of megabytes,
// and some end the process that creates their client): they load, tell their version, and say why
// they cannot run. Where the hardware is, they list it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/plugins.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Hardware {
  std::string plugin;   // as tests/fetch_plugins names it
  std::string version;  // of its API
  std::string reason;   // why it cannot run without
};

void PrintTo(const Hardware& hardware, std::ostream* out) { *out << hardware.plugin; }

class HardwarePluginTest : public ::testing::TestWithParam<Hardware> {};

TEST_P(HardwarePluginTest, LoadsReportsItsVersionAndWhyItCannotRun) {
  const auto plugins = testing::plugins_at_hand("hardware");
  const auto found = plugins.find(GetParam().plugin);
  if (found == plugins.end())
    GTEST_SKIP() << "not fetched: tests/fetch_plugins " << GetParam().plugin << " gets it";
  // Otherwise libtpu asks an address of its cloud for minutes.
  const testing::Outcome o =
      testing::run_millrace({"devices", "--json", "--plugin", "it=" + found->second},
                            {{"TPU_SKIP_MDS_QUERY", "1"}, {"TPU_STDERR_LOG_LEVEL", "3"}});
  const Json json = Json::parse(o.out.substr(0, o.out.find('\n')));
  if (o.code == 0) {
    EXPECT_EQ(json["name"], "it");
    EXPECT_THAT(json["version"].get<std::string>(), HasSubstr("PJRT API " + GetParam().version));
    EXPECT_FALSE(json["devices"].empty());
    return;
  }
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_EQ(json["others"][0]["name"], "it");
  const std::string problem = json["others"][0]["problem"];
  EXPECT_THAT(problem,
              HasSubstr("opening devices (PJRT API " + GetParam().version +
                        "): PJRT_Client_Create of the plugin it (" + found->second + "): "));
  EXPECT_THAT(problem, HasSubstr(GetParam().reason));
  // The CPU is there all the same.
  EXPECT_EQ(json["others"][1]["name"], "cpu");
  EXPECT_EQ(json["others"][1]["devices"].size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Plugins, HardwarePluginTest,
                         ::testing::Values(Hardware{"Cuda0115", "0.115", "No visible GPU devices"},
                                           Hardware{"Cuda0116", "0.116", "No visible GPU devices"},
                                           Hardware{"Tpu0116", "0.116",
                                                    "TPU initialization failed"}),
                         [](const auto& info) { return info.param.plugin; });

}  // namespace
}  // namespace millrace
