#include "millrace/tools/serve/status_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace millrace::serve {
namespace {

using Json = nlohmann::json;

TEST(StatusJsonTest, DevicesSayWhetherAndWhyTheyHaveFailed) {
  ServerStatus status{.state = "ready", .uptime = std::chrono::milliseconds(1500), .requests = 7};
  status.devices.push_back({.number = 0, .kind = "cpu", .memory_bytes = 4096});
  status.devices.push_back(
      {.number = 1, .kind = "cpu", .failure = Error(ErrorCode::kInternal, "it \"burns\"")});
  const Json json = Json::parse(status_json(status));
  EXPECT_EQ(json["state"], "ready");
  EXPECT_EQ(json["uptime_s"], 1.5);
  EXPECT_EQ(json["requests"], 7);
  EXPECT_EQ(json["devices"][0]["state"], "works");
  EXPECT_EQ(json["devices"][0]["memory_bytes"], 4096);
  EXPECT_FALSE(json["devices"][0].contains("reason"));
  EXPECT_EQ(json["devices"][1]["state"], "failed");
  EXPECT_NE(json["devices"][1]["reason"].get<std::string>().find("it \"burns\""),
            std::string::npos);
  EXPECT_FALSE(json["devices"][1].contains("memory_bytes"));
  EXPECT_EQ(json["models"], Json::array());
}

TEST(StatusJsonTest, ReadinessSaysWhyNotAndWhichDevicesHaveFailed) {
  EXPECT_EQ(ready_json(true, "", {std::nullopt}), R"({"ready":true})");
  const Json json = Json::parse(
      ready_json(false, "no device is left", {std::nullopt, Error(ErrorCode::kInternal, "burnt")}));
  EXPECT_EQ(json["ready"], false);
  EXPECT_EQ(json["reason"], "no device is left");
  ASSERT_EQ(json["devices_failed"].size(), 1U);
  EXPECT_EQ(json["devices_failed"][0]["device"], 1);
  EXPECT_NE(json["devices_failed"][0]["reason"].get<std::string>().find("burnt"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::serve
