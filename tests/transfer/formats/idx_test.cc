#include "millrace/transfer/formats/idx.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "millrace/transfer/formats/gzip.h"
#include "tests/support/temp_folder.h"
#include "tests/transfer/formats/bytes.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::Shape;
using millrace::testing::TempFolder;

Result<IdxHeader> parse(const Bytes& bytes, const IdxLimits& limits = {}) {
  return parse_idx_header(bytes, MemorySource("f", bytes), limits);
}

TEST(IdxHeaderTest, ReadsEveryElementType) {
  struct Row {
    int code;
    DType type;
  };
  for (const Row& row : {Row{8, DType::kU8}, Row{9, DType::kI8}, Row{11, DType::kI16},
                         Row{12, DType::kI32}, Row{13, DType::kF32}, Row{14, DType::kF64}}) {
    const IdxHeader header = parse(idx_header(row.code, {3, 28, 28})).value();
    EXPECT_EQ(header.shape, Shape(row.type, {3, 28, 28}));
    EXPECT_EQ(header.header_bytes, 16u);
  }
}

TEST(IdxHeaderTest, NoDimensionsIsOneElement) {
  EXPECT_EQ(parse(idx_header(8, {})).value().shape.elements(), 1);
}

TEST(IdxHeaderTest, EveryWrongHeaderNamesItsByte) {
  const Bytes good = idx_header(8, {2, 3});
  const Bytes many = bytes_of({0, 0, 8, 13}) + Bytes(52);
  struct Row {
    Bytes bytes;
    ErrorCode code;
    std::uint64_t offset;
    std::string words;
  };
  for (const Row& row :
       {Row{{}, ErrorCode::kDataLoss, 0, "empty"},
        Row{first(good, 3), ErrorCode::kDataLoss, 3, "magic"},
        Row{first(good, 7), ErrorCode::kDataLoss, 7, "truncated"},
        Row{first(good, 11), ErrorCode::kDataLoss, 11, "truncated"},
        Row{with_byte(good, 0, 1), ErrorCode::kDataLoss, 0, "0x01000802"},
        Row{with_byte(good, 1, 1), ErrorCode::kDataLoss, 0, "two zero bytes"},
        Row{with_byte(good, 2, 10), ErrorCode::kDataLoss, 2, "0x0a is no element type"},
        Row{many, ErrorCode::kUnimplemented, 3, "13 dimensions"},
        Row{idx_header(8, {1 << 20, 1 << 20}), ErrorCode::kResourceExhausted, 8, "limit"},
        Row{idx_header(14, {0x80000000u, 0x80000000u, 0x80000000u}), ErrorCode::kResourceExhausted,
            8, "limit"}}) {
    const Result<IdxHeader> header = parse(row.bytes);
    ASSERT_FALSE(header.has_value()) << row.words;
    EXPECT_EQ(header.error().code(), row.code) << header.error().message();
    EXPECT_EQ(header.error().detail<FilePosition>()->offset, row.offset);
    EXPECT_NE(header.error().message().find(row.words), std::string::npos)
        << header.error().message();
  }
}

TEST(IdxHeaderTest, ZeroDimensionAfterHugeOnesIsAnEmptyArrayWithinLimits) {
  const IdxLimits limits{.max_bytes = 1000};
  EXPECT_EQ(parse(idx_header(8, {0, 0xffffffffu}), limits).value().shape.elements(), 0);
  EXPECT_FALSE(parse(idx_header(8, {0xffffffffu, 0}), limits).has_value());
}

TEST(ReadIdxTest, MultiByteElementsComeInTheMachinesOrder) {
  const Bytes content = idx_header(12, {2}) + bytes_of({0, 0, 1, 2, 0xff, 0xff, 0xff, 0xfe});
  MemorySource source("f", content);
  const devices::HostArray array = read_idx(source).value();
  std::int32_t values[2];
  std::memcpy(values, array.bytes().data(), sizeof values);
  EXPECT_EQ(values[0], 258);
  EXPECT_EQ(values[1], -2);
}

TEST(ReadIdxTest, ContentMustBeExactlyWhatTheHeaderSays) {
  const Bytes good = idx_header(8, {2, 3}) + counting(6);
  for (std::size_t length = 0; length < good.size(); ++length) {
    const Bytes shorter = first(good, length);
    MemorySource source("f", shorter);
    const Result<devices::HostArray> array = read_idx(source);
    ASSERT_FALSE(array.has_value()) << length;
    EXPECT_EQ(array.error().code(), ErrorCode::kDataLoss);
    EXPECT_EQ(array.error().detail<FilePosition>()->offset, length) << array.error().message();
  }
  const Bytes longer = good + bytes_of({0});
  MemorySource source("f", longer);
  const Result<devices::HostArray> array = read_idx(source);
  ASSERT_FALSE(array.has_value());
  EXPECT_NE(array.error().message().find("f at byte 18: oversized"), std::string::npos);
}

