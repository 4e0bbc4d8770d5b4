// Casts over jobs of up to 80 processes, in simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/actors/remote/remote_job.h"

namespace millrace::actors {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::seconds;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT(google-build-using-namespace): the actors of remote_job.h

void spawn_all(RemoteJob& job, std::uint32_t size) {
  for (std::uint32_t rank = 0; rank < size; ++rank) job.spawn<Store>(rank, "store", {}, rank);
}
std::vector<std::string> names(std::uint32_t size) {
  std::vector<std::string> all;
  for (std::uint32_t rank = 0; rank < size; ++rank) all.push_back(std::to_string(rank));
  return all;
}

TEST(CastTest, AnswersOfAllRanksAreReducedInTheirOrder) {
  for_each_seed(40, [](Simulation& sim) {  // CS-1
    const auto size = static_cast<std::uint32_t>(1 + sim.below(sim.chance(0.1) ? 80 : 20));
    RemoteJob job(sim, size);
    spawn_all(job, size);
    const auto caller = static_cast<std::uint32_t>(sim.below(size));
    EXPECT_EQ(job.run(job.remote(caller).cast<Store>("store", Sum{})).value(),
              std::int64_t{size} * (size - 1) / 2);
    EXPECT_EQ(job.run(job.remote(caller).cast<Store>("store", Names{})).value(), names(size));
    EXPECT_TRUE(job.run(job.remote(caller).cast<Store>("store", Put{"x", 1})).has_value())
        << "answers without a value need no reduction";
    job.close_all();
  });
}

TEST(CastTest, SomeRanksAloneAreAsked) {
  Simulation sim(1);
  RemoteJob job(sim, 12);
  spawn_all(job, 12);
  const CastRanks some = CastRanks::of({11, 2, 3, 7});
  EXPECT_EQ(job.run(job.remote(5).cast<Store>("store", Names{}, some)).value(),
            (std::vector<std::string>{"2", "3", "7", "11"}));
  EXPECT_EQ(
      job.run(job.remote(0).cast<Store>("store", Names{}, CastRanks::of({12}))).error().code(),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(job.run(job.remote(0).cast<Store>("store", Names{}, CastRanks())).error().code(),
            ErrorCode::kInvalidArgument);
  job.close_all();
}

TEST(CastTest, ARankWithoutTheActorOrWithAnErrorIsNamed) {
  for_each_seed(30, [](Simulation& sim) {  // CS-2
    RemoteJob job(sim, 20);
    const auto missing = static_cast<std::uint32_t>(sim.below(20));
    const auto caller = static_cast<std::uint32_t>(sim.below(20));
    const bool fails = sim.chance(0.5);
    for (std::uint32_t rank = 0; rank < 20; ++rank)
      if (fails || rank != missing)
        job.spawn<Store>(rank, "store", {}, rank == missing ? std::int64_t{-1} : rank);
    const Error error = job.run(job.remote(caller).cast<Store>("store", Sum{})).error();
    EXPECT_EQ(error.code(), fails ? ErrorCode::kOutOfRange : ErrorCode::kNotFound)
        << error.to_string();
    EXPECT_EQ(error.detail<net::JobMember>()->rank, missing) << error.to_string();
    EXPECT_THAT(error.message(), HasSubstr("rank " + std::to_string(missing) + " (host node-"));
    job.close_all();
  });
}

TEST(CastTest, ALostRankIsNamedAndASilentOneAtTheDeadline) {
  for_each_seed(30, [](Simulation& sim) {  // CS-2
    constexpr std::uint32_t kSize = 30;
    RemoteJob job(sim, kSize);
    const auto victim = static_cast<std::uint32_t>(1 + sim.below(kSize - 1));
    const bool lost = sim.chance(0.5);
    Promise<void> go;
    for (std::uint32_t rank = 0; rank < kSize; ++rank)
      job.spawn<Store>(rank, "store", {}, rank, ActorRef<Keeper>(),
                       rank == victim ? go.future() : make_ready());
    const CallOptions options{.deadline = sim.now() + seconds(5)};
    const Future<void> all = job.remote(0).cast<Store>("store", Block{}, options);
    if (lost) {
      sim.run_for(std::chrono::milliseconds(sim.below(100)));
      for (std::uint32_t rank = 0; rank < kSize; ++rank)
        job.mesh(rank).declare_lost(victim, Error(ErrorCode::kUnavailable, "killed by signal 9"));
    }
    const Error error = job.run(all).error();
    EXPECT_LE(sim.now(), options.deadline);
    if (lost) {
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.to_string();
    } else {
      EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded) << error.to_string();
    }
    EXPECT_THAT(error.message(), HasSubstr("rank " + std::to_string(victim)));
    go.set_value();
    sim.run_for(seconds(1));
    job.close_all();
  });
}

TEST(CastTest, AFloodWaitsAndOtherActorsAreReached) {
  for_each_seed(5, [](Simulation& sim) {
    constexpr std::size_t kMailbox = 200'000, kLoad = 100'000, kCount = 100;
    RemoteJob job(sim, 2, {.stalls = 0, .most_room = 1 << 20});
    Promise<void> go;
    job.spawn<Store>(1, "slow", {.mailbox_bytes = kMailbox}, 0, ActorRef<Keeper>(), go.future());
    job.spawn<Store>(1, "other", {}, 5);
    const auto other = job.find<Store>(0, 1, "other");
    const Future<void> blocked = job.find<Store>(0, 1, "slow").ask(Block{});
    const CastRanks there = CastRanks::of({1});
    std::vector<Future<void>> casts;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const Append append{i, std::vector<std::byte>(kLoad)};
      casts.push_back(job.remote(0).cast<Store>("slow", append, there));
    }
    sim.run_for(seconds(1));
    const CallOptions soon{.deadline = sim.now() + seconds(1)};
    EXPECT_EQ(job.run(other.ask(Sum{}, soon)).value_or(0), 5);
    EXPECT_EQ(job.run(job.remote(0).cast<Store>("other", Sum{}, there, soon)).value_or(0), 5);
    EXPECT_LE(job.remote(0).load(1).under_way_bytes, LinkBudget().most_of_actor + 2 * kLoad);
    std::stop_source stop;
    const Future<void> stopped = job.remote(0).cast<Store>("slow", Append{kCount, {}}, there,
                                                           CallOptions{.stop = stop.get_token()});
    stop.request_stop();
    EXPECT_EQ(job.run(stopped).error().code(), ErrorCode::kCancelled);
    go.set_value();
    for (const auto& one : casts) EXPECT_TRUE(job.run(one).has_value());
    EXPECT_TRUE(job.run(blocked).has_value());
    const auto numbers = job.run(job.find<Store>(0, 1, "slow").ask(Numbers{})).value();
    ASSERT_EQ(numbers.size(), kCount) << "one was withdrawn here";
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    EXPECT_EQ(job.remote(0).load(1).waiting_bytes, 0U);
    job.close_all();
  });
}

