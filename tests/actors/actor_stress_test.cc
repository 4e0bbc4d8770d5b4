// Actors on real threads: what a serial executor cannot show are the races between senders, slices
// and ends.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"

#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

#if defined(MILLRACE_SANITIZED)
constexpr int kScale = 10;
#else
constexpr int kScale = 1;
#endif

// Real threads and real time around one system.
class ActorStressTest : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_TRUE(wait_blocking(system_.close()).has_value());
    EXPECT_EQ(timers_.pending(), 0u);
    EXPECT_TRUE(wait_blocking(executor_->close()).has_value());
  }

  TimerQueue timers_{steady_clock()};
  std::unique_ptr<PoolExecutor> executor_ = make_executor(ExecutorBackend::kThreads, 4, "stress");
  ActorSystem system_{Environment{&steady_clock(), &timers_, executor_.get(), executor_.get()},
                      ActorSystemOptions{.slice_messages = 8}};
};

struct Numbered {
  int sender;
  int number;
};
struct Count {};
class Order : public Actor {
 public:
  void on(const Numbered& message) {
    EXPECT_FALSE(std::exchange(busy_, true)) << "AC-1";
    EXPECT_EQ(message.number, next_[message.sender]++);
    ++count_;
    busy_ = false;
  }
  Result<int> on(const Count&) { return count_; }

 private:
  bool busy_ = false;
  int count_ = 0;
  std::array<int, 4> next_{};
};

