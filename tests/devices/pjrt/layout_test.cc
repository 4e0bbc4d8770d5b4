// Layouts of XLA's own CPU clients of every age at hand.
#include "millrace/devices/pjrt/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/pjrt/abi/extensions.h"
#include "millrace/devices/pjrt/buffer.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"
#include "tests/support/plugins.h"

namespace millrace::devices::pjrt {
namespace {

using ::testing::ElementsAre;

TEST(WrittenLayoutTest, TilesAreWrittenOneAfterTheOther) {
  WrittenLayout written({.minor_to_major = {2, 0, 1}, .tiles = {{8, 128}, {2}}});
  const abi::TiledLayout& tiled = written.get()->tiled;
  ASSERT_EQ(tiled.minor_to_major_size, 3U);
  EXPECT_EQ(tiled.minor_to_major[0], 2);
  ASSERT_EQ(tiled.num_tiles, 2U);
  EXPECT_THAT(std::span(tiled.tile_dim_sizes, 2), ElementsAre(2U, 1U));
  EXPECT_THAT(std::span(tiled.tile_dims, 3), ElementsAre(8, 128, 2));
}

// A function of an extension may hang as any other, and counts as under way meanwhile.
TEST(LayoutsTest, FunctionOfTheExtensionIsUnderWayWhileItRuns) {
  testing::FakePlugin fake;
  static const Plugin* plugin = nullptr;
  static std::string under_way;
  abi::LayoutsExtension extension{};
  extension.struct_size = sizeof extension;
  extension.type = abi::kLayoutsExtension;
  extension.client_default = [](abi::ClientDefaultLayoutArgs*) -> abi::Error* {
    under_way = plugin->calls_under_way();
    return testing::FakePlugin::make_error(12, "not today");
  };
  fake.api()->extension_start = &extension;
  plugin = Plugin::adopt(fake.api(), "fake.so").value();
  SerialExecutor executor{SerialExecutor::InOrder{}};
  const auto client = PjrtClient::create(*plugin, {.completions = &executor}).value();
  const auto told = client->default_layout(Shape(DType::kF32, {2, 3}), DeviceId{0});
  EXPECT_EQ(told.error().message(),
            "PJRT_Layouts_PJRT_Client_GetDefaultLayout of the plugin fake.so: not today");
  EXPECT_EQ(under_way, "PJRT_Layouts_PJRT_Client_GetDefaultLayout");
  EXPECT_EQ(plugin->calls_under_way(), "");
  EXPECT_TRUE(client->close().result());
}

TEST(LayoutsTest, ErrorsOfTheExtensionNameThePlugin) {
  testing::FakePlugin fake;
  abi::LayoutsExtension extension{};
  extension.struct_size = sizeof extension;
  extension.type = abi::kLayoutsExtension;
  fake.api()->extension_start = &extension;
  const Plugin* const plugin = Plugin::adopt(fake.api(), "fake.so").value();
  SerialExecutor executor{SerialExecutor::InOrder{}};
  const auto client = PjrtClient::create(*plugin, {.completions = &executor}).value();
  const auto told = [&client] {
    return client->default_layout(Shape(DType::kF32, {2, 3}), DeviceId{0}).error().message();
  };
  extension.client_default = [](abi::ClientDefaultLayoutArgs*) -> abi::Error* { throw 1; };
  EXPECT_EQ(told(),
            "PJRT_Layouts_PJRT_Client_GetDefaultLayout of the plugin fake.so threw an exception "
            "through its C interface: what is no std::exception");
  extension.client_default = [](abi::ClientDefaultLayoutArgs*) -> abi::Error* { return nullptr; };
  EXPECT_EQ(told(), "the plugin fake.so gives no layout and no error");
  EXPECT_TRUE(client->close().result());
}

std::map<std::string, std::string> plugins_or_none() {
  auto plugins = testing::plugins_at_hand();
  std::erase_if(plugins, [](const auto& plugin) { return !plugin.first.starts_with("Xla"); });
  if (plugins.empty()) plugins[""] = "";
  return plugins;
}

class XlaLayoutTest : public ::testing::TestWithParam<std::pair<const std::string, std::string>> {
 protected:
  void SetUp() override {
    if (GetParam().first.empty()) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
    client_ = PjrtClient::create(*Plugin::load(GetParam().second).value(),
                                 {.completions = threads_.get(),
                                  .settings = {{"cpu_device_count", std::int64_t{1}}}})
                  .value();
  }
  void TearDown() override {
    if (client_) {
      EXPECT_TRUE(wait_blocking(client_->close()));
    }
    client_.reset();
    EXPECT_TRUE(wait_blocking(threads_->close()));
  }
  Result<PutResult> put(const DeviceLayout* layout) {
    const HostView view{.data = values_.data(), .shape = shape_};
    constexpr auto kDuringCall = HostBufferSemantics::kImmutableOnlyDuringCall;
    return layout == nullptr ? client_->put(view, kDuringCall, DeviceId{0}, -1)
                             : client_->put_in(view, kDuringCall, DeviceId{0}, -1, *layout);
  }
  static PjrtBuffer& body(const Buffer& buffer) { return static_cast<PjrtBuffer&>(*buffer.body()); }

  const std::array<float, 6> values_ = {1, 2, 3, 4, 5, 6};
  const Shape shape_{DType::kF32, {2, 3}};
  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 2, "events");
  std::unique_ptr<PjrtClient> client_;
};

TEST_P(XlaLayoutTest, BuffersReportTheirsAndArraysComeBackInRowMajorOrder) {
  const DeviceLayout columns{.minor_to_major = {0, 1}};
  const DeviceLayout rows = DeviceLayout::row_major(2);
  const Buffer plain = put(nullptr).value().buffer;
  ASSERT_TRUE(wait_blocking(plain.ready()));
  EXPECT_EQ(body(plain).layout().value(), rows);
  EXPECT_TRUE(plain.host_access());
  EXPECT_EQ(body(put(&rows).value().buffer).layout().value(), rows);
  const Result<PutResult> other = put(&columns);
  ASSERT_TRUE(other) << other.error().to_string();
  ASSERT_TRUE(wait_blocking(other->buffer.ready()));
  EXPECT_EQ(body(other->buffer).layout().value(), columns);
  EXPECT_EQ(other->buffer.host_access().error().code(), ErrorCode::kUnimplemented);
  if (GetParam().first == "Xla0106")
    GTEST_SKIP() << "this one copies in the device's order, whatever order it is asked for";
  std::array<float, 6> back{};
  ASSERT_TRUE(wait_blocking(
      other->buffer.body()->copy_to_host(std::as_writable_bytes(std::span(back)), nullptr)));
  EXPECT_EQ(back, values_);
}

TEST_P(XlaLayoutTest, ExtensionReportsThatOfAnArray) {
  EXPECT_EQ(client_->default_layout(shape_, DeviceId{0}).value(), DeviceLayout::row_major(2));
}

INSTANTIATE_TEST_SUITE_P(Plugins, XlaLayoutTest, ::testing::ValuesIn(plugins_or_none()),
                         [](const auto& info) {
                           return info.param.first.empty() ? std::string("None") : info.param.first;
                         });

}  // namespace
}  // namespace millrace::devices::pjrt
