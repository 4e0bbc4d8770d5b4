// The sources that come with the loader, called as it calls them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "millrace/transfer/array_source.h"
#include "millrace/transfer/fake_source.h"
#include "millrace/transfer/formats/idx_dataset.h"
#include "tests/support/temp_folder.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::HostArray;
using devices::Shape;

// Reads and decodes items of a source into memory of its own.
struct Loaded {
  std::vector<std::vector<std::byte>> fields;
};
Loaded load(ItemSource& source, const std::vector<std::uint64_t>& items) {
  Loaded loaded;
  auto batch = make_ref<SourceBatch>();
  for (const Field& field : source.fields())
    loaded.fields.emplace_back(items.size() * field.item.size_bytes());
  for (auto& bytes : loaded.fields) batch->fields.emplace_back(bytes);
  batch->items.assign(items.begin(), items.end());
  for (const Future<void>& done : {source.read(batch, {}), source.decode(batch, {})}) {
    EXPECT_TRUE(done.ready() && done.result().has_value());
  }
  return loaded;
}

HostArray array_of(const Shape& shape, const std::vector<std::int32_t>& values) {
  HostArray array = HostArray::make(shape);
  std::memcpy(array.mutable_bytes().data(), values.data(), array.bytes().size());
  return array;
}

TEST(ArraySourceTest, RowsComeAsTheyAreAskedFor) {
  auto source =
      ArraySource::create({{"x", array_of(Shape(DType::kI32, {3, 2}), {1, 2, 3, 4, 5, 6})},
                           {"y", array_of(Shape(DType::kI32, {3}), {7, 8, 9})}})
          .value();
  EXPECT_EQ(source->items(), 3u);
  EXPECT_EQ(source->fields()[0].item, Shape(DType::kI32, {2}));
  const Loaded loaded = load(*source, {2, 0, 2});
  const std::int32_t x[] = {5, 6, 1, 2, 5, 6};
  const std::int32_t y[] = {9, 7, 9};
  EXPECT_EQ(std::memcmp(loaded.fields[0].data(), x, sizeof(x)), 0);
  EXPECT_EQ(std::memcmp(loaded.fields[1].data(), y, sizeof(y)), 0);
}

TEST(ArraySourceTest, ArraysThatDoNotFitTogetherAreRefusedByName) {
  const HostArray three = array_of(Shape(DType::kI32, {3}), {1, 2, 3});
  const HostArray two = array_of(Shape(DType::kI32, {2}), {1, 2});
  const HostArray scalar = array_of(Shape(DType::kI32, {}), {1});
  EXPECT_FALSE(ArraySource::create({}).has_value());
  EXPECT_NE(ArraySource::create({{"s", scalar}}).error().message().find("'s' is a scalar"),
            std::string::npos);
  EXPECT_NE(
      ArraySource::create({{"a", three}, {"b", two}}).error().message().find("'b' has 2 items"),
      std::string::npos);
}

// Writes an IDX file of bytes whose value is a function of the position.
void write_idx(const std::string& path, const std::vector<std::uint32_t>& dims,
               std::uint8_t factor) {
  std::ofstream file(path, std::ios::binary);
  const char head[] = {0, 0, 8, static_cast<char>(dims.size())};
  file.write(head, sizeof(head));
  std::size_t count = 1;
  for (const std::uint32_t dim : dims) {
    const char bytes[] = {static_cast<char>(dim >> 24), static_cast<char>(dim >> 16),
                          static_cast<char>(dim >> 8), static_cast<char>(dim)};
    file.write(bytes, sizeof(bytes));
    count *= dim;
  }
  for (std::size_t i = 0; i < count; ++i) file.put(static_cast<char>(i * factor));
}

std::shared_ptr<ArraySource> idx_source(const std::string& folder) {
  const IdxDataset data = IdxDataset::open(folder, Split::kTrain).value();
  return ArraySource::create({{"images", data.images()}, {"labels", data.labels()}}).value();
}

TEST(IdxSourceTest, ImagesAndLabelsAreThoseOfTheFiles) {
  const millrace::testing::TempFolder folder;
  write_idx(folder.path() + "/train-images-idx3-ubyte", {5, 2, 3}, 1);
  write_idx(folder.path() + "/train-labels-idx1-ubyte", {5}, 2);
  const auto source = idx_source(folder.path());
  EXPECT_EQ(source->items(), 5u);
  EXPECT_EQ(source->fields()[0].item, Shape(DType::kU8, {2, 3}));
  const Loaded loaded = load(*source, {4, 1});
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(loaded.fields[0][i], std::byte(24 + i));
    EXPECT_EQ(loaded.fields[0][6 + i], std::byte(6 + i));
  }
  EXPECT_EQ(loaded.fields[1], (std::vector<std::byte>{std::byte{8}, std::byte{2}}));
}

TEST(IdxSourceTest, AFingerprintDistinguishesDataOfTheSameSizes) {
  const auto fingerprint = [](std::uint8_t images, std::uint8_t labels) {
    const millrace::testing::TempFolder folder;
    write_idx(folder.path() + "/train-images-idx3-ubyte", {5, 2, 3}, images);
    write_idx(folder.path() + "/train-labels-idx1-ubyte", {5}, labels);
    return idx_source(folder.path())->fingerprint();
  };
  const std::string one = fingerprint(1, 2);
  EXPECT_EQ(one.find("5 items of images tensor<2x3xui8>, labels tensor<ui8>; crc32 of "), 0U)
      << one;
  EXPECT_EQ(fingerprint(1, 2), one);
  EXPECT_NE(fingerprint(3, 2), one);
  EXPECT_NE(fingerprint(1, 3), one);
}

