#include "millrace/devices/device_layout.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace millrace::devices {
namespace {

TEST(DeviceLayoutTest, TextIsThatOfXla) {
  EXPECT_EQ(DeviceLayout::row_major(0).to_text(), "{}");
  EXPECT_EQ(DeviceLayout::row_major(3).to_text(), "{2,1,0}");
  const DeviceLayout tiled{.minor_to_major = {0, 1}, .tiles = {{8, 128}, {2}}};
  EXPECT_EQ(tiled.to_text(), "{0,1:T(8,128)(2)}");
}

TEST(DeviceLayoutTest, WhatIsWrittenIsReadAgain) {
  for (const char* text : {"{}", "{0}", "{2,0,1}", "{0,1:T(8,128)(2)}", "{0:T(256)}"}) {
    const Result<DeviceLayout> read = DeviceLayout::from_text(text);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(read->to_text(), text);
  }
}

TEST(DeviceLayoutTest, WhatItDoesNotKnowIsUnimplementedAndWhatIsNoneInvalid) {
  for (const char* text : {"{1,0:T(8,128)S(5)}", "{0:E(4)}", "{1,0:T(*,128)}", "{0:}"})
    EXPECT_EQ(DeviceLayout::from_text(text).error().code(), ErrorCode::kUnimplemented) << text;
  for (const char* text : {"", "{", "1,0", "{1,0", "{1,}", "{,}", "{a}", "{1;0}", "{0:T(2}"})
    EXPECT_EQ(DeviceLayout::from_text(text).error().code(), ErrorCode::kInvalidArgument) << text;
}

TEST(DeviceLayoutTest, OrderNamesEveryDimensionOnce) {
  EXPECT_TRUE((DeviceLayout{.minor_to_major = {1, 0, 2}, .tiles = {{2}}}.check(3)));
  EXPECT_TRUE(DeviceLayout::row_major(0).check(0));
  const std::vector<std::pair<DeviceLayout, int>> wrong = {
      {{.minor_to_major = {1, 0}}, 3},
      {{.minor_to_major = {1, 0}}, 1},
      {{.minor_to_major = {0, 0}}, 2},
      {{.minor_to_major = {2, 0}}, 2},
      {{.minor_to_major = {-1, 0}}, 2},
      {{.minor_to_major = {0}, .tiles = {{}}}, 1},
      {{.minor_to_major = {0}, .tiles = {{0}}}, 1}};
  for (const auto& [layout, rank] : wrong) {
    const Status checked = layout.check(rank);
    ASSERT_FALSE(checked) << layout.to_text() << " " << rank;
    EXPECT_EQ(checked.error().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace millrace::devices
