#include "millrace/core/base/fault_point.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace millrace {
namespace {

const Error kInjected(ErrorCode::kDataLoss, "injected");

TEST(FaultPointTest, NothingFailsUnlessArmed) { EXPECT_TRUE(fault_point("a")); }

TEST(FaultPointTest, TheNthArrivalFailsAndNoOther) {
  ArmedFault fault("a", 3, kInjected);
  std::vector<bool> good;
  for (int i = 0; i < 5; ++i) good.push_back(fault_point("a").has_value());
  EXPECT_EQ(good, (std::vector<bool>{true, true, false, true, true}));
  EXPECT_EQ(fault.arrivals(), 5u);
}

TEST(FaultPointTest, AnotherPlaceIsNotTouched) {
  ArmedFault fault("a", 1, kInjected);
  EXPECT_TRUE(fault_point("b"));
  EXPECT_EQ(fault.arrivals(), 0u);
}

TEST(FaultPointTest, SeveralInARowFail) {
  ArmedFault fault("a", 2, kInjected, 2);
  EXPECT_TRUE(fault_point("a"));
  EXPECT_EQ(fault_point("a").error().message(), "injected");
  EXPECT_FALSE(fault_point("a"));
  EXPECT_TRUE(fault_point("a"));
}

TEST(FaultPointTest, AnActHappensThereAndThePlaceContinues) {
  int acts = 0;
  ArmedFault fault("a", 2, [&acts] {
    ++acts;
    EXPECT_TRUE(fault_point("b"));  // no lock is held meanwhile
  });
  EXPECT_TRUE(fault_point("a"));
  EXPECT_EQ(acts, 0);
  EXPECT_TRUE(fault_point("a"));
  EXPECT_TRUE(fault_point("a"));
  EXPECT_EQ(acts, 1);
  EXPECT_EQ(fault.arrivals(), 3U);
}

TEST(FaultPointTest, EndOfItsLifeDisarms) {
  {
    ArmedFault fault("a", 1, kInjected);
  }
  EXPECT_TRUE(fault_point("a"));
}

// Real threads: exactly one of the arrivals is the n-th.
TEST(FaultPointStressTest, OneArrivalOfManyThreadsFails) {
  ArmedFault fault("a", 1500, kInjected);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) failed.fetch_add(!fault_point("a"));
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failed, 1);
}

}  // namespace
}  // namespace millrace
