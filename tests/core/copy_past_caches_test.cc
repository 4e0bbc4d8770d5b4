#include "millrace/core/base/copy_past_caches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace millrace {
namespace {

TEST(CopyPastCachesTest, CopiesAllBytesAndNoOthersAtAnyAlignment) {
  std::vector<std::byte> from(700);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (const std::size_t size : {0, 1, 63, 64, 127, 128, 129, 191, 192, 300, 512}) {
    for (std::size_t at = 0; at < 65; ++at) {
      std::vector<std::byte> to(700), expected(700);
      const auto source = std::span(from).subspan(64 - at, size);
      copy_past_caches(to.data() + at, source);
      std::ranges::copy(source, expected.begin() + static_cast<long>(at));
      ASSERT_EQ(to, expected) << size << " bytes to " << at;
    }
  }
}

TEST(CopyPastCachesTest, CopiesByTurnsAndThenByChoiceAreWhole) {
  CopyForAnotherCore copy;
  std::vector<std::byte> from(4096), to(4096);
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = i % 3 == 0 ? 0 : from.size() - static_cast<std::size_t>(i);
    std::ranges::fill(from, static_cast<std::byte>(i + 1));
    std::vector<std::byte> expected = to;
    std::fill_n(expected.begin(), size, static_cast<std::byte>(i + 1));
    copy(to.data(), std::span(from).first(size));
    ASSERT_EQ(to, expected) << i;
  }
}

}  // namespace
}  // namespace millrace
