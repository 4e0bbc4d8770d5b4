#include "millrace/core/base/size_class.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(SizeClassTest, BlocksAreWholeUnitsInFourClassesPerPowerOfTwo) {
  struct Row {
    std::size_t unit, requested, block;
  };
  for (const Row& row :
       {Row{4096, 0, 4096}, Row{4096, 1, 4096}, Row{4096, 4096, 4096}, Row{4096, 4097, 8192},
        Row{4096, 8193, 12288}, Row{4096, 12289, 16384}, Row{4096, 16385, 20480},
        Row{4096, 65537, 81920}, Row{4096, 81921, 98304}, Row{4096, 1 << 20, 1 << 20},
        Row{4096, (1 << 20) + 1, (1 << 20) + (1 << 18)}, Row{4096, SIZE_MAX - 1, SIZE_MAX},
        Row{4096, SIZE_MAX, SIZE_MAX}, Row{64, 0, 64}, Row{64, 64, 64}, Row{64, 65, 128},
        Row{64, 129, 192}, Row{64, 257, 320}, Row{64, SIZE_MAX, SIZE_MAX}}) {
    EXPECT_EQ(SizeClasses{row.unit}.round_up(row.requested), row.block)
        << row.requested << " by " << row.unit;
  }
}

TEST(SizeClassTest, AClassHoldsItsRequestsAndWastesAFifthAtMost) {
  constexpr SizeClasses sizes{64};
  std::uint8_t before = 0;
  for (std::size_t size = 1; size < (std::size_t{1} << 46); size = size * 9 / 8 + 1) {
    const std::uint8_t c = sizes.class_of(size);
    const std::size_t bytes = sizes.bytes_of(c);
    EXPECT_GE(c, before);
    EXPECT_GE(bytes, size);
    EXPECT_EQ(bytes % 64, 0u);
    EXPECT_EQ(sizes.class_of(bytes), c);
    EXPECT_LE(bytes - size, size / 4 + 64);
    before = c;
  }
}

}  // namespace
}  // namespace millrace
