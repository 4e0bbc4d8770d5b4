#include "millrace/devices/stablehlo/sharding/shards.h"

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/core/base/read_file.h"
#include "millrace/devices/stablehlo/sharding/op_sharding.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"
#include "tests/support/hex_of.h"
#include "tests/support/paths.h"

namespace millrace::devices::stablehlo::sharding {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Sharding read(const std::string& text) {
  const auto sharding = read_sharding("#sdy.sharding" + text, {});
  if (sharding) return *sharding;
  ADD_FAILURE() << sharding.error().message();
  return {};
}

// begin:end of each dimension
std::string text_of(const Shard& shard) {
  std::string out;
  for (std::size_t d = 0; d < shard.sizes.size(); ++d) {
    out += (d != 0 ? "," : "") + std::to_string(shard.offsets[d]) + ":" +
           std::to_string(shard.offsets[d] + shard.sizes[d]);
  }
  return out.empty() ? "." : out;
}

// A line of shards.txt, which make_shards.py writes.
struct Row {
  std::string sharding, message;
  Dims shape;
  std::vector<std::string> parts;
};

std::vector<Row> rows() {
  std::istringstream lines(*read_file(millrace::testing::source_folder() +
                                      "/tests/devices/stablehlo/sharding/shards.txt"));
  std::vector<Row> out;
  for (std::string line, shape; std::getline(lines, line);) {
    std::istringstream fields(line);
    Row row;
    std::getline(fields, row.sharding, '\t');
    std::getline(fields, shape, '\t');
    std::getline(fields, row.message, '\t');
    std::istringstream numbers(shape == "scalar" ? "" : shape);
    for (std::string number; std::getline(numbers, number, 'x');)
      row.shape.push_back(std::stoll(number));
    for (std::string part; std::getline(fields, part, ' ');) row.parts.push_back(part);
    out.push_back(row);
  }
  return out;
}

TEST(Shards, AreWhereJaxHasThem) {
  const auto table = rows();
  ASSERT_GE(table.size(), 100u);
  for (const Row& row : table) {
    const Sharding sharding = read(row.sharding);
    ASSERT_EQ(row.parts.size(), 8u);
    for (std::int64_t device = 0; device < 8; ++device) {
      const Shard part = shard_of(sharding, row.shape, device);
      EXPECT_EQ(text_of(part), row.parts[static_cast<std::size_t>(device)])
          << row.sharding << " device " << device;
      EXPECT_EQ(part.sizes, local_shape(sharding, row.shape)) << row.sharding;
    }
    EXPECT_TRUE(divides(sharding, row.shape));
  }
}

TEST(Shards, TheirMessageHasTheBytesOfJax) {
  for (const Row& row : rows())
    EXPECT_EQ(millrace::testing::hex_of(to_op_sharding(read(row.sharding))), row.message)
        << row.sharding;
}

TEST(Shards, APartOfAnAxisCutsAsItsPlaceInTheAxisSays) {
  const Dims shape = {4};
  std::vector<std::int64_t> outer, middle, inner;
  for (std::int64_t device = 0; device < 8; ++device) {
    const auto at = [&](const char* text) {
      return shard_of(read(text), shape, device).offsets[0] / 2;
    };
    outer.push_back(at(R"(<mesh<["a"=8]>, [{"a":(1)2}]>)"));
    middle.push_back(at(R"(<mesh<["a"=8]>, [{"a":(2)2}]>)"));
    inner.push_back(at(R"(<mesh<["a"=8]>, [{"a":(4)2}]>)"));
  }
  EXPECT_THAT(outer, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(middle, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(inner, ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(Shards, TheMessageOfAPartOfAnAxisNamesTheRestAsReplicated) {
  // {devices=[2,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}
  EXPECT_EQ(millrace::testing::hex_of(to_op_sharding(read(R"(<mesh<["a"=8]>, [{"a":(2)2}]>)"))),
            "08031a02020430014a030202025203010002");
}

TEST(Shards, OneDeviceAloneHasEverything) {
  const Sharding one = read("<mesh<[], device_ids=[3]>, []>");
  const Dims shape = {5, 6};
  EXPECT_EQ(millrace::testing::hex_of(to_op_sharding(one)), "0801220103");
  EXPECT_EQ(local_shape(one, shape), shape);
  EXPECT_EQ(text_of(shard_of(one, shape, 3)), "0:5,0:6");
}

TEST(Shards, PartsThatDoNotDivideArePaddedAtTheEnd) {
  const Sharding four = read(R"(<mesh<["a"=4]>, [{"a"}]>)");
  EXPECT_THAT(local_shape(four, Dims{5}), ElementsAre(2));
  EXPECT_FALSE(divides(four, Dims{5}));
  std::vector<std::string> parts, of_one, of_none;
  for (std::int64_t device = 0; device < 4; ++device) {
    parts.push_back(text_of(shard_of(four, Dims{5}, device)));
    of_one.push_back(text_of(shard_of(four, Dims{1}, device)));
    of_none.push_back(text_of(shard_of(four, Dims{0}, device)));
  }
  EXPECT_THAT(parts, ElementsAre("0:2", "2:4", "4:5", "5:5"));
  EXPECT_THAT(of_one, ElementsAre("0:1", "1:1", "1:1", "1:1"));
  EXPECT_THAT(of_none, ElementsAre("0:0", "0:0", "0:0", "0:0"));
}

TEST(Shards, AloneTheNamedAxesCut) {
  const Sharding both = read(R"(<mesh<["a"=2, "b"=4]>, [{"a", "b"}, {}]>)");
  const std::vector<std::string> a = {"a"};
  EXPECT_THAT(local_shape(both, Dims{16, 3}, a), ElementsAre(8, 3));
  EXPECT_THAT(local_shape(both, Dims{16, 3}), ElementsAre(2, 3));
  EXPECT_EQ(text_of(shard_of(both, Dims{16, 3}, 5, a)), "8:16,0:3");
  EXPECT_EQ(text_of(shard_of(both, Dims{16, 3}, 5)), "10:12,0:3");
}

TEST(Shards, ADeviceThatIsNotInTheMeshHoldsEverything) {
  const Sharding two = read(R"(<mesh<["a"=2]>, [{"a"}]>)");
  EXPECT_EQ(text_of(shard_of(two, Dims{4}, 2)), "0:4");
  EXPECT_EQ(text_of(shard_of(read("<mesh<[]>, [{}]>"), Dims{4}, 0)), "0:4");
  EXPECT_THAT(shard_of(two, {}, 0).sizes, IsEmpty());
}

}  // namespace
}  // namespace millrace::devices::stablehlo::sharding
