#include "millrace/devices/pjrt/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <stdexcept>
#include <string>

#include "tests/devices/pjrt/fake_plugin.h"
#include "tests/support/temp_folder.h"

namespace millrace::devices::pjrt {
namespace {

using testing::FakePlugin;
using ::testing::HasSubstr;

TEST(PluginTest, VersionsThatAreNotSpokenAreRefusedWithBothVersions) {
  for (const auto& [major, minor] : {std::pair{1, 115}, {0, 67}, {0, 0}}) {
    FakePlugin fake;
    fake.api()->version.major_version = major;
    fake.api()->version.minor_version = minor;
    const auto plugin = Plugin::adopt(fake.api(), "fake.so");
    ASSERT_FALSE(plugin);
    EXPECT_EQ(plugin.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(plugin.error().message(),
                HasSubstr("fake.so has PJRT API " + std::to_string(major) + "." +
                          std::to_string(minor) + "; this client speaks 0.68 to 0.115"));
  }
}

TEST(PluginTest, ExtensionsThatLeadBackIntoTheirListAreLookedThroughOnce) {
  FakePlugin fake;
  abi::Extension first{.struct_size = sizeof first, .type = 71, .next = nullptr};
  abi::Extension second{.struct_size = sizeof second, .type = 72, .next = &first};
  first.next = &second;
  fake.api()->extension_start = &first;
  const Plugin* const plugin = Plugin::adopt(fake.api(), "fake.so").value();
  EXPECT_EQ(plugin->extension(72), &second);
  EXPECT_EQ(plugin->extension(73), nullptr);
}

TEST(PluginTest, NewerMinorsAreTaken) {
  FakePlugin fake;
  fake.api()->version.minor_version = 200;
  fake.api()->struct_size += 800;
  EXPECT_TRUE(Plugin::adopt(fake.api(), "fake.so"));
}

TEST(PluginTest, TableThatIsShorterThanItsVersionIsRefused) {
  FakePlugin fake;
  fake.api()->struct_size = 400;
  const auto plugin = Plugin::adopt(fake.api(), "fake.so");
  ASSERT_FALSE(plugin);
  EXPECT_THAT(plugin.error().message(), HasSubstr("table of 400 bytes"));
  EXPECT_FALSE(Plugin::adopt(nullptr, "fake.so"));
}

// Each minor has functions of its own, which a table that says it must have room for.
TEST(PluginTest, TableThatIsShorterThanItsOwnMinorIsRefused) {
  FakePlugin fake;
  const auto size_of = [](std::size_t functions) {
    return offsetof(abi::Api, functions) + functions * sizeof(void*);
  };
  for (const auto& [minor, functions] :
       {std::pair<int, std::size_t>{68, 112}, {92, 129}, {115, 138}}) {
    fake.api()->version.minor_version = minor;
    fake.api()->struct_size = size_of(functions);
    EXPECT_TRUE(Plugin::adopt(fake.api(), "fake.so")) << minor;
    fake.api()->struct_size = size_of(functions) - 1;
    const auto plugin = Plugin::adopt(fake.api(), "fake.so");
    ASSERT_FALSE(plugin) << minor;
    EXPECT_THAT(plugin.error().message(),
                HasSubstr("is shorter than the " + std::to_string(size_of(functions))));
  }
}

TEST(PluginTest, MissingFunctionIsNamed) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  fake.remove(abi::Slot::kBuffer_CopyToMemory);
  abi::BufferCopyToMemoryArgs args;
  const Status status = plugin->call(args);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(status.error().message(), HasSubstr("PJRT_Buffer_CopyToMemory"));
  // One behind the end of an older plugin's table.
  fake.api()->struct_size = sizeof(abi::Api) - 8;
  EXPECT_FALSE(plugin->has(abi::Slot::kTopologyDescription_GetMemorySpaceKindIds));
}

TEST(PluginTest, ExceptionThroughTheInterfaceIsAnErrorThatNamesTheCall) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  fake.replace(+[](abi::ClientCreateArgs*) -> abi::Error* { throw std::runtime_error("no chip"); });
  abi::ClientCreateArgs args;
  const Status status = plugin->call(args);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kInternal);
  EXPECT_THAT(status.error().message(),
              HasSubstr("PJRT_Client_Create of the plugin fake.so threw an exception through its C "
                        "interface: no chip"));
  fake.replace(+[](abi::ClientCreateArgs*) -> abi::Error* { throw 5; });
  EXPECT_EQ(plugin->call(args).error().code(), ErrorCode::kInternal);
}

