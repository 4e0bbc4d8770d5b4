#include "millrace/core/net/world_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/core/net/job_frames.h"

namespace millrace::net {
namespace {

constexpr std::uint32_t kRanks = 300;

TEST(WorldFramesTest, FramesReadBackAsTheyWereMade) {
  const World worlds[] = {{.epoch = 0, .ranks = {0}},
                          {.epoch = 7, .ranks = {1, 2, 200, 299}, .changed = false}};
  for (const World& world : worlds) EXPECT_EQ(decode_world(encode(world), kRanks).value(), world);
  const Error why(ErrorCode::kUnavailable, "rank 3 has ended");
  EXPECT_EQ(decode_no_world(encode_no_world(why)).value().message(), why.message());
  EXPECT_EQ(decode_no_world(encode_no_world(why)).value().detail<WorkDone>(), nullptr);
  EXPECT_NE(
      decode_no_world(encode_no_world(why.with_detail(WorkDone()))).value().detail<WorkDone>(),
      nullptr);
  for (const FrameKind kind : {FrameKind::kJobWorldAsk, FrameKind::kJobWaits})
    EXPECT_TRUE(is_plain(encode_plain(kind), kind));
  EXPECT_FALSE(is_plain(encode_plain(FrameKind::kJobWaits), FrameKind::kJobWorldAsk));
}

TEST(WorldFramesTest, WhatNoEncoderHasMadeIsRefused) {
  const auto world_of = [](std::vector<std::uint32_t> ranks) {
    return encode(World{.epoch = 1, .ranks = std::move(ranks)});
  };
  std::vector<Frame> worlds = {world_of({}),     world_of({2, 1}), world_of({1, 1}),
                               world_of({300}),  world_of({0, 1}), world_of({0, 1}),
                               world_of({0, 1}), world_of({0, 1}), world_of({0, 1})};
  worlds[4].header.words[0] = std::uint64_t{1} << 32;
  worlds[5].header.words[1] = 2;
  worlds[6].header.words[2] = 1;
  worlds[7].payload.pop_back();
  worlds[8].payload.push_back({});
  for (std::size_t i = 0; i < worlds.size(); ++i)
    EXPECT_FALSE(decode_world(worlds[i], kRanks).has_value()) << i;

  Frame refusal = encode_no_world(Error(ErrorCode::kUnavailable, "x"));
  refusal.header.words[0] = 2;
  EXPECT_FALSE(decode_no_world(refusal).has_value());
  refusal.header.words[0] = 0;
  refusal.payload.resize(kMostWordBytes + 1);
  EXPECT_FALSE(decode_no_world(refusal).has_value());
  Frame ask = encode_plain(FrameKind::kJobWorldAsk);
  ask.payload.resize(1);
  EXPECT_FALSE(is_plain(ask, FrameKind::kJobWorldAsk));
}

}  // namespace
}  // namespace millrace::net
