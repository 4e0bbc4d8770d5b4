#include "millrace/transfer/pages.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace millrace::transfer {
namespace {

TEST(PagesTest, AreAlignedZeroedAndWritableToTheLastByte) {
  for (const std::size_t bytes : {kPageBytes, 5 * kPageBytes, kHugePageBytes,
                                  kHugePageBytes + kPageBytes, 3 * kHugePageBytes}) {
    std::byte* pages = map_pages(bytes);
    ASSERT_NE(pages, nullptr);
    const std::size_t alignment = bytes >= kHugePageBytes ? kHugePageBytes : kPageBytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages) % alignment, 0u) << bytes;
    EXPECT_EQ(pages[0], std::byte{0});
    EXPECT_EQ(pages[bytes - 1], std::byte{0});
    pages[0] = pages[bytes - 1] = std::byte{1};
    unmap_pages(pages, bytes);
  }
}

TEST(PagesTest, MoreThanTheSystemHasGivesNull) {
  EXPECT_EQ(map_pages(std::size_t{1} << 60), nullptr);
}

}  // namespace
}  // namespace millrace::transfer
