#include "millrace/core/net/mesh_record.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string>

namespace millrace::net {
namespace {

MeshRecord example() {
  MeshRecord record{{3, "node-1", 4711}, {}, "unix:/run/job/3"};
  for (std::size_t i = 0; i < record.incarnation.size(); ++i)
    record.incarnation[i] = static_cast<std::byte>(i * 17);
  return record;
}

TEST(MeshRecordTest, WhatIsEncodedIsRead) {
  MeshRecord record = example();
  EXPECT_EQ(read_record(encode_record(record), 3).value(), record);
  record.who.pid = std::numeric_limits<std::int32_t>::max();
  record.address = std::string(kMostAddressBytes, 'a');
  EXPECT_EQ(read_record(encode_record(record), 3).value(), record);
}

TEST(MeshRecordTest, WhatIsNoRecordIsAnErrorThatNamesTheRank) {
  const std::string good = encode_record(example());
  std::vector<std::string> wrong{"", "\n\n\n\n\n", good + "\n", good + "x", "x" + good};
  for (std::size_t length = 0; length < good.size(); ++length)
    wrong.push_back(good.substr(0, length));
  const auto with = [&](std::string_view part, std::string_view other) {
    std::string text = good;
    text.replace(text.find(part), part.size(), other);
    wrong.push_back(text);
  };
  with("4711", "-1");
  with("4711", "4711x");
  with("4711", "99999999999");
  with("4711", "");
  with("node-1", "");
  with("node-1", "a b");
  with("node-1", std::string(256, 'h'));
  with("unix:/run/job/3", std::string(256, 'a'));
  with("0011", "0O11");
  with("0011", "0011a");
  with("mesh 1", "mesh 2");
  for (const std::string& text : wrong) {
    const auto read = read_record(text, 7);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code(), ErrorCode::kDataLoss);
    EXPECT_NE(read.error().message().find("rank 7"), std::string::npos);
  }
}

TEST(MeshRecordTest, OneThatNeverListenedHasNoAddress) {
  MeshRecord gone = example();
  gone.address.clear();
  const auto read = read_record(encode_record(gone), gone.who.rank);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, gone);
}

TEST(MeshRecordTest, KeysDifferByEpochRankAndIncarnation) {
  EXPECT_EQ(record_key("mesh", 2, 31), "mesh/2/31");
  EXPECT_NE(record_key("mesh", 1, 23), record_key("mesh", 12, 3));
  EXPECT_NE(ended_key("mesh", example().incarnation), ended_key("mesh", {}));
}

}  // namespace
}  // namespace millrace::net
