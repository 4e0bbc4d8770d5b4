#include "millrace/core/net/connection.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "millrace/core/async/combinators.h"
#include "tests/support/sim_transport.h"

namespace millrace::net {
namespace {

using testing::for_each_seed;
using testing::SimNetwork;
using testing::Simulation;

constexpr const char* kAddress = "sim:here";

// Two processes of one user, and a connection between them whose frames are kept.
struct Pair {
  explicit Pair(Simulation& sim, const testing::SimFaults& faults = {},
                const ConnectionOptions& options = {.farewell = std::chrono::hours(1)})
      : sim(sim),
        network(sim, faults),
        here(network.make_transport(::geteuid(), 1)),
        there(network.make_transport(::geteuid(), 2)) {
    auto listener = here->listen(kAddress, [&](std::unique_ptr<ByteStream> stream) {
      a = Connection::make(std::move(stream), *here, options);
      a->start(keep(at_a));
    });
    auto stream = sim.run(there->connect(kAddress));
    b = Connection::make(*std::move(stream), *there, options);
    b->start(keep(at_b));
  }
  ~Pair() { sim.run_for(std::chrono::seconds(2)); }  // sinks may wait still
  FrameSink keep(std::vector<Frame>& into) {
    return [this, &into](Frame frame) -> Future<void> {
      into.push_back(std::move(frame));
      if (sim.chance(0.3)) return make_ready();
      if (sim.chance(0.3))
        return sleep_until(sim.now() + std::chrono::microseconds(sim.below(50)), sim.timers());
      return {};
    };
  }
  ConnectionEnd end(const Ref<Connection>& of) { return sim.run(of->end()).value(); }

