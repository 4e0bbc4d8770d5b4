#include "millrace/transfer/formats/gzip.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/transfer/formats/bytes.h"

namespace millrace::transfer {
namespace {

GzipSource over(const Bytes& bytes) {
  return GzipSource(std::make_unique<MemorySource>("f.gz", bytes));
}

// Everything that source gives, in reads of `step` bytes.
Result<Bytes> drain(ByteSource& source, std::size_t step) {
  Bytes all, piece(step);
  while (true) {
    MILLRACE_TRY(const std::size_t count, source.read(piece));
    if (count == 0) return all;
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

TEST(GzipSourceTest, InflatesInStepsOfAnySize) {
  const Bytes content = counting(200000);
  const Bytes compressed = gzip(content);
  for (const std::size_t step :
       {std::size_t{7}, std::size_t{4096}, std::size_t{200000}, std::size_t{300000}}) {
    GzipSource source = over(compressed);
    const Result<Bytes> out = drain(source, step);
    ASSERT_TRUE(out.has_value()) << step << ": " << out.error().message();
    EXPECT_TRUE(*out == content) << step;
  }
}

TEST(GzipSourceTest, MembersInARowAreOneContent) {
  const Bytes compressed = gzip(counting(1000)) + gzip({}) + gzip(bytes_of({1, 2, 3}));
  GzipSource source = over(compressed);
  EXPECT_TRUE(drain(source, 64).value() == counting(1000) + bytes_of({1, 2, 3}));
}

TEST(GzipSourceTest, EveryTruncationIsDataLossAtTheEnd) {
  const Bytes compressed = gzip(counting(300));
  for (std::size_t length = 0; length < compressed.size(); ++length) {
    const Bytes shorter = first(compressed, length);
    GzipSource source = over(shorter);
    const Result<Bytes> out = drain(source, 100);
    ASSERT_FALSE(out.has_value()) << length;
    EXPECT_EQ(out.error().code(), ErrorCode::kDataLoss);
    EXPECT_EQ(out.error().detail<FilePosition>()->offset, length) << out.error().message();
  }
}

TEST(GzipSourceTest, NoFlippedBitGivesOtherContent) {
  const Bytes content = counting(300);
  const Bytes compressed = gzip(content);
  constexpr std::size_t kHeader = 10;  // its time, system and flags do not matter
  int harmless = 0;
  for (std::size_t bit = 8 * kHeader; bit < 8 * compressed.size(); ++bit) {
    Bytes damaged = compressed;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    GzipSource source = over(damaged);
    const Result<Bytes> out = drain(source, 1000);
    if (out.has_value()) {
      EXPECT_TRUE(*out == content) << "bit " << bit;
      ++harmless;
    } else {
      EXPECT_EQ(out.error().code(), ErrorCode::kDataLoss);
      EXPECT_NE(out.error().message().find("f.gz at byte "), std::string::npos);
    }
  }
  EXPECT_LT(harmless, 8);  // the bits between the last code and the trailer
}

TEST(GzipSourceTest, KindsOfDamageAreDistinguished) {
  const Bytes whole = gzip(counting(300));
  struct Row {
    Bytes bytes;
    std::uint64_t offset;
    std::string words;
  };
  for (const Row& row :
       {Row{first(whole, 40), 40, "truncated"}, Row{{}, 0, "empty"},
        Row{bytes_of({'P', 'K', 3, 4}), 0, "no gzip header"},
        Row{whole + bytes_of({'x', 'y'}), whole.size(), "follow the end"},
        Row{with_byte(whole, whole.size() - 6, 1), whole.size() - 4, "incorrect data check"},
        Row{with_byte(whole, whole.size() - 1, 9), whole.size(), "incorrect length check"}}) {
    GzipSource source = over(row.bytes);
    const Result<Bytes> out = drain(source, 64);
    ASSERT_FALSE(out.has_value()) << row.words;
    EXPECT_NE(out.error().message().find(row.words), std::string::npos) << out.error().message();
    EXPECT_EQ(out.error().detail<FilePosition>()->offset, row.offset) << row.words;
  }
}

TEST(GzipSourceTest, ErrorStays) {
  const Bytes damaged = first(gzip(counting(300)), 30);
  GzipSource source = over(damaged);
  const Result<Bytes> once = drain(source, 64);
  const Result<Bytes> again = drain(source, 64);
  ASSERT_FALSE(once.has_value());
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().message(), once.error().message());
}

}  // namespace
}  // namespace millrace::transfer
