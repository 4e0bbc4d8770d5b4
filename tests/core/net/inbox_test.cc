#include "millrace/core/net/inbox.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "millrace/core/async/combinators.h"
#include "tests/support/simulation.h"

namespace millrace::net {
namespace {

using testing::for_each_seed;
using testing::Simulation;

constexpr FrameKind kKind = FrameKind::kFirstOfUsers;
constexpr std::size_t kLimit = 10 * kHeaderBytes;

Frame numbered(std::uint64_t channel, std::uint64_t number) {
  return {{.kind = kKind, .channel = channel, .sequence = number}, {}};
}

struct Fixture {
  explicit Fixture(Simulation& sim)
      : sim(sim),
        inbox(make_ref<Inbox>(3, table, sim.executor(), kLimit,
                              [this](const Error& error) { refused.push_back(error); })) {}
  ~Fixture() { inbox->close(); }
  MeshSink keep() {
    return [this](std::uint32_t from, const Frame& frame) -> Future<void> {
      EXPECT_EQ(from, 3u);
      came[frame.header.channel].push_back(frame.header.sequence);
      return {};
    };
  }

  Simulation& sim;
  SinkTable table;
  std::vector<Error> refused;
  std::map<std::uint64_t, std::vector<std::uint64_t>> came;
  Ref<Inbox> inbox;
};

TEST(InboxTest, WhatHasASinkGoesToItAtOnceAndOtherFramesWaitForTheirs) {
  Simulation sim(1);  // IN-1
  Fixture fixture(sim);
  fixture.table.set({kKind, 1}, fixture.keep());
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(fixture.inbox->take(numbered(1, i)).valid());
    EXPECT_FALSE(fixture.inbox->take(numbered(2, i)).valid());
  }
  EXPECT_EQ(fixture.came[1].size(), 4u);
  EXPECT_EQ(fixture.inbox->held_bytes(), 4 * kHeaderBytes);
  fixture.table.set({kKind}, fixture.keep());
  fixture.inbox->look_again();
  EXPECT_EQ(fixture.came[2], (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(fixture.inbox->held_bytes(), 0u);
}

TEST(InboxTest, AChannelsOwnSinkComesBeforeItsKinds) {
  Simulation sim(1);
  Fixture fixture(sim);
  int others = 0;
  fixture.table.set({kKind}, [&](std::uint32_t, const Frame&) -> Future<void> {
    ++others;
    return {};
  });
  fixture.table.set({kKind, 1}, fixture.keep());
  EXPECT_FALSE(fixture.inbox->take(numbered(1, 0)).valid());
  EXPECT_FALSE(fixture.inbox->take(numbered(2, 0)).valid());
  fixture.table.set({kKind, 1}, {});
  EXPECT_FALSE(fixture.inbox->take(numbered(1, 1)).valid());
  EXPECT_EQ(fixture.came[1].size(), 1u);
  EXPECT_EQ(others, 2);
}

TEST(InboxTest, APayloadIsLentToASinkThatTakesItSoAndKeptForOthers) {
  Simulation sim(1);
  Fixture fixture(sim);
  const Bytes bytes(10, std::byte{3});
  const auto lent = [&](std::uint64_t channel) {
    return Frame{.header = {.kind = kKind, .channel = channel}, .lent = bytes};
  };
  std::map<std::uint64_t, std::vector<const std::byte*>> came;
  const auto note = [&](std::uint32_t, const Frame& frame) -> Future<void> {
    EXPECT_EQ(frame.bytes().size(), 10U);
    EXPECT_EQ(frame.bytes()[9], std::byte{3});
    came[frame.header.channel].push_back(frame.bytes().data());
    return {};
  };
  fixture.table.set({kKind, 1}, note, Payloads::kMayBeLent);
  fixture.table.set({kKind, 2}, note);
  for (const std::uint64_t channel : {1, 2, 3})
    EXPECT_FALSE(fixture.inbox->take(lent(channel)).valid());
  EXPECT_EQ(fixture.inbox->held_bytes(), kHeaderBytes + 10) << "channel 3 has no sink yet";
  fixture.table.set({kKind, 3}, note, Payloads::kMayBeLent);
  fixture.inbox->look_again();
  EXPECT_EQ(came[1], (std::vector{bytes.data()}));
  ASSERT_EQ(came[2].size(), 1U);
  ASSERT_EQ(came[3].size(), 1U);
  EXPECT_NE(came[2][0], bytes.data());
  EXPECT_NE(came[3][0], bytes.data());
}

TEST(InboxTest, BeyondTheLimitItsCallerWaitsUntilThereIsRoom) {
  Simulation sim(1);  // IN-2
  Fixture fixture(sim);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_FALSE(fixture.inbox->take(numbered(1, i)).valid());
  const Future<void> room = fixture.inbox->take(numbered(1, 10));
  ASSERT_TRUE(room.valid());
  EXPECT_FALSE(room.ready());
  fixture.table.set({kKind, 1}, fixture.keep());
  fixture.inbox->look_again();
  EXPECT_TRUE(room.ready());
  EXPECT_EQ(fixture.came[1].size(), 11u);
}

TEST(InboxTest, ASinkThatTakesItsTimeHoldsUpItsOwnLaneAlone) {
  for_each_seed(100, [](Simulation& sim) {  // IN-1
    Fixture fixture(sim);
    int running = 0;
    fixture.table.set({kKind, 1}, [&](std::uint32_t, const Frame& frame) -> Future<void> {
      EXPECT_EQ(running++, 0);
      fixture.came[1].push_back(frame.header.sequence);
      const TimePoint until = sim.now() + std::chrono::microseconds(sim.below(20));
      return sleep_until(until, sim.timers()).then(sim.executor(), [&](Result<void>) {
        --running;
      });
    });
    fixture.table.set({kKind, 2}, fixture.keep());
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < 50; ++i) {
      all.push_back(i);
      for (const std::uint64_t channel : {1, 2}) {
        const Future<void> room = fixture.inbox->take(numbered(channel, i));
        if (room.valid()) {
          EXPECT_TRUE(sim.run(room).has_value());
        }
      }
      EXPECT_LE(fixture.inbox->held_bytes(), kLimit + kHeaderBytes);
    }
    sim.run_for(std::chrono::seconds(1));
    EXPECT_EQ(fixture.came[1], all);
    EXPECT_EQ(fixture.came[2], all);
  });
}

TEST(InboxTest, ASinksErrorClosesItAndIsReportedOnce) {
  for (const bool late : {false, true}) {
    Simulation sim(1);  // IN-3
    Fixture fixture(sim);
    int calls = 0;
    fixture.table.set({kKind}, [&](std::uint32_t, const Frame&) -> Future<void> {
      ++calls;
      const Error error(ErrorCode::kInvalidArgument, "no place");
      if (!late) return error;
      return sleep_until(sim.now() + std::chrono::milliseconds(1), sim.timers())
          .then(sim.executor(),
                [error](Result<void>) -> Result<void> { return std::unexpected(error); });
    });
    EXPECT_FALSE(fixture.inbox->take(numbered(1, 0)).valid());
    EXPECT_FALSE(fixture.inbox->take(numbered(1, 1)).valid());
    sim.run_for(std::chrono::seconds(1));
    EXPECT_EQ(calls, 1);
    ASSERT_EQ(fixture.refused.size(), 1u);
    EXPECT_EQ(fixture.refused[0].message(), "no place");
    EXPECT_EQ(fixture.inbox->dropped(), 1u);
  }
}

TEST(InboxTest, ClosingDropsWhatWaitsAndItsCallerWaitsNoMore) {
  Simulation sim(1);  // IN-3
  Fixture fixture(sim);
  std::optional<Promise<void>> held{std::in_place};
  fixture.table.set({kKind, 1}, [&](std::uint32_t, const Frame&) { return held->future(); });
  for (std::uint64_t i = 0; i < 11; ++i) EXPECT_FALSE(fixture.inbox->take(numbered(1, i)).valid());
  const Future<void> room = fixture.inbox->take(numbered(1, 11));
  fixture.inbox->close();
  EXPECT_TRUE(room.ready());
  EXPECT_EQ(fixture.inbox->dropped(), 11u);
  held->set_value();
  sim.run_for(std::chrono::seconds(1));
  EXPECT_FALSE(fixture.inbox->take(numbered(1, 12)).valid());
  EXPECT_EQ(fixture.inbox->dropped(), 12u);
}

TEST(InboxTest, DrainingDropsWhatHasNoSinkAndGivesTheRest) {
  Simulation sim(1);
  Fixture fixture(sim);
  std::optional<Promise<void>> held{std::in_place};
  fixture.table.set({kKind, 1}, [&](std::uint32_t, const Frame& frame) -> Future<void> {
    fixture.came[1].push_back(frame.header.sequence);
    if (frame.header.sequence == 0) return held->future();
    return {};
  });
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_FALSE(fixture.inbox->take(numbered(1, i)).valid());
    EXPECT_FALSE(fixture.inbox->take(numbered(2, i)).valid());
  }
  fixture.inbox->drain();
  EXPECT_EQ(fixture.inbox->dropped(), 5u);
  EXPECT_FALSE(fixture.inbox->take(numbered(2, 5)).valid());
  EXPECT_EQ(fixture.inbox->dropped(), 6u);
  for (std::uint64_t i = 5; i < 30; ++i)
    EXPECT_FALSE(fixture.inbox->take(numbered(1, i)).valid()) << "it never waits";
  held->set_value();
  sim.run_for(std::chrono::seconds(1));
  EXPECT_EQ(fixture.came[1].size(), 11u) << "one, and what the limit holds";
}

}  // namespace
}  // namespace millrace::net
