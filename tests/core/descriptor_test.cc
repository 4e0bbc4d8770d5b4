#include "millrace/core/base/descriptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

namespace millrace {
namespace {

// The limits of this process, as they were at its end again.
class AllowDescriptorsTest : public ::testing::Test {
 protected:
  AllowDescriptorsTest() { EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0); }
  ~AllowDescriptorsTest() override { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  static rlim_t now() {
    rlimit limit{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
  }
  rlimit before_{};
};

TEST_F(AllowDescriptorsTest, RaisesALimitThatIsLowerAndLowersNone) {
  const rlimit low{.rlim_cur = 100, .rlim_max = before_.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_TRUE(allow_descriptors(99));
  EXPECT_EQ(now(), 100U);
  EXPECT_TRUE(allow_descriptors(120));
  EXPECT_EQ(now(), 120U);
}

TEST_F(AllowDescriptorsTest, MoreThanTheHardLimitIsRefusedWithBothNumbers) {
  ASSERT_NE(before_.rlim_max, RLIM_INFINITY) << "Linux has a limit of its own, fs.nr_open";
  const Status refused = allow_descriptors(before_.rlim_max + 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(
      refused.error().message(),
      ::testing::AllOf(::testing::HasSubstr(std::to_string(before_.rlim_max + 1) + " open"),
                       ::testing::HasSubstr(std::to_string(before_.rlim_max) + " (ulimit")));
  EXPECT_EQ(now(), before_.rlim_cur);
}

}  // namespace
}  // namespace millrace