  Simulation& sim;
  SimNetwork network;
  std::unique_ptr<Transport> here, there;
  Ref<Connection> a, b;
  std::vector<Frame> at_a, at_b;
};

Frame numbered(std::uint64_t number, std::size_t bytes = 0) {
  return {{.kind = FrameKind::kFirstOfUsers, .sequence = number},
          Bytes(bytes, static_cast<std::byte>(number))};
}

void expect_numbered(const std::vector<Frame>& frames, std::size_t count) {
  ASSERT_EQ(frames.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(frames[i].header.sequence, i);
    for (const std::byte b : frames[i].payload) ASSERT_EQ(b, static_cast<std::byte>(i));
  }
}

TEST(ConnectionTest, FramesArriveInOrderBothWaysAndAllBeforeTheGoodbye) {
  for_each_seed(100, [](Simulation& sim) {  // CN-1, CN-2, CN-4
    Pair pair(sim);
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 20; ++i) {
      sent.push_back(pair.a->send(numbered(i, sim.below(6000))));
      sent.push_back(pair.b->send(numbered(i, sim.below(100))));
    }
    const Future<void> closed = pair.a->close("enough");
    EXPECT_TRUE(sim.run(closed).has_value());
    EXPECT_EQ(pair.end(pair.a).cause, EndCause::kClosedHere);
    const ConnectionEnd other = pair.end(pair.b);
    EXPECT_EQ(other.cause, EndCause::kClosedThere);
    EXPECT_EQ(other.words, "enough");
    for (const auto& one : sent) EXPECT_TRUE(sim.run(one).has_value());
    expect_numbered(pair.at_a, 20);
    expect_numbered(pair.at_b, 20);
    EXPECT_EQ(pair.a->send(numbered(0)).result().error().code(), ErrorCode::kUnavailable);
  });
}

TEST(ConnectionTest, WhatIsSentNowComesInItsOrderAndMayChangeAfterTheCall) {
  for_each_seed(100, [](Simulation& sim) {  // CN-1, CN-2, CN-4
    Pair pair(sim);
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 30; ++i) {
      if (sim.chance(0.5)) {
        sent.push_back(pair.a->send(numbered(i, sim.below(6000))));
      } else {
        Frame frame = numbered(i, sim.below(60'000));
        sent.push_back(pair.a->send_now(frame.header, frame.payload));
        std::ranges::fill(frame.payload, std::byte{0xff});
      }
      if (sim.chance(0.3)) sim.run_for(std::chrono::microseconds(sim.below(100)));
    }
    EXPECT_TRUE(sim.run(pair.a->close("enough")).has_value());
    EXPECT_EQ(pair.end(pair.b).words, "enough");
    for (const auto& one : sent) EXPECT_TRUE(sim.run(one).has_value());
    expect_numbered(pair.at_b, 30);
    const Frame late = numbered(30, 60'000);
    EXPECT_EQ(pair.a->send_now(late.header, late.payload).result().error().code(),
              ErrorCode::kUnavailable);
  });
}

TEST(ConnectionTest, WhatIsSentNowOverACutStreamCompletes) {
  for_each_seed(100, [](Simulation& sim) {  // CN-2, CN-3
    Pair pair(sim);
    std::vector<Future<void>> sent;
    pair.network.set_faults({.cuts = 0.02});
    const Bytes payload(20'000);
    for (std::uint64_t i = 0; i < 20; ++i) {
      sent.push_back(pair.a->send_now(numbered(i).header, payload));
      if (sim.chance(0.3)) sim.run_for(std::chrono::microseconds(sim.below(100)));
    }
    pair.network.cut_all();
    EXPECT_EQ(pair.end(pair.a).cause, EndCause::kReset);
    for (const auto& one : sent) {
      const Result<void> result = sim.run(one);
      if (!result) {
        EXPECT_EQ(result.error().code(), ErrorCode::kUnavailable);
      }
    }
  });
}

TEST(ConnectionTest, BothMayCloseAtOnceAndNeitherSeesAFailure) {
  for_each_seed(100, [](Simulation& sim) {  // CN-4
    Pair pair(sim);
    for (std::uint64_t i = 0; i < 5; ++i) {
      pair.a->send(numbered(i, sim.below(6000))).ignore();
      pair.b->send(numbered(i, sim.below(6000))).ignore();
    }
    const Future<void> one = pair.a->close(""), two = pair.b->close("");
    EXPECT_TRUE(sim.run(one).has_value());
    EXPECT_TRUE(sim.run(two).has_value());
    EXPECT_NE(pair.end(pair.a).cause, EndCause::kReset);
    EXPECT_NE(pair.end(pair.b).cause, EndCause::kReset);
    expect_numbered(pair.at_a, 5);
    expect_numbered(pair.at_b, 5);
  });
}

TEST(ConnectionTest, ACutEndsBothAndEverySendCompletes) {
  for_each_seed(100, [](Simulation& sim) {  // CN-2, CN-3
    Pair pair(sim);
    std::vector<Future<void>> sent;
    for (std::uint64_t i = 0; i < 50; ++i) sent.push_back(pair.a->send(numbered(i, 1000)));
    pair.network.set_faults({.cuts = 0.02});
    sim.run_for(std::chrono::milliseconds(sim.below(20)));
    pair.network.cut_all();
    EXPECT_EQ(pair.end(pair.a).cause, EndCause::kReset);
    EXPECT_EQ(pair.end(pair.b).cause, EndCause::kReset);
    for (const auto& one : sent) {
      const Result<void> result = sim.run(one);
      if (result) continue;
      EXPECT_EQ(*result.error().detail<EndCause>(), EndCause::kReset) << result.error().message();
    }
    expect_numbered(pair.at_b, pair.at_b.size());
    EXPECT_TRUE(sim.run(pair.a->close("late")).has_value());
  });
}

TEST(ConnectionTest, ASinkThatTakesItsTimeHoldsTheOtherEndBack) {
  Simulation sim(1);
  Pair pair(sim, {.stalls = 0, .most_room = 512}, {.most_queued = 10'000});
  Promise<void> go_on;
  const Future<void> held = go_on.future();
  std::size_t came = 0;
  pair.b->set_sink([&](const Frame&) {
    ++came;
    return held;
  });
  std::vector<Future<void>> sent;
  for (std::uint64_t i = 0; i < 9; ++i) sent.push_back(pair.a->send(numbered(i, 1000)));
  const Future<void> refused = pair.a->send(numbered(9, 1000));
  EXPECT_EQ(sim.run(refused).error().code(), ErrorCode::kResourceExhausted);
  sim.run_for(std::chrono::seconds(2));
  EXPECT_EQ(came, 1u);
  EXPECT_FALSE(sent.back().ready());
  go_on.set_value();
  for (const auto& one : sent) EXPECT_TRUE(sim.run(one).has_value());
  EXPECT_TRUE(sim.run(pair.b->close("")).has_value());
  EXPECT_EQ(came, 9u);
}

// What it waits for may be what ends the wait: the end itself is found by reading.
TEST(ConnectionTest, ASinkThatWaitsForItsSendsHearsThatTheOtherEndIsGone) {
  for (const bool passes_on : {false, true}) {
    Simulation sim(5);
    Pair pair(sim, {.stalls = 0, .most_room = 512});
    Promise<void> go_on;
    pair.b->set_sink([held = go_on.future()](const Frame&) { return held; });
    EXPECT_TRUE(sim.run(pair.a->send(numbered(0))).has_value());
    sim.run_for(std::chrono::seconds(1));
    std::vector<Future<void>> answers;
    pair.a->set_sink([&](const Frame& frame) {
      answers.push_back(pair.a->send(numbered(frame.header.sequence, 10'000)));
      if (passes_on) return answers.back();
      return answers.back()
          .then(sim.executor(),
                [&](const Result<void>&) {
                  answers.push_back(pair.a->send(numbered(0)));
                  return answers.back();
                })
          .then(inline_executor(), [](const Result<void>&) {});
    });
    for (std::uint64_t i = 0; i < 3; ++i) pair.b->send(numbered(i)).ignore();
    sim.run_for(std::chrono::seconds(1));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_FALSE(answers[0].ready());
    pair.network.cut_all();
    sim.run_for(std::chrono::seconds(1));
    ASSERT_TRUE(pair.a->end().ready());
    EXPECT_EQ(pair.end(pair.a).cause, EndCause::kReset);
    for (const auto& answer : answers) {
      ASSERT_TRUE(answer.ready() && !answer.result());
      EXPECT_EQ(answer.result().error().code(), ErrorCode::kUnavailable);
    }
    go_on.set_value();
  }
}

TEST(ConnectionTest, GarbageIsAProtocolErrorAndTheOtherEndIsCutOff) {
  Simulation sim(2);
  Pair pair(sim, {}, {.max_payload = 100});
  pair.a->send(numbered(0, 101)).ignore();
  EXPECT_EQ(pair.end(pair.b).cause, EndCause::kProtocolError);
  EXPECT_EQ(pair.end(pair.a).cause, EndCause::kReset);
}

TEST(ConnectionTest, ClosingEndsInTimeWhereTheOtherEndDoesNotAnswer) {
  Simulation sim(3);
  Pair pair(sim, {}, {});
  Promise<void> never;
  pair.b->set_sink([wait = never.future()](const Frame&) { return wait; });
  pair.a->send(numbered(0)).ignore();
  const TimePoint before = sim.now();
  EXPECT_TRUE(sim.run(pair.a->close("")).has_value());
  EXPECT_GE(sim.now() - before, std::chrono::seconds(1));
  never.set_value();
  EXPECT_EQ(pair.end(pair.b).cause, EndCause::kClosedThere) << "its goodbye came all the same";
}

// A process that is stopped: it has said goodbye, reads no more, and its stream does not end.
TEST(ConnectionTest, ClosingEndsInTimeWhereTheAnswerToAGoodbyeIsNotRead) {
  Simulation sim(4);
  SimNetwork network(sim, {.stalls = 0, .most_room = 512});
  const auto here = network.make_transport(::geteuid(), 1);
  const auto there = network.make_transport(::geteuid(), 2);
  Ref<Connection> connection;
  auto listener = here->listen(kAddress, [&](std::unique_ptr<ByteStream> stream) {
    connection = Connection::make(std::move(stream), *here, {});
    connection->start([](const Frame&) -> Future<void> { return {}; });
  });
  auto stopped = sim.run(there->connect(kAddress));
  const Future<void> unsent = connection->send(numbered(0, 10'000));
  const Bytes words = bytes_of("enough");
  const HeaderBytes header = encode_header({.kind = FrameKind::kGoodbye}, words.size());
  for (std::size_t said = 0; said < header.size() + words.size();) {
    const std::size_t of_head = std::min(said, header.size());
    said += (*stopped)
                ->try_write(std::span(header).subspan(of_head),
                            std::span(words).subspan(said - of_head))
                .value();
  }
  sim.run_for(std::chrono::milliseconds(100));
  const Future<void> closed = connection->close("");
  sim.run_for(std::chrono::seconds(2));
  EXPECT_TRUE(closed.ready());
  stopped->reset();
  const ConnectionEnd end = sim.run(connection->end()).value();
  EXPECT_EQ(end.cause, EndCause::kClosedThere);
  EXPECT_EQ(end.words, "enough");
  EXPECT_EQ(sim.run(unsent).error().code(), ErrorCode::kUnavailable);
}

TEST(ConnectionTest, NothingIsCalledAfterTheEnd) {
  for_each_seed(50, [](Simulation& sim) {  // CN-5
    Pair pair(sim);
    bool ended = false;
    auto told =
        pair.b->end().then(inline_executor(), [&](const Result<ConnectionEnd>&) { ended = true; });
    pair.b->set_sink([&](const Frame&) -> Future<void> {
      EXPECT_FALSE(ended);
      return {};
    });
    for (std::uint64_t i = 0; i < 30; ++i) pair.a->send(numbered(i, 500)).ignore();
    sim.run_for(std::chrono::microseconds(sim.below(5000)));
    pair.b->abandon("killed");
    EXPECT_EQ(pair.end(pair.b).cause, EndCause::kAbandoned);
    EXPECT_EQ(pair.end(pair.a).cause, EndCause::kReset);
    EXPECT_TRUE(told.ready());
  });
}

}  // namespace
}  // namespace millrace::net
