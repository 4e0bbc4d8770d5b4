#include "millrace/transfer/formats/idx_dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>

#include "tests/support/temp_folder.h"
#include "tests/transfer/formats/bytes.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::Shape;
using millrace::testing::TempFolder;

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

const Bytes& images() {
  static const Bytes bytes = idx_header(8, {5, 4, 3}) + counting(60);
  return bytes;
}
const Bytes& labels() {
  static const Bytes bytes = idx_header(8, {5}) + bytes_of({9, 0, 3, 1, 7});
  return bytes;
}

TEST(IdxDatasetTest, GivesRowsAndLabelsFromPlainAndCompressedFiles) {
  for (const bool packed : {false, true}) {
    TempFolder folder;
    const std::string suffix = packed ? ".gz" : "";
    folder.write(kImages + suffix, packed ? gzip(images()) : images());
    folder.write(kLabels + suffix, packed ? gzip(labels()) : labels());

    const IdxDataset data = IdxDataset::open(folder.path(), Split::kTrain).value();

    EXPECT_EQ(data.rows(), 5);
    EXPECT_EQ(data.row_shape(), Shape(DType::kU8, {4, 3}));
    EXPECT_EQ(data.images().bytes()[2 * 12], std::byte{24});
    EXPECT_EQ(data.images().bytes().size(), 5 * 12u);
    EXPECT_EQ(data.labels().as<std::uint8_t>()[4], 7);
    EXPECT_EQ(data.classes(), 10);
  }
}

TEST(IdxDatasetTest, DottedNamesAndPlainBeforeCompressed) {
  TempFolder folder;
  folder.write("t10k-images.idx3-ubyte", images());
  folder.write("t10k-images-idx3-ubyte.gz", bytes_of({1, 2, 3}));
  folder.write("t10k-labels.idx1-ubyte.gz", gzip(labels()));
  EXPECT_EQ(IdxDataset::open(folder.path(), Split::kTest).value().rows(), 5);
}

TEST(IdxDatasetTest, EveryBadFolderIsRefusedWithItsReason) {
  struct Row {
    const char* name;
    Bytes images, labels;
    ErrorCode code;
    std::string words;
  };
  const Bytes one_less = idx_header(8, {4}) + counting(4);
  for (const Row& row : {
           Row{"counts", images(), one_less, ErrorCode::kInvalidArgument, "4 labels, but"},
           Row{"swapped", labels(), images(), ErrorCode::kInvalidArgument,
               "labels-idx1-ubyte at byte 3: magic number 0x00000803 is for 3 dimensions"},
           Row{"images are labels", labels(), labels(), ErrorCode::kInvalidArgument,
               "dimensions are expected"},
           Row{"no rows", idx_header(8, {0, 4, 3}), idx_header(8, {0}), ErrorCode::kInvalidArgument,
               "there are none"},
           Row{"no pixels", idx_header(8, {5, 0, 3}), labels(), ErrorCode::kInvalidArgument,
               "there are none"},
           Row{"wide labels", images(), idx_header(12, {5}) + counting(20),
               ErrorCode::kInvalidArgument, "bytes are expected"},
           Row{"truncated images", first(images(), 50), labels(), ErrorCode::kDataLoss,
               "at byte 50: truncated"},
           Row{"truncated labels", images(), first(labels(), 9), ErrorCode::kDataLoss,
               "at byte 9: truncated"},
           Row{"oversized", images() + bytes_of({0}), labels(), ErrorCode::kDataLoss,
               "at byte 76: oversized"},
           Row{"magic", with_byte(images(), 0, 77), labels(), ErrorCode::kDataLoss, "wrong magic"},
           Row{"gzip cut", first(gzip(images()), 30), labels(), ErrorCode::kDataLoss,
               "at byte 30: truncated"},
       }) {
    TempFolder folder;
    folder.write(kImages, row.images);
    folder.write(kLabels, row.labels);
    const Result<IdxDataset> data = IdxDataset::open(folder.path(), Split::kTrain);
    ASSERT_FALSE(data.has_value()) << row.name;
    EXPECT_EQ(data.error().code(), row.code) << row.name;
    EXPECT_NE(data.error().message().find(row.words), std::string::npos) << data.error().message();
    EXPECT_NE(data.error().message().find(folder.path()), std::string::npos);
    EXPECT_NE(data.error().detail<FilePosition>(), nullptr) << row.name;
  }
}

TEST(IdxDatasetTest, MissingFilesAreNamedWithWhatIsThereInstead) {
  TempFolder folder;
  const auto words = [&](const std::string& path) {
    return IdxDataset::open(path, Split::kTrain).error().message();
  };
  EXPECT_NE(words(folder.path()).find("it is empty"), std::string::npos);
  const std::string other = folder.write("notes.txt", counting(3));
  EXPECT_NE(words(folder.path()).find("it has notes.txt"), std::string::npos);
  EXPECT_NE(words(other).find("it is a file"), std::string::npos);
  EXPECT_NE(words(folder.file("absent")).find("no such folder"), std::string::npos);
  folder.write(kImages, images());
  EXPECT_NE(words(folder.path()).find(kLabels), std::string::npos);
}

// The real thing, where Debian's dataset-fashion-mnist is installed.
TEST(IdxDatasetTest, ReadsFashionMnist) {
  const std::string folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const IdxDataset train = IdxDataset::open(folder, Split::kTrain).value();
  const IdxDataset test = IdxDataset::open(folder, Split::kTest).value();

  EXPECT_EQ(train.rows(), 60000);
  EXPECT_EQ(test.rows(), 10000);
  EXPECT_EQ(train.row_shape(), Shape(DType::kU8, {28, 28}));
  EXPECT_EQ(test.classes(), 10);
  // Every class has the same share of both splits.
  EXPECT_EQ(std::ranges::count(test.labels().as<std::uint8_t>(), 3), 1000);
}

}  // namespace
}  // namespace millrace::transfer
