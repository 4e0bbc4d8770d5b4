#include "millrace/core/net/entrance.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/sim_transport.h"

namespace millrace::net {
namespace {

using testing::for_each_seed;
using testing::SimNetwork;
using testing::Simulation;

constexpr const char* kAddress = "sim:door";

Secret secret_of(int value) {
  Secret secret;
  secret.fill(static_cast<std::byte>(value));
  return secret;
}

// A process with an entrance, which answers each frame with the same; and one that comes.
struct Door {
  explicit Door(Simulation& sim, EntranceOptions options = {.secret = secret_of(1), .job = "job"})
      : sim(sim),
        network(sim, {.stalls = 0}),
        here(network.make_transport(::geteuid(), 1)),
        there(network.make_transport(::geteuid(), 2)) {
    entrance = Entrance::open(*here, kAddress, std::move(options),
                              [this](const Ref<Connection>& connection) -> FrameSink {
                                members.push_back(connection);
                                return [connection = connection.get()](Frame frame) {
                                  return connection->send(std::move(frame));
                                };
                              })
                   .value();
  }
  Result<Ref<Connection>> come(EnterOptions options, CallOptions call = {}) {
    return sim.run(enter(
        *there, kAddress, std::move(options),
        [this](const Ref<Connection>&) -> FrameSink {
          return [this](const Frame&) -> Future<void> {
            ++answers;
            return {};
          };
        },
        call));
  }
  // A stranger that says these bytes, and holds the stream.
  std::unique_ptr<ByteStream> stranger(std::string_view says) {
    auto stream = sim.run(there->connect(kAddress)).value();
    for (std::string_view left = says; !left.empty();) {
      const auto taken =
          stream->try_write({}, {reinterpret_cast<const std::byte*>(left.data()), left.size()});
      if (!taken) break;
      left.remove_prefix(*taken);
      if (*taken == 0) static_cast<void>(sim.run(stream->wait_writable()));
    }
    return stream;
  }
  void close() {
    for (const Ref<Connection>& member : members)
      EXPECT_TRUE(sim.run(member->close("")).has_value());
    EXPECT_TRUE(sim.run(entrance->close()).has_value());
    sim.run_for(std::chrono::seconds(10));
  }

