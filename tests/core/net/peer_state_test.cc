#include "millrace/core/net/peer_state.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>

namespace millrace::net {
namespace {

using enum PeerState;

constexpr PeerState kStates[] = {kUnlinked, kDialling, kLinked, kEnded, kLost};

Incarnation drawn(int value) {
  Incarnation incarnation;
  incarnation.fill(static_cast<std::byte>(value));
  return incarnation;
}

// A hello of rank 5 to rank 3 of 8, and what rank 3 knows.
LinkHello hello() { return {{5, "h", 1}, drawn(5), 3, 8, 2, "job"}; }
HelloView view(PeerState state = kUnlinked, bool calls = false) {
  return {.self = 3, .size = 8, .epoch = 2, .job = "job", .state = state, .calls = calls};
}
// The same between rank 3, which says hello, and rank 5.
LinkHello lower_hello() { return {{3, "h", 1}, drawn(3), 5, 8, 2, "job"}; }
HelloView higher_view(PeerState state, bool calls) {
  HelloView seen = view(state, calls);
  seen.self = 5;
  return seen;
}

TEST(PeerStateTest, OnlyTheseStepsAreTaken) {
  const std::pair<PeerState, PeerState> edges[] = {
      {kUnlinked, kDialling}, {kUnlinked, kLinked}, {kUnlinked, kLost},
      {kDialling, kUnlinked}, {kDialling, kLinked}, {kDialling, kEnded},
      {kDialling, kLost},     {kLinked, kEnded},    {kLinked, kLost},
  };
  int found = 0;
  for (const PeerState from : kStates)
    for (const PeerState to : kStates) found += may_move(from, to) ? 1 : 0;
  EXPECT_EQ(found, static_cast<int>(std::size(edges)));
  for (const auto& [from, to] : edges) EXPECT_TRUE(may_move(from, to));
}

TEST(PeerStateTest, AHelloGetsTheAnswerOfTheState) {
  EXPECT_EQ(judge_hello(hello(), view(kUnlinked)), LinkVerdict::kAccept);
  EXPECT_EQ(judge_hello(hello(), view(kDialling, false)), LinkVerdict::kAccept);
  EXPECT_EQ(judge_hello(hello(), view(kLinked)), LinkVerdict::kLinked);
  EXPECT_EQ(judge_hello(hello(), view(kEnded)), LinkVerdict::kGone);
  EXPECT_EQ(judge_hello(hello(), view(kLost)), LinkVerdict::kGone);
}

TEST(PeerStateTest, WhereBothDialTheLowerRanksLinkStays) {  // ME-3
  EXPECT_EQ(judge_hello(hello(), view(kDialling, true)), LinkVerdict::kTie);
  EXPECT_EQ(judge_hello(lower_hello(), higher_view(kDialling, true)), LinkVerdict::kAccept);
  EXPECT_EQ(judge_hello(lower_hello(), higher_view(kDialling, false)), LinkVerdict::kAccept);
}

TEST(PeerStateTest, TheEpochComesBeforeTheState) {
  for (const PeerState state : kStates) {
    LinkHello other = hello();
    other.epoch = 1;
    EXPECT_EQ(judge_hello(other, view(state, true)), LinkVerdict::kStale);
    other.epoch = 3;
    EXPECT_EQ(judge_hello(other, view(state, true)), LinkVerdict::kEarly);
  }
}

TEST(PeerStateTest, AnotherIncarnationIsRefusedInThisEpoch) {
  for (const PeerState state : kStates) {
    HelloView seen = view(state);
    seen.incarnation = drawn(6);
    EXPECT_EQ(judge_hello(hello(), seen), LinkVerdict::kReplaced);
  }
}

TEST(PeerStateTest, WhatBelongsElsewhereIsForeignInAnyEpoch) {
  const auto with = [](auto change) {
    LinkHello other = hello();
    change(other);
    return judge_hello(other, view());
  };
  EXPECT_EQ(with([](LinkHello& h) { h.job = "other"; }), LinkVerdict::kForeign);
  EXPECT_EQ(with([](LinkHello& h) { h.size = 9; }), LinkVerdict::kForeign);
  EXPECT_EQ(with([](LinkHello& h) { h.to = 4; }), LinkVerdict::kForeign);
  EXPECT_EQ(with([](LinkHello& h) { h.from.rank = 3; }), LinkVerdict::kForeign) << "itself";
  EXPECT_EQ(with([](LinkHello& h) { h.from.rank = 8; }), LinkVerdict::kForeign);
  EXPECT_EQ(with([](LinkHello& h) {
              h.job = "other";
              h.epoch = 3;
            }),
            LinkVerdict::kForeign);
}

TEST(PeerStateTest, WhatTheHandshakeProvedMustBeWhatTheHelloSays) {
  HelloView seen = view();
  seen.proved = Identity{5, drawn(5)};
  EXPECT_EQ(judge_hello(hello(), seen), LinkVerdict::kAccept);
  seen.proved = Identity{4, drawn(5)};
  EXPECT_EQ(judge_hello(hello(), seen), LinkVerdict::kForeign);
  seen.proved = Identity{5, drawn(4)};
  EXPECT_EQ(judge_hello(hello(), seen), LinkVerdict::kForeign);
}

}  // namespace
}  // namespace millrace::net
