#include "millrace/tools/launch/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::launch {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using ::testing::ElementsAre;

constexpr Duration kWindow = 100ms;
TimePoint at(Duration time) { return TimePoint(time); }

TEST(LineSplitterTest, GivesWholeLinesHoweverTheBytesCome) {
  const std::string text = "one\n\ntwo\nthree";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    LineSplitter splitter;
    std::vector<std::string> lines;
    const auto on_line = [&lines](std::string_view line) { lines.emplace_back(line); };
    for (std::size_t i = 0; i < text.size(); i += size)
      splitter.add(std::string_view(text).substr(i, size), on_line);
    EXPECT_THAT(lines, ElementsAre("one\n", "\n", "two\n"));
    splitter.end(on_line);
    splitter.end(on_line);
    EXPECT_THAT(lines, ElementsAre("one\n", "\n", "two\n", "three"));
  }
}

TEST(LineSplitterTest, CutsWhatIsTooLong) {
  LineSplitter splitter;
  std::vector<std::size_t> sizes;
  const auto on_line = [&sizes](std::string_view line) { sizes.push_back(line.size()); };
  splitter.add("ab", on_line);
  splitter.add(std::string(2 * kMostLineBytes, 'x') + "\n", on_line);
  EXPECT_THAT(sizes, ElementsAre(kMostLineBytes, kMostLineBytes, 3));
  splitter.add(std::string(kMostLineBytes - 1, 'x') + "\n", on_line);
  EXPECT_EQ(sizes.back(), kMostLineBytes);
}

TEST(MergedLinesTest, PassesWholeLinesUnchanged) {
  MergedLines lines(2);
  EXPECT_EQ(lines.add(0, "a\r\nb"), "a\r\n");
  EXPECT_EQ(lines.add(1, std::string_view("\0c\n", 3)), std::string_view("\0c\n", 3));
  EXPECT_EQ(lines.add(0, "\n\nd\n"), "b\n\nd\n");
  EXPECT_EQ(lines.end(0), "");
}

TEST(MergedLinesTest, LastLineWithoutAnEndGetsOneWhereAnotherRanksFollows) {
  MergedLines lines(2);
  EXPECT_EQ(lines.add(0, "a"), "");
  EXPECT_EQ(lines.end(0), "a");
  EXPECT_EQ(lines.add(0, "b\nc"), "\nb\n") << "of the rank's next process";
  EXPECT_EQ(lines.end(0), "c");
  EXPECT_EQ(lines.add(1, "d\n"), "\nd\n");
  EXPECT_EQ(lines.add(0, "e\n"), "e\n");
}

TEST(MergedLinesTest, PartsOfALongLineStayTogether) {
  MergedLines lines(2);
  const std::string part(kMostLineBytes, 'x');
  EXPECT_EQ(lines.add(0, part + "y"), part);
  EXPECT_EQ(lines.add(0, "z\n"), "yz\n");
  EXPECT_EQ(lines.add(0, part), part);
  EXPECT_EQ(lines.add(1, "a\n"), "\na\n");
}

TEST(FoldedLinesTest, EqualLinesOfAllRanksAreOneAtOnce) {
  FoldedLines lines(4, kWindow);
  for (const int rank : {2, 0, 3}) EXPECT_EQ(lines.add(rank, "text\n", at(0ms)), "");
  EXPECT_EQ(lines.next_timer(), at(100ms));
  EXPECT_EQ(lines.add(1, "text\n", at(1ms)), "[0-3] text\n");
  EXPECT_EQ(lines.next_timer(), std::nullopt);
}

TEST(FoldedLinesTest, LineOfSomeRanksWaitsForAWhile) {
  FoldedLines lines(4, kWindow);
  EXPECT_EQ(lines.add(2, "text\n", at(0ms)), "");
  EXPECT_EQ(lines.add(0, "text\nother\n", at(50ms)), "");
  EXPECT_EQ(lines.timer(at(99ms)), "");
  EXPECT_EQ(lines.timer(at(100ms)), "[0,2] text\n");
  EXPECT_EQ(lines.next_timer(), at(150ms));
  EXPECT_EQ(lines.add(3, "text\n", at(160ms)), "[0] other\n");
  EXPECT_EQ(lines.flush(), "[3] text\n");
}

TEST(FoldedLinesTest, LinesOfARankKeepTheirOrder) {
  FoldedLines lines(3, kWindow);
  EXPECT_EQ(lines.add(0, "a\nb\na\n", at(0ms)), "");
  EXPECT_EQ(lines.add(1, "b\na\nb\n", at(0ms)), "");
  EXPECT_EQ(lines.flush(), "[0] a\n[0-1] b\n[0-1] a\n[1] b\n");
}

TEST(FoldedLinesTest, OneRankWaitsForNoOther) {
  FoldedLines lines(1, kWindow);
  EXPECT_EQ(lines.add(0, "a\nb\nc", at(0ms)), "[0] a\n[0] b\n");
  EXPECT_EQ(lines.end(0, at(0ms)), "[0] c\n");
}

TEST(FoldedLinesTest, WhatWaitsIsBounded) {
  FoldedLines lines(2, kWindow);
  std::string many;
  for (std::size_t i = 0; i < FoldedLines::kMostWaiting; ++i) many += std::to_string(i) + "\n";
  EXPECT_EQ(lines.add(0, many, at(0ms)), "");
  EXPECT_EQ(lines.add(0, "last\n", at(0ms)), "[0] 0\n");
  EXPECT_EQ(lines.add(1, "1\n0\n", at(0ms)), "[0-1] 1\n");
  FoldedLines long_ones(2, kWindow);
  std::string text;
  for (std::size_t i = 0; i < 20; ++i)
    text += long_ones.add(0, std::string(kMostLineBytes, static_cast<char>('a' + i)), at(0ms));
  EXPECT_EQ(text.size(), 4 * (kMostLineBytes + 5));
}

TEST(FoldedLinesTest, WordsAreTheLastLinesOfAProcess) {
  FoldedLines lines(2, kWindow);
  static_cast<void>(lines.add(0, "1\n2\n\n3\n4\n5\n6", at(0ms)));
  EXPECT_EQ(lines.words(0), "1\n2\n3\n4\n5");
  static_cast<void>(lines.end(0, at(0ms)));
  EXPECT_EQ(lines.words(0), "2\n3\n4\n5\n6");
  EXPECT_EQ(lines.words(1), "");
  static_cast<void>(lines.add(0, std::string(1000, 'x') + "\n", at(0ms)));
  EXPECT_EQ(lines.words(0), std::string(FoldedLines::kMostWordBytes, 'x')) << "the next process";
  static_cast<void>(lines.end(0, at(0ms)));
  static_cast<void>(lines.end(0, at(0ms)));
  EXPECT_EQ(lines.words(0), "") << "it said nothing";
}

TEST(RanksTextTest, NamesRunsOfRanks) {
  EXPECT_EQ(ranks_text({0}), "0");
  EXPECT_EQ(ranks_text({0, 2}), "0,2");
  EXPECT_EQ(ranks_text({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(ranks_text({0, 1, 3, 7, 8, 9}), "0-1,3,7-9");
}

}  // namespace
}  // namespace millrace::launch
