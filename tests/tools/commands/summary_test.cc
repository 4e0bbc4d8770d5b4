#include "millrace/tools/commands/command.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace millrace::commands {
namespace {

using devices::DType;
using devices::HostArray;
using devices::Shape;

template <class T>
HostArray array(DType type, const std::vector<T>& values) {
  HostArray made = HostArray::make(Shape(type, {static_cast<std::int64_t>(values.size())}));
  std::memcpy(made.mutable_bytes().data(), values.data(), made.bytes().size());
  return made;
}

TEST(SummaryTest, FewElementsAreListed) {
  EXPECT_EQ(summarize(array<float>(DType::kF32, {1, -0.5F, 1e10F})),
            "tensor<3xf32> [1, -0.5, 1e+10]");
  EXPECT_EQ(summarize(array<std::int8_t>(DType::kI8, {-128, 127})), "tensor<2xi8> [-128, 127]");
  EXPECT_EQ(summarize(array<std::uint8_t>(DType::kI1, {0, 1})), "tensor<2xi1> [false, true]");
  EXPECT_EQ(summarize(HostArray::make(Shape(DType::kF32, {0}))), "tensor<0xf32> []");
}

TEST(SummaryTest, HalfPrecisionIsDecoded) {
  EXPECT_EQ(summarize(array<std::uint16_t>(DType::kF16, {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7e00})),
            "tensor<5xf16> [1, -2, 5.96046e-08, inf, nan]");
  EXPECT_EQ(summarize(array<std::uint16_t>(DType::kBF16, {0x3f80, 0xc000})),
            "tensor<2xbf16> [1, -2]");
}

TEST(SummaryTest, SmallFloatsAreDecoded) {
  EXPECT_EQ(summarize(array<std::uint8_t>(DType::kF8E5M2, {0x3c, 0xc0, 0x7c})),
            "tensor<3xf8E5M2> [1, -2, inf]");
  EXPECT_EQ(summarize(array<std::uint8_t>(DType::kF4E2M1FN, {0x02, 0x0d, 0xf2})),
            "tensor<3xf4E2M1FN> [1, -3, 1]");
  EXPECT_EQ(summarize(array<std::uint8_t>(DType::kF8E8M0FNU, {0x7f, 0x80})),
            "tensor<2xf8E8M0FNU> [1, 2]");
}

TEST(SummaryTest, ManyElementsAreTheirRange) {
  std::vector<float> values(20, 1);
  values[3] = -3;
  values[4] = 5;
  EXPECT_EQ(summarize(array(DType::kF32, values)), "tensor<20xf32> min -3, max 5, mean 1");
  values[7] = std::numeric_limits<float>::infinity();
  values[8] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(summarize(array(DType::kF32, values)),
            "tensor<20xf32> min -3, max 5, mean 1, 2 not finite");
}

TEST(SummaryTest, TimesBelowAMillisecondHaveThreeDigitsThatCount) {
  EXPECT_EQ(time_text(0.000681234), "0.681 us");
  EXPECT_EQ(time_text(0.0123456), "12.3 us");
  EXPECT_EQ(time_text(0.9994), "999 us");
  EXPECT_EQ(time_text(0.9996), "1.000 ms");
  EXPECT_EQ(time_text(1234.5678), "1234.568 ms");
}

}  // namespace
}  // namespace millrace::commands
