#include "millrace/devices/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/backends.h"

namespace millrace::devices {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Variables variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

class RegistryTest : public ::testing::Test {
 protected:
  ClientOptions options(std::map<std::string, std::string> values) {
    return {
        .environment = {.clock = &steady_clock(), .compute = &executor_, .blocking = &executor_},
        .variables = variables(std::move(values)),
        .threads = [this](int, int) { return DeviceThreads{&executor_, parallel_.get()}; }};
  }
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  std::unique_ptr<Parallel> parallel_ = make_serial_parallel();
  ClientRegistry registry_ = cpu::backends();
};

Status can_open(const std::string&) { return {}; }
Result<std::unique_ptr<Client>> no_chip(const ClientOptions&) {
  return fail(ErrorCode::kFailedPrecondition, "no chip is plugged in");
}

TEST_F(RegistryTest, CpuIsChosenWhenThereIsNothingElse) {
  const ClientChoice choice = registry_.choose(variables({}), can_open).value();
  EXPECT_EQ(choice.name, "cpu");
  EXPECT_EQ(choice.reason, "PJRT_DEVICE is not set");
  EXPECT_FALSE(choice.automatic);  // no warning is needed
}

TEST_F(RegistryTest, PjrtDeviceChoosesWhateverItsCase) {
  ASSERT_TRUE(registry_.add("NPU", &no_chip));
  EXPECT_EQ(registry_.choose(variables({{"PJRT_DEVICE", "CPU"}}), can_open)->name, "cpu");
  const ClientChoice npu = registry_.choose(variables({{"PJRT_DEVICE", "Npu"}}), can_open).value();
  EXPECT_EQ(npu.name, "npu");
  EXPECT_EQ(npu.reason, "PJRT_DEVICE=Npu");
  EXPECT_FALSE(npu.automatic);
}

TEST_F(RegistryTest, BestThatCanBeOpenedIsTakenAndTheReasonNamesTheOthers) {
  ASSERT_TRUE(registry_.add("npu", &no_chip, 7));
  const OpenedClient opened = registry_.open(variables({}), options({})).value();
  EXPECT_EQ(opened.choice.name, "cpu");
  EXPECT_EQ(opened.client->platform_name(), "cpu");
  EXPECT_EQ(opened.choice.reason,
            "PJRT_DEVICE is not set; 'npu' cannot be used: no chip is plugged in");
  EXPECT_TRUE(opened.choice.automatic);
  // Asking for it by name gives no other device.
  const auto asked = registry_.open(variables({{"PJRT_DEVICE", "NPU"}}), options({}));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message(), "no chip is plugged in");
}

TEST_F(RegistryTest, AutomaticChoiceSaysOfHowManyItIsTheFirst) {
  ASSERT_TRUE(registry_.add("b", &no_chip, 7));
  ASSERT_TRUE(registry_.add("a", &no_chip, 7));
  ASSERT_TRUE(registry_.add("c", &no_chip, 8));
  EXPECT_THAT(registry_.names(), ElementsAre("c", "b", "a", "cpu"));
  const ClientChoice choice = registry_.choose(variables({}), can_open).value();
  EXPECT_EQ(choice.name, "c");
  EXPECT_EQ(choice.reason, "PJRT_DEVICE is not set; 'c' comes first of 4");
  EXPECT_TRUE(choice.automatic);
}

TEST_F(RegistryTest, BackendThatTheUserHasNamedIsNotPassedOver) {
  ASSERT_TRUE(registry_.add("npu", &no_chip, 1000, "--plugin"));
  const auto refused = registry_.open(variables({}), options({}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(refused.error().message(),
            "--plugin names 'npu', which cannot be used (PJRT_DEVICE=cpu takes the CPU): no chip "
            "is plugged in");
  EXPECT_EQ(registry_.open(variables({{"PJRT_DEVICE", "cpu"}}), options({}))->choice.name, "cpu");
  EXPECT_EQ(registry_.choose(variables({}), can_open)->reason,
            "PJRT_DEVICE is not set; --plugin names 'npu'");
  EXPECT_FALSE(registry_.choose(variables({}), can_open)->automatic);
}

TEST_F(RegistryTest, UnknownKindIsAnErrorThatListsTheKnownOnes) {
  ASSERT_TRUE(registry_.add("npu", &no_chip));
  const Error error = registry_.choose(variables({{"PJRT_DEVICE", "TPU"}}), can_open).error();
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.message(),
            "PJRT_DEVICE names the device kind 'TPU', which is not known here; known: cpu, npu");
}

TEST_F(RegistryTest, UnknownKindIsReportedWithWhereItWasNamed) {
  const Error error =
      registry_.choose(variables({{"PJRT_DEVICE", "TPU"}}), can_open, "--device").error();
  EXPECT_TRUE(error.message().starts_with("--device names the device kind 'TPU'"))
      << error.message();
}

TEST_F(RegistryTest, KindIsRegisteredOnce) {
  EXPECT_EQ(registry_.add("Cpu", nullptr).error().code(), ErrorCode::kAlreadyExists);
  for (const char* name : {"", "a\033b"})
    EXPECT_EQ(registry_.add(name, &no_chip).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(registry_.names(), ElementsAre("cpu"));
}

TEST_F(RegistryTest, CpuNumDevicesSaysHowManyUnlessTheCallerDoes) {
  EXPECT_EQ(registry_.create("cpu", options({}))->get()->devices().size(), 1u);
  EXPECT_EQ(registry_.create("cpu", options({{"CPU_NUM_DEVICES", "3"}}))->get()->devices().size(),
            3u);
  ClientOptions two = options({{"CPU_NUM_DEVICES", "3"}});
  two.devices = 2;
  EXPECT_EQ(registry_.create("cpu", two)->get()->devices().size(), 2u);
}

TEST_F(RegistryTest, BadCpuNumDevicesIsAClearError) {
  for (const std::string text : {"0", "-1", "two", "2x", "99999", "9999999999999999999", " 2"}) {
    const auto created = registry_.create("cpu", options({{"CPU_NUM_DEVICES", text}}));
    ASSERT_FALSE(created.has_value()) << text;
    EXPECT_THAT(created.error().message(), HasSubstr("CPU_NUM_DEVICES is '" + text +
                                                     "', but must be a whole number from 1 to"));
  }
}

}  // namespace
}  // namespace millrace::devices