TEST(SampledCrc32Test, LargeArraysAreSampledByRowsAndSmallOnesTakenWhole) {
  const auto sum = [](std::size_t size, std::size_t at, std::size_t row_bytes) {
    std::vector<std::byte> bytes(size);
    bytes[at] = std::byte{1};
    return sampled_crc32(bytes, row_bytes);
  };
  constexpr std::size_t kMebi = std::size_t{1} << 20;
  for (const std::size_t at : {std::size_t{0}, kMebi / 2 + 3, kMebi - 1}) {
    EXPECT_NE(sum(kMebi, at, 16), sampled_crc32(std::vector<std::byte>(kMebi), 16)) << at;
  }
  const std::string large = sampled_crc32(std::vector<std::byte>(10 * kMebi), 16);
  EXPECT_NE(sum(10 * kMebi, 0, 16), large);
  EXPECT_NE(sum(10 * kMebi, 10 * kMebi - 1, 16), large);
  EXPECT_EQ(sum(10 * kMebi, 16, 16), large);          // a row that is left out
  EXPECT_NE(sum(10 * kMebi, 16, 10 * kMebi), large);  // one row is taken whole
  // 16 rows at least.
  EXPECT_NE(sum(32 * kMebi, 2 * kMebi, 2 * kMebi),
            sampled_crc32(std::vector<std::byte>(32 * kMebi), 2 * kMebi));
}

TEST(FakeSourceTest, TheFingerprintIsThatOfItsOptions) {
  const auto fingerprint = [](const FakeSourceOptions& options) {
    return FakeSource(options).fingerprint();
  };
  const std::string one = fingerprint({.items = 9, .seed = 5});
  EXPECT_EQ(fingerprint({.items = 9, .seed = 5}), one);
  for (const FakeSourceOptions& other :
       {FakeSourceOptions{.items = 8, .seed = 5}, FakeSourceOptions{.items = 9, .seed = 6},
        FakeSourceOptions{.items = 9, .height = 27, .seed = 5},
        FakeSourceOptions{.items = 9, .classes = 9, .seed = 5},
        FakeSourceOptions{.items = 9, .seed = 5, .first_item = 1}}) {
    EXPECT_NE(fingerprint(other), one);
  }
}

TEST(ArraySourceTest, AFingerprintDistinguishesValues) {
  const auto fingerprint = [](const std::vector<std::int32_t>& values) {
    return ArraySource::create({{"x", array_of(Shape(DType::kI32, {2}), values)}})
        .value()
        ->fingerprint();
  };
  EXPECT_EQ(fingerprint({1, 2}), fingerprint({1, 2}));
  EXPECT_NE(fingerprint({1, 2}), fingerprint({2, 1}));
}

TEST(IdxSourceTest, AStopEndsARead) {
  const millrace::testing::TempFolder folder;
  write_idx(folder.path() + "/train-images-idx3-ubyte", {2, 1, 1}, 1);
  write_idx(folder.path() + "/train-labels-idx1-ubyte", {2}, 1);
  const auto source = idx_source(folder.path());
  std::byte image;
  std::byte label;
  auto batch = make_ref<SourceBatch>();
  batch->items = {1};
  batch->fields = {{&image, 1}, {&label, 1}};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(source->read(batch, stop.get_token()).result().error().code(), ErrorCode::kCancelled);
}

TEST(FakeSourceTest, AnItemIsTheSameInEveryBatchAndRun) {
  FakeSource one({.items = 100, .seed = 5});
  FakeSource two({.items = 100, .seed = 5});
  FakeSource other({.items = 100, .seed = 6});
  EXPECT_EQ(load(one, {7, 8}).fields, load(two, {7, 8}).fields);
  EXPECT_NE(load(one, {7, 8}).fields, load(other, {7, 8}).fields);
  FakeSource later({.items = 50, .seed = 5, .first_item = 40});
  EXPECT_EQ(load(one, {47}).fields, load(later, {7}).fields);
}

// What makes training on it work: comparing an unseen image with the means of the classes gives
// the right class.
TEST(FakeSourceTest, ClassesCanBeLearnt) {
  constexpr std::size_t kPixels = 28 * 28;
  FakeSource source({.items = 2000, .seed = 1});
  std::vector<std::vector<double>> sums(10, std::vector<double>(kPixels));
  std::vector<int> counts(10);
  std::vector<std::byte> image(kPixels);
  for (std::uint64_t item = 0; item < 1000; ++item) {
    source.generate(item, image);
    ++counts[source.label(item)];
    for (std::size_t p = 0; p < kPixels; ++p)
      sums[source.label(item)][p] += std::to_integer<int>(image[p]);
  }
  for (int count : counts) EXPECT_NEAR(count, 100, 50);
  int right = 0;
  for (std::uint64_t item = 1000; item < 1200; ++item) {
    source.generate(item, image);
    std::map<double, int> by_distance;
    for (int c = 0; c < 10; ++c) {
      double distance = 0;
      for (std::size_t p = 0; p < kPixels; ++p) {
        const double d = sums[c][p] / counts[c] - std::to_integer<int>(image[p]);
        distance += d * d;
      }
      by_distance[distance] = c;
    }
    right += by_distance.begin()->second == source.label(item);
  }
  EXPECT_GT(right, 100) << "chance gives 20";
  EXPECT_LT(right, 190)
      << "they are moved, and in part another class's: the mean of each is not all";
}

}  // namespace
}  // namespace millrace::transfer