TEST(PluginTest, ErrorKeepsCodeAndTextAndIsDestroyed) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  fake.replace(+[](abi::ClientCreateArgs*) -> abi::Error* {
    return FakePlugin::make_error(8, "out of chips");
  });
  abi::ClientCreateArgs args;
  const Status status = plugin->call(args);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(status.error().message(), "PJRT_Client_Create of the plugin fake.so: out of chips");
  EXPECT_EQ(FakePlugin::errors_alive, 0);
  fake.replace(
      +[](abi::ClientCreateArgs*) -> abi::Error* { return FakePlugin::make_error(77, ""); });
  EXPECT_EQ(plugin->call(args).error().code(), ErrorCode::kUnknown);
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

TEST(PluginTest, ErrorWhoseFunctionsThrowIsStillAnError) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  fake.replace(+[](abi::ClientCreateArgs*) -> abi::Error* {
    return FakePlugin::make_error(8, "out of chips");
  });
  fake.replace(+[](abi::ErrorGetCodeArgs*) -> abi::Error* { throw std::runtime_error("code"); });
  abi::ClientCreateArgs args;
  Status status = plugin->call(args);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kUnknown);
  EXPECT_EQ(status.error().message(), "PJRT_Client_Create of the plugin fake.so: out of chips");
  EXPECT_EQ(FakePlugin::errors_alive, 0);
  fake.replace(+[](abi::ErrorMessageArgs*) { throw 5; });
  static void* destroy = nullptr;
  destroy = fake.api()->functions[static_cast<std::size_t>(abi::Slot::kError_Destroy)];
  fake.replace(+[](abi::ErrorDestroyArgs* a) {
    reinterpret_cast<abi::Function<abi::ErrorDestroyArgs>>(destroy)(a);
    throw 6;
  });
  status = plugin->call(args);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "PJRT_Client_Create of the plugin fake.so: the plugin gives no message");
}

TEST(PluginTest, ErrorOfTheFunctionThatReturnsTheCodeIsDestroyedToo) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  fake.replace(+[](abi::ClientCreateArgs*) -> abi::Error* {
    return FakePlugin::make_error(8, "out of chips");
  });
  fake.replace(+[](abi::ErrorGetCodeArgs* a) -> abi::Error* {
    a->code = 5;
    return FakePlugin::make_error(13, "no code either");
  });
  abi::ClientCreateArgs args;
  const Status status = plugin->call(args);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kUnknown);
  EXPECT_EQ(status.error().message(), "PJRT_Client_Create of the plugin fake.so: out of chips");
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

TEST(PluginTest, ListThatIsNotThereIsAnErrorOfItsFunction) {
  FakePlugin fake;
  fake.replace(+[](abi::PluginAttributesArgs* a) -> abi::Error* {
    a->num_attributes = 3;
    return nullptr;
  });
  const auto plugin = Plugin::adopt(fake.api(), "fake.so");
  ASSERT_FALSE(plugin);
  EXPECT_EQ(plugin.error().code(), ErrorCode::kInternal);
  EXPECT_EQ(plugin.error().message(),
            "loading a PJRT plugin: PJRT_Plugin_Attributes of the plugin fake.so gives no list of "
            "attributes and no error");
}

TEST(PluginTest, EveryStructureStatesItsSize) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  fake.replace(+[](abi::LoadedExecutableExecuteArgs* args) -> abi::Error* {
    return args->struct_size == 80 ? nullptr : FakePlugin::make_error(3, "size");
  });
  abi::LoadedExecutableExecuteArgs args;
  EXPECT_TRUE(plugin->call(args));
}

TEST(PluginTest, FilesThatAreNoPluginAreRefused) {
  const testing::TempFolder folder;
  const auto nowhere = Plugin::load(folder.file("none.so"));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code(), ErrorCode::kNotFound);
  const std::byte junk[] = {std::byte{1}, std::byte{2}};
  const auto no_library = Plugin::load(folder.write("junk.so", junk));
  ASSERT_FALSE(no_library);
  EXPECT_EQ(no_library.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(no_library.error().message(), HasSubstr("junk.so"));
  const std::string pipe = folder.file("pipe.so");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& odd : {pipe, folder.path()}) {
    const auto refused = Plugin::load(odd);  // at once, though no process writes into the pipe
    ASSERT_FALSE(refused) << odd;
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(refused.error().message(), HasSubstr("it is no file"));
  }
}

}  // namespace
}  // namespace millrace::devices::pjrt