TEST(CastTest, ACastThatHasEndedHoldsNoRoomOfTheLink) {
  for_each_seed(10, [](Simulation& sim) {
    RemoteJob job(sim, 2);
    Promise<void> go;
    job.spawn<Store>(1, "store", {}, 1);
    job.spawn<Store>(1, "slow", {.mailbox_bytes = 1000}, 0, ActorRef<Keeper>(), go.future());
    const Future<void> blocked = job.find<Store>(0, 1, "slow").ask(Block{});
    const CastRanks there = CastRanks::of({1});
    // Answered, refused, and stopped while they wait for room in the mailbox.
    std::stop_source stop;
    std::vector<Future<void>> stopped;
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(job.run(job.remote(0).cast<Store>("store", Sum{}, there)).value(), 1);
      const auto missing = job.remote(0).cast<Store>("no " + std::to_string(i), Sum{}, there);
      EXPECT_EQ(job.run(missing).error().code(), ErrorCode::kNotFound);
      const Append append{static_cast<std::uint64_t>(i), std::vector<std::byte>(700)};
      stopped.push_back(
          job.remote(0).cast<Store>("slow", append, there, CallOptions{.stop = stop.get_token()}));
    }
    sim.run_for(seconds(1));
    stop.request_stop();
    for (const auto& one : stopped) EXPECT_EQ(job.run(one).error().code(), ErrorCode::kCancelled);
    go.set_value();
    EXPECT_TRUE(job.run(blocked).has_value());
    sim.run_for(seconds(1));
    EXPECT_EQ(job.remote(0).load(1).under_way_bytes, 0U);
    EXPECT_EQ(job.remote(0).load(1).waiting_bytes, 0U);
    job.close_all();
  });
}

TEST(CastTest, AStoppedCastLeavesNothing) {
  for_each_seed(20, [](Simulation& sim) {
    RemoteJob job(sim, 10);
    Promise<void> go;
    for (std::uint32_t rank = 0; rank < 10; ++rank)
      job.spawn<Store>(rank, "store", {}, rank, ActorRef<Keeper>(), go.future());
    std::stop_source stop;
    const Future<void> all =
        job.remote(3).cast<Store>("store", Block{}, CallOptions{.stop = stop.get_token()});
    sim.run_for(std::chrono::milliseconds(sim.below(10)));
    stop.request_stop();
    EXPECT_EQ(job.run(all).error().code(), ErrorCode::kCancelled);
    go.set_value();
    sim.run_for(seconds(1));
    EXPECT_EQ(job.run(job.remote(3).cast<Store>("store", Sum{})).value(), 45);
    job.close_all();
  });
}

}  // namespace
}  // namespace millrace::actors