TEST(ReadIdxTest, UnexpectedNumberOfDimensionsIsKnownByTheMagicNumber) {
  const IdxLimits labels{.min_rank = 1, .max_rank = 1};
  const Result<IdxHeader> header = parse(idx_header(8, {5, 4, 3}), labels);
  ASSERT_FALSE(header.has_value());
  EXPECT_EQ(header.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(header.error().detail<FilePosition>()->offset, 3u);
  EXPECT_NE(header.error().message().find("0x00000803 is for 3 dimensions, where 1 "),
            std::string::npos)
      << header.error().message();
}

TEST(ReadIdxTest, FileThatIsCutAfterItWasReadIsStillAllThere) {
  const TempFolder folder;
  const std::string file = folder.write("images", idx_header(8, {2, 3}) + counting(6));
  const devices::HostArray array = read_idx_file(file).value();
  std::filesystem::resize_file(file, 0);
  EXPECT_EQ(array.bytes()[5], std::byte{5});
}

TEST(ReadIdxTest, ReadingEndsWhenItIsAskedToStop) {
  const TempFolder folder;
  const Bytes content = idx_header(8, {2, 3}) + counting(6);
  for (const Bytes& written : {content, gzip(content)}) {
    const std::string file = folder.write("images", written);
    std::stop_source stop;
    const IdxLimits limits{.stop = stop.get_token()};
    ASSERT_TRUE(read_idx_file(file, limits).has_value());
    stop.request_stop();
    const Result<devices::HostArray> array = read_idx_file(file, limits);
    ASSERT_FALSE(array.has_value());
    EXPECT_EQ(array.error().code(), ErrorCode::kCancelled);
  }
}

TEST(ReadIdxTest, HeaderThatClaimsMoreThanCompressedBytesCanGiveTakesNoMemory) {
  const Bytes compressed = gzip(idx_header(8, {1 << 20, 1 << 13}));
  GzipSource source(std::make_unique<MemorySource>("f.gz", compressed));
  const Result<devices::HostArray> array = read_idx(source);
  ASSERT_FALSE(array.has_value());
  EXPECT_NE(array.error().message().find("so few compressed"), std::string::npos);
}

TEST(ReadIdxFileTest, PlainAndGzipGiveTheSameWhateverTheName) {
  TempFolder folder;
  for (const int code : {8, 11}) {
    const Bytes content = idx_header(code, {3, 4}) + counting(code == 8 ? 12 : 24);
    const devices::HostArray plain = read_idx_file(folder.write("a.gz", content)).value();
    const devices::HostArray inflated = read_idx_file(folder.write("b", gzip(content))).value();
    EXPECT_EQ(plain.shape(), inflated.shape());
    EXPECT_TRUE(std::ranges::equal(plain.bytes(), inflated.bytes()));
  }
}

TEST(ReadIdxFileTest, DamagedFilesNameFileAndOffset) {
  TempFolder folder;
  const Bytes good = idx_header(8, {4, 100}) + counting(400);
  const Bytes packed = gzip(good);
  struct Row {
    Bytes bytes;
    std::string words;
  };
  for (const Row& row :
       {Row{first(good, 100), " at byte 100: truncated"},
        Row{good + bytes_of({1}), " at byte 412: oversized"},
        Row{with_byte(good, 2, 0), " at byte 2: wrong magic"}, Row{{}, " at byte 0: it is empty"},
        Row{first(packed, 100), " at byte 100: truncated"},
        Row{packed + bytes_of({7}),
            " at byte " + std::to_string(packed.size()) + ": bytes follow the end"},
        Row{gzip(good + bytes_of({1})), " at byte 412 of its decompressed content: oversized"},
        Row{gzip(first(good, 300)), " at byte 300 of its decompressed content: truncated"}}) {
    const std::string path = folder.write("f", row.bytes);
    const Result<devices::HostArray> array = read_idx_file(path);
    ASSERT_FALSE(array.has_value()) << row.words;
    EXPECT_NE(array.error().message().find(path + row.words), std::string::npos)
        << array.error().message();
  }
}

}  // namespace
}  // namespace millrace::transfer
