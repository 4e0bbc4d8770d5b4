// PA-1 to PA-3: structures of older and newer callers.
#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

class StructureTest : public PluginTest {};

MILLRACE_PJRT_UNTYPED abi::Error* call_untyped(void* function, void* args) {
  return reinterpret_cast<abi::Error* (*)(void*)>(function)(args);
}

// PA-1
TEST_F(StructureTest, AStructureThatEndsBeforeWhatIsNeededIsRefusedByCallAndField) {
  abi::BufferToHostBufferArgs args;
  const Outcome outcome = call(args, 48);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.message, HasSubstr("PJRT_Buffer_ToHostBuffer"));
  EXPECT_THAT(outcome.message, HasSubstr("48 bytes, which ends before 'event'"));
}

TEST_F(StructureTest, EveryFunctionRefusesAStructureOfNoSize) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < abi::kSlots; ++i) {
    const auto slot = static_cast<abi::Slot>(i);
    if (slot == abi::Slot::kError_Destroy || slot == abi::Slot::kError_Message ||
        slot == abi::Slot::kPlugin_Initialize)
      continue;
    std::array<std::uint64_t, 32> none{};
    const Outcome outcome = taken(call_untyped(plugin_api().functions[i], none.data()));
    EXPECT_TRUE(outcome.code == 3 || outcome.code == 12) << to_string(slot);
    EXPECT_THAT(outcome.message, HasSubstr(std::string(to_string(slot))));
    refused += outcome.code == 3 ? 1 : 0;
  }
  EXPECT_GT(refused, 80u);
}

// PA-2, PA-3: a caller of an early minor has no place for the peak.
TEST_F(StructureTest, NothingIsWrittenBehindTheEndThatTheCallerStates) {
  abi::DeviceMemoryStatsArgs args;
  args.device = device(client_);
  const std::size_t least = abi::end_of(&abi::DeviceMemoryStatsArgs::bytes_in_use);
  std::memset(reinterpret_cast<char*>(&args) + least, 0x5A, sizeof(args) - least);
  const Outcome outcome = call(args, least);
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  EXPECT_GE(args.bytes_in_use, 0);
  const auto* rest = reinterpret_cast<const unsigned char*>(&args) + least;
  for (std::size_t i = 0; i < sizeof(args) - least; ++i) ASSERT_EQ(rest[i], 0x5A) << i;
}

TEST_F(StructureTest, ALongerStructureOfANewerCallerIsTaken) {
  struct Longer : abi::ClientDevicesArgs {
    std::uint64_t later[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  } args;
  args.client = client_;
  args.struct_size = sizeof(Longer);
  EXPECT_TRUE(taken(plugin_api().function<abi::ClientDevicesArgs>()(&args)).ok());
  EXPECT_EQ(args.num_devices, 2u);
  EXPECT_EQ(args.later[0], 1u);
}

// PA-2: an early caller's launch has no options behind the launch's number.
TEST_F(StructureTest, ExecuteOptionsOfAnEarlyMinorAreTaken) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  abi::ExecuteOptions options;
  options.struct_size = 44;
  options.context = reinterpret_cast<void*>(1);  // behind the end: not read
  abi::Buffer* const* arguments = &x;
  abi::Buffer* y = nullptr;
  abi::Buffer** results = &y;
  abi::LoadedExecutableExecuteArgs args;
  args.executable = executable;
  args.options = &options;
  args.argument_lists = &arguments;
  args.num_devices = 1;
  args.num_args = 1;
  args.output_lists = &results;
  const Outcome outcome =
      call(args, abi::end_of(&abi::LoadedExecutableExecuteArgs::device_complete_events));
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  EXPECT_EQ(fetched(y), (std::vector<float>{2, 3, 4, 5}));
  destroy(x);
  destroy(y);
  destroy(executable);
}

}  // namespace
}  // namespace millrace::testing
