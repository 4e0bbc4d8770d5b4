#include "millrace/devices/pjrt/calls_under_way.h"

#include <gtest/gtest.h>

#include <thread>

namespace millrace::devices::pjrt {
namespace {

constexpr std::uint32_t kPlugin = 200;  // no test of this process adopts so many

TEST(CallsUnderWayTest, ReportsTheFunctionOfThisThreadAndThePluginsName) {
  EXPECT_EQ(call_here().function, "");
  const CalledHere called(kPlugin, "npu.so");
  CallUnderWay outer(kPlugin);
  outer.name(abi::Slot::kClient_Compile);
  EXPECT_EQ(call_here().function, "PJRT_Client_Compile");
  EXPECT_STREQ(call_here().plugin, "npu.so");
  {
    const CallUnderWay inner(0, OtherCall::kLoad);  // of one that has no number yet
    EXPECT_EQ(call_here().function, "dlopen");
    EXPECT_STREQ(call_here().plugin, "");
    const CalledHere loading(0, "other.so");
    EXPECT_STREQ(call_here().plugin, "other.so");
  }
  EXPECT_EQ(call_here().function, "PJRT_Client_Compile");
  std::thread([] { EXPECT_EQ(call_here().function, ""); }).join();
}

TEST(CallsUnderWayTest, NameEndsWithTheScopeThatGaveIt) {
  const CallUnderWay call(kPlugin, OtherCall::kGetApi);
  {
    const CalledHere called(kPlugin, "gone.so");
  }
  EXPECT_EQ(call_here().function, "GetPjrtApi");
  EXPECT_STREQ(call_here().plugin, "");
}

}  // namespace
}  // namespace millrace::devices::pjrt
