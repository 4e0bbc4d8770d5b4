#include "millrace/core/base/copy_past_caches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
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

TEST(CopyPastCachesTest, TheWayInWhichMoreBytesPassIsChosen) {
  using std::chrono::nanoseconds;
  struct Row {
    int plain, past;  // ns from one piece to the next, of the fastest phase
    bool chosen;      // past the caches
  };
  for (const Row& row : {Row{30, 20, true}, Row{20, 30, false}, Row{20, 20, false}}) {
    CopyChoice choice;
    TimePoint now{};
    int turns = 0;
    for (int piece = 0; piece < 2 * CopyChoice::kPhases * CopyChoice::kPieces; ++piece) {
      ASSERT_FALSE(choice.is_made());
      const bool past = choice.past_caches();
      const int phase = piece / CopyChoice::kPieces;
      // The copies alone take as long, and the stream pauses in all phases but two.
      const int pause = phase == 2 || phase == 3 ? 0 : 1000;
      choice.copied(100, now, now + nanoseconds(10));
      now += nanoseconds((past ? row.past : row.plain) + pause);
      turns += choice.past_caches() != past ? 1 : 0;
    }
    EXPECT_TRUE(choice.is_made());
    EXPECT_EQ(choice.past_caches(), row.chosen) << row.plain << " " << row.past;
    EXPECT_GE(turns, 2 * CopyChoice::kPhases - 1);
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
