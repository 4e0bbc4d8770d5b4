#include "millrace/core/net/job_status.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "millrace/core/net/job_member.h"
#include "millrace/core/net/store_frames.h"

namespace millrace::net {
namespace {

JobStatus example() {
  return {.job = "night",
          .host_pid = 4711,
          .age = std::chrono::seconds(3),
          .turned_away = 1000,
          .ranks = {{.phase = RankPhase::kJoined, .pid = 4712, .groups = {{"world", 13, 12}}},
                    {.phase = RankPhase::kEnded, .pid = 4713},
                    {}}};
}

TEST(JobStatusTest, FramesReadBackAsTheyWereMade) {
  EXPECT_EQ(decode_status(encode(example())).value(), example());
  EXPECT_EQ(decode_status(encode(JobStatus{})).value(), JobStatus{});
  EXPECT_TRUE(is_ask(encode_ask()));
  const std::vector<GroupCount> groups = {{"world", std::numeric_limits<std::uint64_t>::max(), 0},
                                          {"", 1, 1}};
  EXPECT_EQ(decode_alive(encode_alive(groups)).value(), groups);
  EXPECT_EQ(decode_alive(encode_alive(std::nullopt)).value(), std::nullopt);
}

TEST(JobStatusTest, EachOfItsBytesIsNeeded) {
  const Frame good = encode(example());
  for (std::size_t length = 0; length < good.payload.size(); ++length) {
    Frame cut = good;
    cut.payload.resize(length);
    EXPECT_FALSE(decode_status(cut).has_value()) << length;
  }
  Frame longer = good, word = good, phase = encode(JobStatus{.ranks = {{}}});
  longer.payload.push_back(std::byte{0});
  EXPECT_FALSE(decode_status(longer).has_value());
  word.header.words[0] = 1;
  EXPECT_FALSE(decode_status(word).has_value());
  phase.payload[5] = std::byte{4};
  EXPECT_FALSE(decode_status(phase).has_value());
  Frame alive = encode_alive(std::vector<GroupCount>{{"world", 1, 1}});
  alive.header.words[0] = 0;
  EXPECT_FALSE(decode_alive(alive).has_value());
  alive.header.words[0] = 2;
  EXPECT_FALSE(decode_alive(alive).has_value());
  Frame ask = encode_ask();
  ask.payload.resize(1);
  EXPECT_FALSE(is_ask(ask));
}

TEST(JobStatusTest, IsBounded) {
  const GroupCount most{std::string(1000, 'g'), ~std::uint64_t{0}, ~std::uint64_t{0}};
  JobStatus status{.job = std::string(1000, 'j'), .host_pid = 1};
  status.ranks.assign(100'000, {.pid = std::numeric_limits<std::int32_t>::max()});
  // Twice what fits, not all: that would be gigabytes.
  const std::size_t full = 2 * kMostStorePayload / (kMostGroups * kMostGroupNameBytes);
  for (std::size_t r = 0; r < full; ++r) status.ranks[r].groups.assign(kMostGroups + 1, most);
  status.ranks.back().groups.assign(1, most);
  const Frame frame = encode(status);
  EXPECT_LE(frame.payload.size(), kMostStorePayload);
  const JobStatus read = decode_status(frame).value();
  EXPECT_EQ(read.job.size(), kMostJobBytes);
  ASSERT_EQ(read.ranks.size(), status.ranks.size());
  EXPECT_EQ(read.ranks[0].groups.size(), kMostGroups);
  EXPECT_EQ(read.ranks[0].groups[0].name.size(), kMostGroupNameBytes);
  EXPECT_TRUE(read.ranks.back().groups.empty()) << "there was no more room";
}

TEST(GroupListTest, GroupsAreThereAsLongAsTheyAreHeld) {
  GroupList list;
  const auto world = list.add("world");
  {
    const auto half = list.add(std::string(100, 'h'));
    half->begun = 2;
    half->done = 1;
    EXPECT_EQ(list.counts(), (std::vector<GroupCount>{
                                 {"world", 0, 0}, {std::string(kMostGroupNameBytes, 'h'), 2, 1}}));
  }
  EXPECT_EQ(list.counts(), (std::vector<GroupCount>{{"world", 0, 0}}));
  std::vector<std::shared_ptr<GroupProgress>> many;
  for (int i = 0; i < 100; ++i) many.push_back(list.add("g"));
  EXPECT_EQ(list.counts().size(), kMostGroups);
}

}  // namespace
}  // namespace millrace::net