  Simulation& sim;
  SimNetwork network;
  std::unique_ptr<Transport> here, there;
  Ref<Entrance> entrance;
  std::vector<Ref<Connection>> members;
  int answers = 0;
};

EnterOptions member(std::uint32_t rank = 5) {
  return {.secret = secret_of(1), .job = "job", .self = {.rank = rank}};
}

TEST(EntranceTest, AMemberComesInAndTalks) {
  for_each_seed(100, [](Simulation& sim) {
    Door door(sim);
    const auto come = door.come(member());
    ASSERT_TRUE(come.has_value());
    EXPECT_TRUE(sim.run((*come)->send({{.kind = FrameKind::kFirstOfUsers}, Bytes(5000)})));
    sim.run_for(std::chrono::seconds(30));
    EXPECT_EQ(door.answers, 1);
    EXPECT_EQ(door.members.at(0)->identity()->rank, 5u);
    EXPECT_EQ(door.entrance->counts().admitted, 1u);
    EXPECT_EQ(door.entrance->counts().refused(), 0u);
    door.close();
    EXPECT_EQ(sim.run((*come)->end()).value().cause, EndCause::kClosedThere);
  });
}

TEST(EntranceTest, AnotherSecretOrJobIsRefusedAndCounted) {
  for_each_seed(50, [](Simulation& sim) {
    Door door(sim);
    EnterOptions wrong = member();
    wrong.secret = secret_of(2);
    auto come = door.come(wrong);
    ASSERT_FALSE(come.has_value());
    EXPECT_EQ(*come.error().detail<HandshakeFault>(), HandshakeFault::kProof);
    wrong = member();
    wrong.job = "other";
    come = door.come(wrong);
    ASSERT_FALSE(come.has_value());
    EXPECT_EQ(*come.error().detail<HandshakeFault>(), HandshakeFault::kRefused);
    sim.run_for(std::chrono::seconds(10));
    // A connector that finds an acceptor without the secret ends without a proof.
    EXPECT_EQ(door.entrance->counts().no_proof, 1u);
    EXPECT_EQ(door.entrance->counts().left, 1u);
    door.close();
  });
}

TEST(EntranceTest, GarbageHttpAndSilenceAreCountedAndDisturbNoMember) {
  for_each_seed(50, [](Simulation& sim) {
    Door door(sim);
    const auto come = door.come(member());
    ASSERT_TRUE(come.has_value());
    std::vector<std::unique_ptr<ByteStream>> strangers;
    strangers.push_back(door.stranger(
        "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl\r\nAccept: */*\r\nX: 12345678\r\n"));
    strangers.push_back(door.stranger(std::string(300, 'x')));
    strangers.push_back(door.stranger("MRF1"));
    for (int i = 0; i < 100; ++i) strangers.push_back(door.stranger(""));
    EXPECT_TRUE(sim.run((*come)->send({{.kind = FrameKind::kFirstOfUsers}, {}})));
    EXPECT_TRUE(door.come(member(6)).has_value()) << "there is a place, the oldest goes";
    sim.run_for(std::chrono::seconds(10));
    EXPECT_EQ(door.answers, 1);
    const EntranceCounts& counts = door.entrance->counts();
    EXPECT_EQ(counts.came, 105u);
    EXPECT_EQ(counts.admitted, 2u);
    EXPECT_EQ(counts.refused(), 103u);
    EXPECT_GE(counts.garbage, 1u);
    EXPECT_GE(counts.crowded, 1u);
    EXPECT_GE(counts.silent, 1u);
    door.close();
  });
}

TEST(EntranceTest, WithoutASecretTheUidDecides) {
  for_each_seed(20, [](Simulation& sim) {
    Door door(sim, {});
    const auto come = door.come({});
    ASSERT_TRUE(come.has_value());
    door.there = door.network.make_transport(::geteuid() + 1, 3);
    const auto other = door.come({});
    if (other.has_value()) {
      EXPECT_EQ(sim.run((*other)->end()).value().cause, EndCause::kReset) << "it is cut off";
    }
    EXPECT_EQ(door.entrance->counts().other_user, 1u);
    EXPECT_EQ(door.entrance->counts().admitted, 1u);
    door.close();
    EXPECT_EQ(sim.run((*come)->end()).value().cause, EndCause::kClosedThere);
  });
}

TEST(EntranceTest, EnteringEndsByStopDeadlineAndPatience) {
  Simulation sim(7);
  SimNetwork network(sim);
  const auto here = network.make_transport(::geteuid(), 1);
  std::vector<std::unique_ptr<ByteStream>> mute;
  auto listener = here->listen(kAddress, [&](auto stream) { mute.push_back(std::move(stream)); });
  const auto code = [&](CallOptions call, std::stop_source* stop = nullptr) {
    auto entered = enter(*here, kAddress, member(), {}, std::move(call));
    sim.run_for(std::chrono::milliseconds(50));
    if (stop != nullptr) stop->request_stop();
    return sim.run(entered).error().code();
  };
  EXPECT_EQ(code({}), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(code({.deadline = sim.now() + std::chrono::milliseconds(90)}),
            ErrorCode::kDeadlineExceeded);
  std::stop_source stop;
  EXPECT_EQ(code({.stop = stop.get_token()}, &stop), ErrorCode::kCancelled);
  listener->reset();
  EXPECT_EQ(code({}), ErrorCode::kUnavailable);
}

TEST(EntranceTest, ClosingEndsStrangersAndLeavesMembers) {
  for_each_seed(50, [](Simulation& sim) {
    Door door(sim);
    const auto come = door.come(member());
    ASSERT_TRUE(come.has_value());
    const auto mute = door.stranger("");
    EXPECT_TRUE(sim.run(door.entrance->close()).has_value());
    EXPECT_TRUE(sim.run((*come)->send({{.kind = FrameKind::kFirstOfUsers}, {}})));
    sim.run_for(std::chrono::seconds(5));
    EXPECT_EQ(door.answers, 1);
    EXPECT_EQ(door.come(member()).error().code(), ErrorCode::kUnavailable);
    door.close();
  });
}

}  // namespace
}  // namespace millrace::net
