#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "millrace/devices/buffer.h"
#include "tests/support/allocation_count.h"

namespace millrace::devices {
namespace {

TEST(HostArrayTest, IsAlignedZeroedAndDistinct) {
  for (const std::int64_t elements : {0, 1, 100, 100'000}) {
    const Shape shape(DType::kF32, {elements});
    HostArray one = HostArray::make(shape);
    EXPECT_EQ(one.bytes().size(), shape.size_bytes());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.bytes().data()) % 64, 0u);
    std::ranges::fill(one.mutable_bytes(), std::byte{7});
    const HostArray other = HostArray::make(shape);
    EXPECT_NE(one.bytes().data(), other.bytes().data());
    EXPECT_TRUE(std::ranges::all_of(other.bytes(), [](std::byte b) { return b == std::byte{0}; }));
    one = {};
    const HostArray again = HostArray::make(shape);
    EXPECT_TRUE(std::ranges::all_of(again.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(HostArrayTest, BytesLiveAsLongAsAnOwner) {
  HostArray array = HostArray::make(Shape(DType::kU8, {1000}));
  array.mutable_bytes()[999] = std::byte{5};
  const Owner owner = array.owner();
  const std::span<const std::byte> bytes = array.bytes();
  array = {};
  const HostArray other = HostArray::make(Shape(DType::kU8, {1000}));
  EXPECT_EQ(bytes[999], std::byte{5});
}

TEST(HostArrayTest, LargeOnesAreRecycledToo) {
  if (!testing::kAllocationsCountable) GTEST_SKIP() << "a sanitizer sees every block";
  const auto once = [] {
    const HostArray small = HostArray::make(Shape(DType::kF32, {10}));
    const HostArray large = HostArray::make_unwritten(Shape(DType::kF32, {1'000'000}));
    return small.owner() && large.owner();
  };
  ASSERT_TRUE(once());
  testing::AllocationCount allocations;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(once());
  EXPECT_EQ(allocations.count(), 0) << allocations.stacks();
}

}  // namespace
}  // namespace millrace::devices