TEST_F(ActorStressTest, FanInKeepsTheOrderOfEverySender) {
  constexpr int kEach = 100'000 / kScale;
  auto order = system_.spawn<Order>("order", {.mailbox_bytes = 64 << 10}).value();
  std::vector<std::thread> senders;
  for (int s = 0; s < 4; ++s) {
    senders.emplace_back([&order, s] {
      for (int i = 0; i < kEach; ++i) {
        const Future<void> told = order.tell(Numbered{s, i});
        if (!told.ready()) {
          EXPECT_TRUE(wait_blocking(told).has_value());
        }
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(wait_blocking(order.ask(Count{})).value(), 4 * kEach);
}

struct Work3ms {};
struct TellSince {};
class Timed : public Actor {
 public:
  explicit Timed(const ActorSystem& system) : system_(system) {}
  void on(const Work3ms&) {
    const TimePoint until = steady_clock().now() + std::chrono::milliseconds(3);
    while (steady_clock().now() < until) {
    }
    ended_ = steady_clock().now();
  }
  // How long after the end of the handler before this one has begun.
  Result<Duration> on(const TellSince&) { return system_.snapshot().at(0).handler.since - ended_; }

 private:
  const ActorSystem& system_;
  TimePoint ended_{};
};

// Most of the second handlers begin in the slice of the first: their time is not the slice's.
TEST_F(ActorStressTest, AHandlerThatFollowsALongOneIsTimedFromItsOwnBeginning) {
  auto timed = system_.spawn<Timed>("timed", {}, system_).value();
  for (int i = 0; i < 20; ++i) {
    const Future<void> told = timed.tell(Work3ms{});
    const Future<Duration> asked = timed.ask(TellSince{});
    EXPECT_TRUE(wait_blocking(told));
    EXPECT_GE(wait_blocking(asked).value(), -std::chrono::microseconds(100));
  }
}

std::atomic<std::int64_t> payloads_alive{0};
std::atomic<std::int64_t> payloads_most{0};
struct Payload {
  Payload() {
    const std::int64_t alive = payloads_alive.fetch_add(1) + 1;
    std::int64_t most = payloads_most.load();
    while (alive > most && !payloads_most.compare_exchange_weak(most, alive)) {
    }
  }
  ~Payload() { payloads_alive.fetch_sub(1); }
  std::array<char, 4096> bytes{};
};
struct Flood {
  std::unique_ptr<Payload> payload = std::make_unique<Payload>();
  std::size_t bytes() const { return sizeof(Flood) + sizeof(Payload); }
};
struct BlockUntil {
  Future<void> until;
};
class Sink : public Actor {
 public:
  void on(const Flood&) { ++count_; }
  Future<void> on(const BlockUntil& block) { return block.until; }
  Result<int> on(const Count&) { return count_; }

 private:
  int count_ = 0;
};

TEST_F(ActorStressTest, AFloodOfABlockedActorWaitsInBoundedMemory) {
  constexpr int kMessages = 111'660 / kScale / 4 * 4;
  constexpr std::size_t kMailboxBytes = 1 << 20;
  payloads_most = 0;
  auto sink = system_.spawn<Sink>("sink", {.mailbox_bytes = kMailboxBytes}).value();
  Promise<void> blocked;
  auto block = sink.ask(BlockUntil{blocked.future()});
  std::atomic<int> refused{0};
  std::vector<std::thread> senders;
  for (int s = 0; s < 4; ++s) {
    senders.emplace_back([&] {
      for (int i = 0; i < kMessages / 4; ++i) {
        if (!wait_blocking(sink.tell(Flood{})).has_value()) refused.fetch_add(1);
      }
    });
  }
  // The senders come to rest: the mailbox is full and each of the four holds one message.
  const auto full = [&] { return system_.snapshot()[0].waiting_bytes >= 4 * sizeof(Payload); };
  while (!full()) std::this_thread::yield();
  EXPECT_LE(system_.snapshot()[0].bytes, kMailboxBytes);
  blocked.set_value();
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(wait_blocking(sink.ask(Count{})).value(), kMessages);
  EXPECT_EQ(refused.load(), 0);
  // What is queued, what waits, and what is being made or destroyed.
  EXPECT_LE(payloads_most.load(), static_cast<std::int64_t>(kMailboxBytes / sizeof(Payload)) + 9);
}

TEST_F(ActorStressTest, ACloseDuringAFloodAnswersEverySenderAndLosesNoPayload) {
  for (int round = 0; round < 100 / kScale; ++round) {
    auto sink = system_.spawn<Sink>("sink", {.mailbox_bytes = 64 << 10}).value();
    std::atomic<bool> gone{false};
    std::vector<std::thread> senders;
    for (int s = 0; s < 3; ++s) {
      senders.emplace_back([&] {
        while (!gone.load()) {
          const Status told = wait_blocking(sink.tell(Flood{}));
          if (!told) {
            EXPECT_EQ(told.error().code(), ErrorCode::kUnavailable);
            gone.store(true);
          }
        }
      });
    }
    if (round % 2 == 0) {
      while (wait_blocking(sink.ask(Count{})).value() < round) std::this_thread::yield();
    }
    const auto down = sink.stop(round % 3 == 0 ? StopMode::kDrain : StopMode::kNow);
    EXPECT_EQ(wait_blocking(down).value().exit.reason, ExitReason::kStopped);
    for (std::thread& sender : senders) sender.join();
  }
  EXPECT_TRUE(wait_blocking(system_.close()).has_value());
  EXPECT_EQ(payloads_alive.load(), 0);
}

struct Question {
  int number;
};
struct Deferred {
  int number;
};
struct Overlapping {
  static constexpr bool kConcurrent = true;
  int number;
};
struct Hand {
  int number;
  Reply<int> reply;
};
struct Die {};

class Helper : public Actor {
 public:
  void on(Hand&& hand) {
    if (hand.number % 7 != 0) hand.reply.set(hand.number);  // the others fall
  }
};

class Mortal : public Actor {
 public:
  Mortal(Executor& pool, ActorRef<Helper> helper) : pool_(pool), helper_(std::move(helper)) {}
  Result<int> on(const Question& question) { return question.number; }
  Future<int> on(Overlapping&& question) {
    Future<int> later = make_ready(question.number).then(pool_, [](Result<int> n) { return n; });
    return later.then(context().executor(), [this](Result<int> n) {
      EXPECT_FALSE(std::exchange(busy_, true)) << "a turn beside a turn (AC-1)";
      ++turns_;
      busy_ = false;
      return n;
    });
  }
  void on(Deferred&& question, Reply<int> reply) {
    helper_.tell(Hand{question.number, std::move(reply)}).cell()->ignore_error();
  }
  void on(const Die&) { context().fail(Error(ErrorCode::kInternal, "asked to die")); }

 private:
  Executor& pool_;
  ActorRef<Helper> helper_;
  bool busy_ = false;
  int turns_ = 0;
};

TEST_F(ActorStressTest, AsksWhileActorsDieCompleteOnceEach) {
  constexpr int kRounds = 200 / kScale;
  constexpr int kAsks = 60;
  for (int round = 0; round < kRounds; ++round) {
    auto helper = system_.spawn<Helper>("helper", {}).value();
    auto mortal =
        system_.spawn<Mortal>("mortal", {.mailbox_bytes = 4096}, *executor_, helper).value();
    std::atomic<int> answers{0};
    std::atomic<int> errors{0};
    std::vector<std::thread> askers;
    for (int s = 0; s < 3; ++s) {
      askers.emplace_back([&, s] {
        std::vector<Future<int>> asked;
        for (int i = 0; i < kAsks; ++i) {
          if (i % 3 == 0) asked.push_back(mortal.ask(Question{i}));
          if (i % 3 == 1) asked.push_back(mortal.ask(Deferred{i}));
          if (i % 3 == 2) asked.push_back(mortal.ask(Overlapping{i}));
        }
        if (s == round % 3) mortal.tell(Die{}).cell()->ignore_error();
        for (int i = 0; i < kAsks; ++i) {
          const Result<int> answer = wait_blocking(asked[i]);  // a lost reply hangs here
          if (answer) {
            EXPECT_EQ(*answer, i);
          }
          (answer ? answers : errors).fetch_add(1);
        }
      });
    }
    if (round % 4 == 0) (void)helper.kill(Error(ErrorCode::kInternal, "test"));
    for (std::thread& asker : askers) asker.join();
    EXPECT_EQ(answers.load() + errors.load(), 3 * kAsks);
    EXPECT_TRUE(wait_blocking(mortal.down()).has_value());
    EXPECT_TRUE(wait_blocking(helper.stop()).has_value());
  }
}

TEST_F(ActorStressTest, ALostExecutorEndsActorsThatRunAndSleep) {
  for (int round = 0; round < 50 / kScale; ++round) {
    auto pool = make_executor(ExecutorBackend::kThreads, 2, "lost");
    auto sink =
        system_.spawn<Sink>("sink", {.mailbox_bytes = 8192, .executor = pool.get()}).value();
    std::thread sender([&] {
      while (wait_blocking(sink.tell(Flood{})).has_value()) {
      }
    });
    EXPECT_TRUE(wait_blocking(pool->close()).has_value());
    sender.join();
    EXPECT_EQ(wait_blocking(sink.down()).value().exit.reason, ExitReason::kLost);
  }
}

}  // namespace
}  // namespace millrace::actors
