#include "millrace/devices/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace millrace::devices {
namespace {

using ::testing::ElementsAre;

std::vector<std::int16_t> copied(const HostView& view) {
  std::vector<std::int16_t> out(static_cast<std::size_t>(view.shape.elements()));
  copy_dense(view, reinterpret_cast<std::byte*>(out.data()));
  return out;
}

class HostViewTest : public ::testing::Test {
 protected:
  HostViewTest() { std::iota(data_.begin(), data_.end(), std::int16_t{0}); }
  HostView view(std::initializer_list<std::int64_t> dims,
                std::initializer_list<std::int64_t> strides, std::size_t first = 0) {
    strides_ = strides;
    return {
        .data = data_.data() + first, .shape = Shape(DType::kI16, dims), .byte_strides = strides_};
  }
  std::array<std::int16_t, 24> data_;
  std::vector<std::int64_t> strides_;
};

TEST_F(HostViewTest, DenseIsKnownWhateverTheStridesOfSingleElements) {
  EXPECT_TRUE(is_dense(view({2, 3}, {})));
  EXPECT_TRUE(is_dense(view({2, 3}, {6, 2})));
  EXPECT_TRUE(is_dense(view({2, 1, 3}, {6, 999, 2})));
  EXPECT_TRUE(is_dense(view({}, {})));
  EXPECT_TRUE(is_dense(view({0, 3}, {1, 1})));
  EXPECT_FALSE(is_dense(view({2, 3}, {2, 4})));
  EXPECT_FALSE(is_dense(view({2, 3}, {8, 2})));
  EXPECT_FALSE(is_dense(view({3}, {-2})));
}

TEST_F(HostViewTest, StridedElementsAreCopiedInRowMajorOrder) {
  EXPECT_THAT(copied(view({2, 3}, {2, 4})), ElementsAre(0, 2, 4, 1, 3, 5)) << "transposed";
  EXPECT_THAT(copied(view({2, 3}, {16, 2})), ElementsAre(0, 1, 2, 8, 9, 10)) << "rows apart";
  EXPECT_THAT(copied(view({2, 2}, {0, 2})), ElementsAre(0, 1, 0, 1)) << "broadcast";
  EXPECT_THAT(copied(view({2, 2}, {-4, -2}, 3)), ElementsAre(3, 2, 1, 0)) << "reversed";
  EXPECT_THAT(copied(view({2, 1, 2}, {8, -7, 2})), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(copied(view({}, {})), ElementsAre(0));
  EXPECT_THAT(copied(view({0, 3}, {1, 1})), ElementsAre());
}

TEST_F(HostViewTest, EveryElementWidthIsCopiedWhole) {
  std::array<unsigned char, 64> bytes;
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  for (const DType type : {DType::kI8, DType::kF16, DType::kF32, DType::kF64, DType::kC128}) {
    const auto width = static_cast<std::int64_t>(byte_width(type));
    const std::int64_t strides[] = {2 * width};
    std::vector<unsigned char> out(static_cast<std::size_t>(2 * width));
    copy_dense({.data = bytes.data(), .shape = Shape(type, {2}), .byte_strides = strides},
               reinterpret_cast<std::byte*>(out.data()));
    for (std::int64_t i = 0; i < width; ++i) {
      EXPECT_EQ(out[static_cast<std::size_t>(i)], i);
      EXPECT_EQ(out[static_cast<std::size_t>(width + i)], 2 * width + i);
    }
  }
}

}  // namespace
}  // namespace millrace::devices
