#include "millrace/core/net/shm_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace millrace::net {
namespace {

constexpr std::size_t kSize = 8;
using Plain = RingWords<ShmWord>;

TEST(ShmRingTest, WhatIsWrittenMayBeReadAndItsRoomIsFreeAfterwards) {
  Plain words = {};
  RingWriter writer(words, kSize);
  RingReader reader(words, kSize);
  EXPECT_EQ(reader.available().value(), 0u);
  std::size_t at = 0;
  for (const std::size_t bytes : {8u, 1u, 7u, 3u, 5u, 8u}) {  // round the end of the ring
    EXPECT_EQ(writer.room(kSize).value(), kSize);
    EXPECT_EQ(writer.offset(), at);
    EXPECT_FALSE(writer.publish(bytes));
    EXPECT_EQ(writer.room(kSize).value(), kSize - bytes);
    EXPECT_EQ(reader.available().value(), bytes);
    EXPECT_EQ(reader.offset(), at);
    EXPECT_FALSE(reader.release(bytes));
    EXPECT_EQ(reader.available().value(), 0u);
    at = (at + bytes) % kSize;
  }
}

TEST(ShmRingTest, AnEndLooksAgainOnlyWhereItMust) {  // the words are the other end's cache lines
  Plain words = {};
  RingWriter writer(words, kSize);
  RingReader reader(words, kSize);
  EXPECT_FALSE(writer.publish(4));
  EXPECT_EQ(reader.available().value(), 4u);
  EXPECT_FALSE(writer.publish(2));
  EXPECT_EQ(reader.available().value(), 4u);
  EXPECT_FALSE(reader.release(4));
  EXPECT_EQ(writer.room(2).value(), 2u);
  EXPECT_EQ(writer.room(3).value(), 6u);
  EXPECT_EQ(reader.available().value(), 2u);
}

TEST(ShmRingTest, AReaderThatSleepsIsWokenOnce) {
  Plain words = {};
  RingWriter writer(words, kSize);
  RingReader reader(words, kSize);
  EXPECT_TRUE(reader.may_sleep().value());
  EXPECT_TRUE(writer.publish(1));
  EXPECT_FALSE(writer.publish(1)) << "it is awake";
  EXPECT_FALSE(reader.may_sleep().value()) << "bytes are there";
  EXPECT_EQ(reader.asked(), 1u);
  EXPECT_FALSE(reader.release(2));
  EXPECT_TRUE(reader.may_sleep().value());
  EXPECT_TRUE(reader.may_sleep().value()) << "it woke for nothing";
  EXPECT_EQ(reader.asked(), 2u) << "and asks not twice";  // SR-3
}

TEST(ShmRingTest, AWriterThatSleepsIsWokenOnceHalfOfTheRingIsFree) {
  Plain words = {};
  RingWriter writer(words, kSize);
  RingReader reader(words, kSize);
  EXPECT_FALSE(writer.may_sleep().value()) << "there is room";
  EXPECT_FALSE(writer.publish(kSize));
  EXPECT_TRUE(writer.may_sleep().value());
  EXPECT_EQ(reader.available().value(), kSize);
  EXPECT_FALSE(reader.release(3));
  EXPECT_TRUE(reader.release(1));
  EXPECT_FALSE(reader.release(1)) << "it is awake";
  EXPECT_EQ(writer.room(kSize).value(), 5u);
}

TEST(ShmRingTest, APositionThatCannotBeIsAnErrorAndGivesNoByte) {  // SR-1
  struct Case {
    std::uint64_t written,
        read;  // in the words, where 6 of 8 bytes were read, of which 3 were seen
    bool reader_fails, writer_fails;
  };
  constexpr std::uint64_t kMost = ~std::uint64_t{0}, kHalf = std::uint64_t{1} << 63;
  for (const Case& one :
       {Case{8, 3, false, false}, Case{14, 3, false, false}, Case{6, 3, false, false},
        Case{15, 3, true, false}, Case{5, 3, true, false}, Case{kMost, 3, true, false},
        Case{kHalf, 3, true, false}, Case{8, 8, false, false}, Case{8, 9, false, true},
        Case{8, 2, false, true}, Case{8, kMost, false, true}, Case{8, kHalf, false, true}}) {
    Plain words = {};
    RingWriter writer(words, kSize);
    RingReader reader(words, kSize);
    EXPECT_FALSE(writer.publish(6));
    EXPECT_EQ(reader.available().value(), 6u);
    EXPECT_FALSE(reader.release(3));
    EXPECT_EQ(writer.room(kSize).value(), 5u);
    EXPECT_FALSE(reader.release(3));
    EXPECT_FALSE(writer.publish(2));
    words.written.store(one.written);
    words.read.store(one.read);
    const auto there = reader.available();
    EXPECT_EQ(there.value_or(one.written - 6), one.written - 6);
    EXPECT_EQ(there.has_value(), !one.reader_fails) << one.written;
    EXPECT_EQ(reader.may_sleep().has_value(), !one.reader_fails) << one.written;
    const auto room = writer.room(kSize);
    EXPECT_EQ(room.value_or(one.read), one.read);
    EXPECT_EQ(room.has_value(), !one.writer_fails) << one.read;
  }
}

// Two threads, one mapping; ThreadSanitizer sees both.
TEST(ShmRingStressTest, BytesComeInTheirOrderThroughASmallRing) {
  constexpr std::size_t kBytes = 200'000;
  Plain words = {};
  std::array<std::uint8_t, kSize> ring = {};
  std::thread other([&] {
    RingWriter writer(words, kSize);
    for (std::size_t written = 0; written < kBytes;) {
      const std::size_t room = std::min(writer.room(1).value(), kBytes - written);
      if (room == 0) std::this_thread::yield();
      for (std::size_t i = 0; i < room; ++i)
        ring[(writer.offset() + i) % kSize] = static_cast<std::uint8_t>((written + i) * 7);
      static_cast<void>(writer.publish(room));
      written += room;
    }
  });
  RingReader reader(words, kSize);
  std::size_t wrong = 0;
  for (std::size_t read = 0; read < kBytes;) {
    const std::size_t there = reader.available().value();
    if (there == 0) std::this_thread::yield();
    for (std::size_t i = 0; i < there; ++i)
      wrong += ring[(reader.offset() + i) % kSize] != static_cast<std::uint8_t>((read + i) * 7);
    static_cast<void>(reader.release(there));
    read += there;
  }
  other.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace millrace::net
