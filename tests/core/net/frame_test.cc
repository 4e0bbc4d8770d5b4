#include "millrace/core/net/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::net {
namespace {

using Input = std::span<const std::byte>;

Bytes payload_of(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

Bytes encoded(const Frame& frame) {
  const HeaderBytes header = encode_header(frame.header, frame.payload.size());
  Bytes bytes(header.begin(), header.end());
  bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
  return bytes;
}

std::vector<Frame> examples() {
  return {
      {{.kind = FrameKind::kHello}, {}},
      {{.kind = FrameKind::kStorePut, .flags = 255, .sequence = 1}, payload_of(1)},
      {{.kind = FrameKind::kFirstOfUsers,
        .epoch = 0x89abcdef,
        .channel = 0xfedcba9876543210,
        .sequence = ~std::uint64_t{0},
        .words = {1, ~std::uint64_t{0}, 3, 0x8000000000000000}},
       payload_of(100)},
      {{.kind = static_cast<FrameKind>(255), .words = {0, 0, 0, 9}}, payload_of(64)},
  };
}

FrameFault fault_of(Bytes bytes, std::size_t max_payload) {
  FrameParser parser(max_payload);
  Input input = bytes;
  const auto read = parser.next(input);
  EXPECT_FALSE(read.has_value());
  EXPECT_NE(read.error().detail<FrameFault>(), nullptr);
  Input none;
  EXPECT_EQ(parser.next(none).error().message(), read.error().message()) << "it stays failed";
  return *read.error().detail<FrameFault>();
}

TEST(FrameTest, HeaderHasItsFieldsWhereTheWireHasThem) {
  const HeaderBytes bytes = encode_header({.kind = FrameKind::kStoreGet,
                                           .flags = 2,
                                           .epoch = 3,
                                           .channel = 4,
                                           .sequence = 5,
                                           .words = {6, 7, 8, 9}},
                                          0x01020304);
  HeaderBytes expected = {};
  const std::pair<std::size_t, int> set[] = {
      {0, 'M'}, {1, 'R'}, {2, 'F'}, {3, '1'}, {4, 1},  {5, 8},  {6, 2},  {8, 4},  {9, 3},
      {10, 2},  {11, 1},  {12, 3},  {16, 4},  {24, 5}, {32, 6}, {40, 7}, {48, 8}, {56, 9},
  };
  for (const auto& [at, value] : set) expected[at] = static_cast<std::byte>(value);
  EXPECT_EQ(bytes, expected);
}

TEST(FrameTest, EveryFrameCutAtEveryByteComesBackWhole) {
  for (const Frame& frame : examples()) {
    const Bytes bytes = encoded(frame);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      FrameParser parser(256);
      Input first = Input(bytes).first(cut), second = Input(bytes).subspan(cut);
      auto read = parser.next(first);
      ASSERT_TRUE(read.has_value());
      EXPECT_TRUE(first.empty());
      if (!*read) {
        EXPECT_EQ(parser.between_frames(), cut == 0);
        read = parser.next(second);
        ASSERT_TRUE(read.has_value());
      }
      ASSERT_TRUE(read->has_value()) << cut;
      EXPECT_EQ((*read)->header, frame.header);
      EXPECT_EQ((*read)->payload, frame.payload);
      EXPECT_TRUE(second.empty() || cut == bytes.size());
      EXPECT_TRUE(parser.between_frames());
    }
  }
}

TEST(FrameTest, FramesInARowComeInOrderByteForByteAndAllAtOnce) {
  Bytes all;
  for (const Frame& frame : examples()) std::ranges::copy(encoded(frame), std::back_inserter(all));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{63}, all.size()}) {
    FrameParser parser(256);
    std::vector<Frame> read;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      Input input = Input(all).subspan(at, std::min(piece, all.size() - at));
      while (auto frame = parser.next(input).value()) read.push_back(std::move(*frame));
    }
    ASSERT_EQ(read.size(), examples().size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].header, examples()[i].header);
      EXPECT_EQ(read[i].payload, examples()[i].payload);
    }
  }
}

TEST(FrameTest, WhatIsWrongIsTyped) {
  const Bytes good = encoded(examples()[2]);
  const auto with = [&](std::size_t at, int value) {
    Bytes bytes = good;
    bytes[at] = static_cast<std::byte>(value);
    return bytes;
  };
  for (std::size_t at = 0; at < 4; ++at)
    EXPECT_EQ(fault_of(with(at, 0), 256), FrameFault::kMagic) << at;
  EXPECT_EQ(fault_of(with(4, 2), 256), FrameFault::kVersion);
  EXPECT_EQ(fault_of(with(5, 0), 256), FrameFault::kReserved);
  for (int bit = 0; bit < 8; ++bit)
    EXPECT_EQ(fault_of(with(7, 1 << bit), 256), FrameFault::kReserved) << bit;
  EXPECT_EQ(fault_of(good, 99), FrameFault::kTooLong);
  EXPECT_EQ(fault_of(with(11, 255), 256), FrameFault::kTooLong);
  Bytes http(kHeaderBytes);
  std::ranges::transform(std::string_view("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n"),
                         http.begin(), [](char c) { return static_cast<std::byte>(c); });
  EXPECT_EQ(fault_of(http, 256), FrameFault::kMagic);
}

TEST(FrameTest, APayloadThatLiesThereAsAWholeIsLent) {
  const Frame frame{{.kind = FrameKind::kFirstOfUsers, .sequence = 4}, payload_of(100)};
  const Bytes bytes = encoded(frame);
  const auto read = [&](std::size_t least, std::size_t first_piece) {
    FrameParser parser(1000);
    parser.lend(least);
    Input first = Input(bytes).first(first_piece), rest = Input(bytes).subspan(first_piece);
    auto got = parser.next(first);
    if (got && !*got) got = parser.next(rest);
    return *std::move(*got);
  };
  for (const std::size_t first_piece : {bytes.size(), kHeaderBytes, std::size_t{7}}) {
    Frame lent = read(100, first_piece);
    EXPECT_TRUE(lent.payload.empty());
    EXPECT_EQ(lent.bytes().data(), bytes.data() + kHeaderBytes) << first_piece;
    EXPECT_EQ(lent.bytes().size(), 100U);
    lent.keep();
    EXPECT_EQ(lent.payload, frame.payload);
    EXPECT_TRUE(lent.lent.empty());
  }
  EXPECT_EQ(read(101, bytes.size()).payload, frame.payload) << "it is shorter";
  EXPECT_EQ(read(1, kHeaderBytes + 1).payload, frame.payload) << "it came in pieces";
}

TEST(FrameTest, ALengthThatIsClaimedTakesNoMemory) {
  FrameParser parser(std::size_t{1} << 31);
  const HeaderBytes header = encode_header({.kind = FrameKind::kHello}, std::size_t{1} << 31);
  Input input = header;
  const auto read = parser.next(input);  // an allocation of 2 GiB would be seen by the sanitizers
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->has_value());
  EXPECT_FALSE(parser.between_frames());
}

TEST(FrameTest, ALimitThatIsRaisedHoldsFromTheNextHeader) {
  FrameParser parser(0);
  parser.set_max_payload(100);
  const Bytes bytes = encoded(examples()[2]);
  Input input = bytes;
  EXPECT_TRUE(parser.next(input).value().has_value());
}

}  // namespace
}  // namespace millrace::net
