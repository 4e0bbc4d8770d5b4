// A flooded actor keeps memory flat while its senders wait: 111,660 messages of 4 KiB, 436 MiB in
// all, to an actor that is blocked. What is measured is everything that the allocator has handed
// out, not the messages alone. (Senders on threads: actor_stress_test.cc.)
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/core/async/coroutine.h"
#include "tests/support/allocation_count.h"
#include "tests/support/simulation.h"

#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

using millrace::testing::Simulation;

constexpr int kMessages = 111'660;
constexpr std::size_t kMessageBytes = 4096;
constexpr std::size_t kMiB = std::size_t{1} << 20;

// Counts the whole process, free lists of the pool included.
std::size_t allocated_bytes() {
#if defined(__GLIBC__)
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

struct BlockUntil {
  Future<void> until;
};
struct Flood {
  std::unique_ptr<std::array<char, kMessageBytes>> payload =
      std::make_unique<std::array<char, kMessageBytes>>();
  std::size_t bytes() const { return sizeof(Flood) + kMessageBytes; }
};

class Sink final : public Actor {
 public:
  explicit Sink(std::size_t* peak) : peak_(peak) {}
  Future<void> on(const BlockUntil& block) { return block.until; }
  void on(const Flood&) {
    if (++received % 16 == 0) *peak_ = std::max(*peak_, allocated_bytes());
  }
  Result<int> on(const int&) { return received; }

 private:
  std::size_t* const peak_;
  int received = 0;
};

Task<void> send(ActorRef<Sink> sink, int messages) {
  for (int i = 0; i < messages; ++i) {
    const Future<void> told = sink.tell(Flood{});
    if (Status status = co_await told; !status) co_await end_with(status.error());
  }
}

class FloodTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!millrace::testing::kAllocationsCountable || allocated_bytes() == 0) {
      GTEST_SKIP() << "the sanitizer's allocator counts for itself";
    }
  }
};

TEST_F(FloodTest, SendersThatWaitKeepMemoryFlat) {
  constexpr int kSenders = 60;
  Simulation sim(7);
  std::size_t peak = 0;
  Promise<void> blocked;
  auto sink = sim.actors().spawn<Sink>("sink", {.mailbox_bytes = kMiB}, &peak).value();
  sink.tell(BlockUntil{blocked.future()}).ignore();
  sim.run_until_idle();
  const std::size_t before = allocated_bytes();
  std::vector<Future<void>> senders;
  for (int s = 0; s < kSenders; ++s)
    senders.push_back(spawn(sim.executor(), send(sink, kMessages / kSenders)));
  sim.run_until_idle();
  // Every sender stands, with one message each; the mailbox is full and no fuller.
  const ActorSnapshot full = sim.actors().snapshot()[0];
  EXPECT_LE(full.bytes, kMiB);
  EXPECT_GE(full.bytes, kMiB - 2 * kMessageBytes);
  EXPECT_EQ(full.waiting_bytes / kMessageBytes, static_cast<std::size_t>(kSenders));
  for (const Future<void>& sender : senders) EXPECT_FALSE(sender.ready());
  EXPECT_LE(allocated_bytes() - before, 2 * kMiB);
  blocked.set_value();
  for (const Future<void>& sender : senders) EXPECT_TRUE(sim.run(sender));
  EXPECT_EQ(sim.run(sink.ask(0)).value(), kMessages) << "all have arrived";
  EXPECT_LE(peak - before, 2 * kMiB) << "at no time more";
  sim.finish();
}

// The mailbox, and the line outside that is for senders who do not look at their futures.
TEST_F(FloodTest, ASenderThatNeverWaitsIsRefusedBeyondTheLine) {
  Simulation sim(7);
  std::size_t peak = 0;
  Promise<void> blocked;
  const ActorOptions options{.mailbox_bytes = kMiB, .waiting_bytes = 4 * kMiB};
  auto sink = sim.actors().spawn<Sink>("sink", options, &peak).value();
  sink.tell(BlockUntil{blocked.future()}).ignore();
  sim.run_until_idle();
  const std::size_t before = allocated_bytes();
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < kMessages; ++i) {
    const Future<void> told = sink.tell(Flood{});
    told.ignore();
    if (told.ready() && !told.result()) {
      EXPECT_EQ(told.result().error().code(), ErrorCode::kResourceExhausted);
      ++refused;
    } else {
      ++accepted;
    }
    if (i % 16 == 0) peak = std::max(peak, allocated_bytes());
  }
  EXPECT_LE(static_cast<std::size_t>(accepted), 5 * kMiB / kMessageBytes + 2);
  EXPECT_EQ(accepted + refused, kMessages);
  EXPECT_LE(peak - before, 6 * kMiB);
  blocked.set_value();
  EXPECT_EQ(sim.run(sink.ask(0)).value(), accepted);
  sim.finish();
}

}  // namespace
}  // namespace millrace::actors
