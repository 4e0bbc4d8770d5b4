// Written against the interface: a backend is one more line in kBackends. Real time and real
// descriptors, as waiting for the operating system is what a loop is for; nothing sleeps, and no
// test depends on how long.
#include "millrace/core/loop/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/loop/event_loop_thread.h"

namespace millrace {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct Backend {
  const char* name;
  Result<std::unique_ptr<EventLoop>> (*create)();
  std::unique_ptr<EventLoop> make() const { return create().value(); }
};
const Backend kBackends[] = {
    {"Uv", [] { return create_uv_event_loop(); }},
    {"Libevent", [] { return create_libevent_event_loop(); }},
};

class EventLoopTest : public ::testing::TestWithParam<Backend> {
 protected:
  std::unique_ptr<EventLoop> loop = GetParam().make();

  // Runs the loop until future is complete.
  template <class T>
  Result<T> run_until(const Future<T>& future) {
    auto end = future.then(*loop, [this](Result<T>) { loop->stop(); });
    loop->run();
    return future.take();
  }
};
using EventLoopStressTest = EventLoopTest;

std::string backend_name(const ::testing::TestParamInfo<Backend>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Backends, EventLoopTest, ::testing::ValuesIn(kBackends), backend_name);
INSTANTIATE_TEST_SUITE_P(Backends, EventLoopStressTest, ::testing::ValuesIn(kBackends),
                         backend_name);

// Two connected descriptors.
struct Pair {
  int ours = -1, theirs = -1;
  Pair() {
    int both[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
    ours = both[0];
    theirs = both[1];
  }
  ~Pair() {
    ::close(ours);
    if (theirs >= 0) ::close(theirs);
  }
};

// Memory that becomes ready when a test says so, and counts what the loop does.
class TestMemory : public MemoryWatch {
 public:
  explicit TestMemory(EventLoop& loop) : loop_(loop) { loop_.add(*this); }
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;
  virtual ~TestMemory() { loop_.remove(*this); }
  bool ready() const override { return changed; }
  void act() override {
    changed = always;
    ++acts;
    if (on_act) on_act();
  }
  bool may_sleep() override {
    ++asked;
    if (on_asked) on_asked();
    return !changed;
  }

  std::atomic<bool> changed{false};
  bool always = false;
  int acts = 0, asked = 0;
  std::function<void()> on_act, on_asked;

 private:
  EventLoop& loop_;
};

// It has no descriptor: what comes between the last look and the sleep would be lost.
TEST_P(EventLoopTest, MemoryThatChangesBeforeTheSleepIsActedOnWithoutAWakeUp) {
  TestMemory memory(*loop);
  memory.on_asked = [&] { memory.changed = memory.acts == 0; };
  memory.on_act = [&] { loop->stop(); };
  loop->run();
  EXPECT_EQ(memory.acts, 1);
  EXPECT_GE(memory.asked, 1);
}

TEST_P(EventLoopTest, WhatIsPostedWhereMemoryIsActedOnRunsBeforeTheSleep) {
  TestMemory memory(*loop);
  memory.changed = true;
  int asked = -1;
  memory.on_act = [&] {
    post(*loop, [&] {
      asked = memory.asked;
      loop->stop();
    });
  };
  loop->run();
  EXPECT_EQ(asked, 0);
}

TEST_P(EventLoopTest, MemoryIsAskedBeforeEachSleepAndActedOnAfterAWakeUp) {
  TestMemory memory(*loop);
  std::atomic<int> sleeps{0};
  memory.on_asked = [&] { ++sleeps; };
  memory.on_act = [&] { loop->stop(); };
  std::thread other([&] {
    while (sleeps.load() == 0) std::this_thread::yield();
    memory.changed = true;  // and no wake-up: another process would write to a descriptor
    post(*loop, [] {});
  });
  loop->run();
  other.join();
  EXPECT_EQ(memory.acts, 1);
}

TEST_P(EventLoopTest, MemoryThatIsAlwaysReadyHoldsUpNeitherTimersNorDescriptorsNorTheStop) {
  TestMemory memory(*loop);
  memory.always = true;
  memory.changed = true;
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  int left = 2;
  const auto one = [&] {
    if (--left == 0) loop->stop();
  };
  auto readable = watch->wait(kReadable).then(*loop, [&](const Result<unsigned>&) { one(); });
  loop->timers().schedule(steady_clock().now() + milliseconds(2), [&] { one(); });
  memory.on_act = [&] {
    if (memory.acts == 100) {
      EXPECT_EQ(::write(pair.theirs, "x", 1), 1);
    }
  };
  loop->run();
  EXPECT_EQ(left, 0);
}

TEST_P(EventLoopTest, ActingOnMemoryMayEndItAndOthers) {
  auto first = std::make_unique<TestMemory>(*loop), second = std::make_unique<TestMemory>(*loop);
  first->changed = second->changed = true;
  int acts = 0;
  first->on_act = [&] {
    ++acts;
    second.reset();
    loop->stop();
  };
  loop->run();
  EXPECT_EQ(acts, 1);
}

TEST_P(EventLoopTest, PollActsOnMemoryAndAsksNoneToSleep) {
  TestMemory memory(*loop);
  EXPECT_FALSE(loop->poll());
  memory.changed = true;
  EXPECT_TRUE(loop->poll());
  EXPECT_EQ(memory.acts, 1);
  EXPECT_EQ(memory.asked, 0);
}

TEST_P(EventLoopTest, PostedWorkRunsInOrderAndNeverInside) {
  std::vector<int> order;  // EX-1
  for (int i = 0; i < 5; ++i) post(*loop, [&order, i] { order.push_back(i); });
  EXPECT_TRUE(order.empty());
  EXPECT_TRUE(loop->poll());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(loop->poll());
}

TEST_P(EventLoopTest, StopBeforeRunCountsAndRunMayBeCalledAgain) {
  loop->stop();
  loop->run();
  bool ran = false;
  post(*loop, [&] {
    ran = true;
    loop->stop();
  });
  loop->run();
  EXPECT_TRUE(ran);
}

TEST_P(EventLoopTest, StopFromAnotherThreadWakesASleepingLoop) {
  std::thread other;
  post(*loop, [&] { other = std::thread([&] { loop->stop(); }); });
  loop->run();
  other.join();
}

// The loop's own thread wakes nothing: what it posts is found before the sleep, whatever posts it.
TEST_P(EventLoopTest, WhatTheLoopPostsItselfRunsBeforeItSleeps) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  std::vector<std::string> ran;
  post(*loop, [&] {
    post(*loop, [&] {
      ran.emplace_back("posted by work");
      loop->timers().schedule(steady_clock().now() + milliseconds(1), [&] {
        post(*loop, [&] {
          ran.emplace_back("posted by a timer");
          watch->wait(kReadable)
              .then(inline_executor(),
                    [&](const Result<unsigned>&) {
                      post(*loop, [&] {
                        ran.emplace_back("posted by a watch");
                        loop->stop();
                      });
                    })
              .ignore();
          EXPECT_EQ(::write(pair.theirs, "x", 1), 1);
        });
      });
    });
  });
  loop->run();
  EXPECT_EQ(ran,
            (std::vector<std::string>{"posted by work", "posted by a timer", "posted by a watch"}));
}

TEST_P(EventLoopTest, WhatTheLoopPostsAndThenStopsRunsInTheNextRun) {
  bool ran = false;
  post(*loop, [&] {
    loop->stop();
    post(*loop, [&] {
      ran = true;
      loop->stop();
    });
  });
  loop->run();
  if (!ran) loop->run();
  EXPECT_TRUE(ran);
}

TEST_P(EventLoopTest, CloseDropsWhatWasPostedAndWhatComesAfter) {
  Future<int> before = make_ready(1).then(*loop, [](Result<int> r) { return *r; });
  loop->close();
  Future<int> after = make_ready(1).then(*loop, [](Result<int> r) { return *r; });
  EXPECT_EQ(before.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(after.result().error().code(), ErrorCode::kAborted);
}

TEST_P(EventLoopTest, TimersFireInOrderAndNeverEarly) {
  const TimePoint start = steady_clock().now();
  std::vector<int> order;
  bool early = false;
  const auto at = [&](microseconds after, int number) {
    loop->timers().schedule(start + after, [&, after, number] {
      early = early || steady_clock().now() < start + after;
      order.push_back(number);
      if (order.size() == 4) loop->stop();
    });
  };
  at(microseconds(2500), 3);
  at(microseconds(300), 1);  // a fraction of libuv's millisecond
  at(microseconds(2500), 4);
  at(microseconds(0), 0);
  loop->run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 3, 4}));
  EXPECT_FALSE(early);
}

TEST_P(EventLoopTest, EarlierTimerSetMeanwhileComesFirst) {
  const TimePoint start = steady_clock().now();
  std::vector<int> order;
  const auto late =
      loop->timers().schedule(start + std::chrono::hours(1), [&] { order.push_back(2); });
  std::thread other([&] {
    loop->timers().schedule(start + milliseconds(1), [&] {
      order.push_back(1);
      loop->stop();
    });
  });
  loop->run();
  other.join();
  EXPECT_EQ(order, (std::vector<int>{1}));
  EXPECT_TRUE(loop->timers().cancel(late));
}

TEST_P(EventLoopTest, SleepCompletesOnTheLoop) {
  EXPECT_TRUE(run_until(sleep_until(steady_clock().now() + milliseconds(2), loop->timers())));
}

TEST_P(EventLoopTest, ReadableCompletesWhenBytesArrive) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  Future<unsigned> readable = watch->wait(kReadable);
  loop->poll();
  EXPECT_FALSE(readable.ready());
  ASSERT_EQ(::write(pair.theirs, "x", 1), 1);
  EXPECT_EQ(run_until(readable).value(), unsigned{kReadable});
}

TEST_P(EventLoopTest, WritableCompletesAtOnce) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  EXPECT_EQ(run_until(watch->wait(kReadable | kWritable)).value(), unsigned{kWritable});
}

TEST_P(EventLoopTest, HangUpMakesReadable) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  Future<unsigned> readable = watch->wait(kReadable);
  ::close(std::exchange(pair.theirs, -1));
  EXPECT_EQ(run_until(readable).value(), unsigned{kReadable});
}

TEST_P(EventLoopTest, PeerThatOnlySendsNoMoreDoesNotMakeWritable) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  const std::vector<char> block(1 << 16);
  ssize_t sent = 0, full = 0;
  while ((sent = ::write(pair.ours, block.data(), block.size())) > 0) full += sent;
  ::shutdown(pair.theirs, SHUT_WR);
  EXPECT_EQ(run_until(watch->wait(kReadable | kWritable)).value(), unsigned{kReadable});
  Future<unsigned> writable = watch->wait(kWritable);
  for (int i = 0; i < 3; ++i) loop->poll();
  EXPECT_FALSE(writable.ready());
  std::vector<char> read(static_cast<std::size_t>(full));
  for (ssize_t got = 0; full > 0 && (got = ::read(pair.theirs, read.data(), read.size())) > 0;)
    full -= got;
  EXPECT_EQ(run_until(writable).value(), unsigned{kWritable});
}

TEST_P(EventLoopTest, HangUpOfBothDirectionsMakesWritableToo) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  ::close(std::exchange(pair.theirs, -1));
  EXPECT_EQ(run_until(watch->wait(kReadable | kWritable)).value(), unsigned{kReadable | kWritable});
}

TEST_P(EventLoopTest, UnreadBytesMakeEveryWaitComplete) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  ASSERT_EQ(::write(pair.theirs, "x", 1), 1);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run_until(watch->wait(kReadable)).value(), unsigned{kReadable});
}

TEST_P(EventLoopTest, BytesThatComeWhileNothingWaitsAreFoundByTheNextWait) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  char byte = 0;
  for (int i = 0; i < 3; ++i) {
    Future<unsigned> readable = watch->wait(kReadable);
    ASSERT_EQ(::write(pair.theirs, "x", 1), 1);
    EXPECT_EQ(run_until(readable).value(), unsigned{kReadable});
    for (int polls = 0; polls < i; ++polls) loop->poll();  // with the byte unread
    ASSERT_EQ(::read(pair.ours, &byte, 1), 1);
    readable = watch->wait(kReadable);
    for (int polls = 0; polls < 3; ++polls) loop->poll();
    EXPECT_FALSE(readable.ready());
    ASSERT_EQ(::write(pair.theirs, "y", 1), 1);
    EXPECT_EQ(run_until(readable).value(), unsigned{kReadable});
    ASSERT_EQ(::read(pair.ours, &byte, 1), 1);
  }
}

void wait_for_ever(DescriptorWatch& watch, std::atomic<bool>& begun) {
  watch.wait(kReadable)
      .then(inline_executor(),
            [&watch, &begun](const Result<unsigned>& found) {
              begun.store(true);
              if (found) wait_for_ever(watch, begun);
            })
      .ignore();
}

TEST_P(EventLoopTest, AStopIsHeardWhileADescriptorIsAlwaysReady) {
  std::atomic<bool> begun{false};  // outlives the wait, which the watch ends
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  ASSERT_EQ(::write(pair.theirs, "x", 1), 1);
  wait_for_ever(*watch, begun);
  std::jthread stopper([this, &begun] {
    while (!begun.load()) std::this_thread::yield();
    loop->stop();
  });
  loop->run();
}

// A pipe without a reader gives an error with each look.
TEST_P(EventLoopTest, AnErrorMakesEveryWaitComplete) {
  std::array<int, 2> ends = {-1, -1};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  auto watch = loop->watch(ends[1]).value();
  ::close(ends[0]);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run_until(watch->wait(kWritable)).value(), unsigned{kWritable});
    for (int polls = 0; polls < i; ++polls) loop->poll();
  }
  watch.reset();
  ::close(ends[1]);
}

TEST_P(EventLoopTest, SecondWaitOnTheSameWatchIsRefused) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  Future<unsigned> first = watch->wait(kReadable);
  EXPECT_EQ(watch->wait(kReadable).result().error().code(), ErrorCode::kFailedPrecondition);
}

TEST_P(EventLoopTest, DestroyedWatchCancelsItsWait) {
  Pair pair;
  auto watch = loop->watch(pair.ours).value();
  Future<unsigned> readable = watch->wait(kReadable);
  watch.reset();
  EXPECT_EQ(readable.result().error().code(), ErrorCode::kCancelled);
}

TEST_P(EventLoopTest, WhatCannotBeWatchedIsRefused) {
  std::FILE* file = std::tmpfile();
  EXPECT_EQ(loop->watch(fileno(file)).error().code(), ErrorCode::kInvalidArgument);
  std::fclose(file);
  EXPECT_EQ(loop->watch(-1).error().code(), ErrorCode::kInvalidArgument);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_P(EventLoopTest, TooFewDescriptorsAreAnErrorAndNothingIsLeft) {
#ifdef MILLRACE_SANITIZED
  GTEST_SKIP() << "a sanitizer asks the system about addresses through a pipe, and takes it badly "
                  "if there is none";
#endif
  const std::size_t before = open_descriptors();
  const int lowest = ::dup(0);
  ::close(lowest);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  int refused = 0;
  for (int more = 0; more < 16; ++more) {
    rlimit few = old;
    few.rlim_cur = static_cast<rlim_t>(lowest + more);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    Result<std::unique_ptr<EventLoop>> made = GetParam().create();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
    if (!made) {
      ++refused;
      EXPECT_EQ(made.error().code(), ErrorCode::kResourceExhausted);
      EXPECT_NE(made.error().message().find("ulimit -n"), std::string::npos);
    } else {
      made->reset();
    }
    EXPECT_EQ(open_descriptors(), before) << "with " << more << " left";
  }
  EXPECT_GE(refused, 2);
  EXPECT_LE(refused, 12);
}

TEST_P(EventLoopTest, ThreadRunsContinuationsOnItselfUntilClosed) {
  EventLoopThread thread(GetParam().make(), "loop");
  std::thread::id here;
  Future<int> done = make_ready(1).then(thread.loop(), [&](Result<int> r) {
    here = std::this_thread::get_id();
    return *r;
  });
  EXPECT_EQ(wait_blocking(done).value(), 1);
  EXPECT_NE(here, std::this_thread::get_id());
  EXPECT_TRUE(wait_blocking(thread.close()));
  Future<int> late = make_ready(1).then(thread.loop(), [](Result<int> r) { return *r; });
  EXPECT_EQ(late.result().error().code(), ErrorCode::kAborted);
}

TEST_P(EventLoopTest, WhatWaitsLongerThanTheLoopEndsWithAborted) {
  Promise<int> promise;
  Executor& reference = *loop;
  TimerQueue& timers = loop->timers();
  const TimePoint later = steady_clock().now() + std::chrono::hours(1);
  const Future<int> continued = promise.future().then(*loop, [](Result<int> r) { return *r; });
  const Future<void> asleep = sleep_until(later, timers);
  const Future<int> limited = with_deadline(promise.future(), later, timers);
  loop.reset();
  EXPECT_EQ(asleep.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(limited.result().error().code(), ErrorCode::kAborted);
  EXPECT_FALSE(continued.ready());
  promise.set(1);
  EXPECT_EQ(continued.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(sleep_until(later, timers).result().error().code(), ErrorCode::kAborted);
  const Future<void> late = make_ready().then(reference, [](const Status&) {});
  EXPECT_EQ(late.result().error().code(), ErrorCode::kAborted);
}

TEST_P(EventLoopTest, WaitInsideItsRunEndsTheProcessWithASentence) {
  EXPECT_EQ(
      run_until(make_ready(0).then(*loop,
                                   [](Result<int>) {
                                     return wait_blocking(make_ready(1)).value();  // it is there
                                   })),
      1);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const Future<void> never =
            sleep_until(steady_clock().now() + std::chrono::hours(1), loop->timers());
        post(*loop, [&] { static_cast<void>(wait_blocking(never)); });
        loop->run();
      },
      "inside the run\\(\\) of an event loop would stop the loop");
}

TEST_P(EventLoopStressTest, PostsAndTimersThatRaceWithItsEndAreConsumedOnce) {
  for (int round = 0; round < 200; ++round) {
    auto thread = std::make_unique<EventLoopThread>(GetParam().make(), "loop");
    EventLoop& reference = thread->loop();
    std::atomic<int> consumed{0};
    std::atomic<bool> begun{false};
    std::thread other([&] {
      struct Once {
        std::atomic<int>* count;
        explicit Once(std::atomic<int>* c) : count(c) {}
        Once(Once&& from) noexcept : count(std::exchange(from.count, nullptr)) {}
        ~Once() {
          if (count != nullptr) count->fetch_add(1);
        }
      };
      for (int i = 0; i < 50; ++i) {
        post(reference, [once = Once(&consumed)] {});
        reference.timers().schedule(steady_clock().now(), [once = Once(&consumed)] {});
        begun.store(true);
      }
    });
    while (!begun.load()) std::this_thread::yield();
    thread.reset();
    other.join();
    EXPECT_EQ(consumed, 100);
  }
}

TEST_P(EventLoopStressTest, PostStormFromManyThreadsLosesNothing) {
  constexpr int kProducers = 4, kEach = 20000;
  EventLoopThread thread(GetParam().make(), "loop");
  int ran = 0;  // plain: only the loop's thread touches it
  Promise<void> all;
  Future<void> done = all.future();
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        post(thread.loop(), [&] {
          if (++ran == kProducers * kEach) all.set_value();
        });
      }
    });
  }
  for (std::thread& p : producers) p.join();
  EXPECT_TRUE(wait_blocking(done));
  EXPECT_EQ(ran, kProducers * kEach);
}

// Posts work that counts, and waits for it; false: the loop has closed.
bool run_and_wait(EventLoop& loop, int& ran, std::atomic<int>& ran_here) {
  Promise<bool> promise;
  const auto done = completed_on(loop, promise.future());
  post(loop, [&, promise = std::move(promise), caller = std::this_thread::get_id()]() mutable {
    ++ran;
    EXPECT_EQ(running_loop(), &loop);
    if (std::this_thread::get_id() == caller) ran_here.fetch_add(1);
    promise.set(true);
  });
  return wait_blocking(done).has_value();
}

TEST_P(EventLoopStressTest, ThreadsThatWaitForItsWorkRunItOneAtATime) {
  constexpr int kThreads = 3, kEach = 5000;
  EventLoopThread thread(GetParam().make(), "loop");
  EventLoop& loop = thread.loop();
  std::optional<TestMemory> memory;  // where there is none, descriptors are what it looks at
  int ran = 0;                       // plain: only the thread that runs the loop touches it
  post(loop, [&] {
    memory.emplace(loop);
    memory->on_act = [&] { ++ran; };
  });
  std::atomic<int> ran_here{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < kThreads; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) EXPECT_TRUE(run_and_wait(loop, ran, ran_here));
    });
  }
  for (std::thread& caller : callers) caller.join();
  int calls = kThreads * kEach;
  // How often a caller comes before the loop's thread is the system's choice.
  for (; ran_here.load() == 0 && calls < 100 * kThreads * kEach; ++calls)
    EXPECT_TRUE(run_and_wait(loop, ran, ran_here));
  EXPECT_GT(ran_here.load(), 0);
  EXPECT_TRUE(wait_blocking(make_ready(0).then(loop, [&](const Result<int>&) {
    EXPECT_EQ(ran, calls);
    memory.reset();
    return 0;
  })));
}

// Its memory is the parent's too.
TEST_P(EventLoopStressTest, AChildRunsNothingOfItsParentsLoop) {
  EventLoopThread thread(GetParam().make(), "loop");
  EventLoop& loop = thread.loop();
  std::optional<TestMemory> memory;
  post(loop, [&] { memory.emplace(loop); });
  int ran = 0;
  std::atomic<int> ran_here{0};
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(run_and_wait(loop, ran, ran_here));  // it looks for a while
    const pid_t child = ::fork();
    if (child == 0) {
      memory->changed = true;
      ::_exit(loop.run_some() ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(wait_blocking(make_ready(0).then(loop, [&](const Result<int>&) {
    memory.reset();
    return 0;
  })));
}

TEST_P(EventLoopStressTest, AStopEndsALoopThatOtherThreadsRun) {
  for (int round = 0; round < 50; ++round) {
    std::optional<TestMemory> memory;
    auto thread = std::make_unique<EventLoopThread>(GetParam().make(), "loop");
    EventLoop& loop = thread->loop();
    int ran = 0;
    std::atomic<int> ran_here{0}, begun{0};
    post(loop, [&] { memory.emplace(loop); });
    std::vector<std::thread> callers;
    for (int t = 0; t < 2; ++t) {
      callers.emplace_back([&] {
        while (run_and_wait(loop, ran, ran_here)) begun.fetch_add(1);
      });
    }
    while (begun.load() < 2) std::this_thread::yield();
    EXPECT_TRUE(wait_blocking(thread->close()));
    for (std::thread& caller : callers) caller.join();
    memory.reset();
  }
}

TEST_P(EventLoopStressTest, WorkThatRacesWithCloseIsConsumedOnce) {
  for (int round = 0; round < 50; ++round) {
    std::vector<Future<int>> futures(200);
    std::thread producer;
    {
      EventLoopThread thread(GetParam().make(), "loop");
      std::atomic<bool> begun{false};
      producer = std::thread([&] {
        for (auto& f : futures) {
          f = make_ready(1).then(thread.loop(), [](Result<int> r) { return *r; });
          begun.store(true);
        }
      });
      while (!begun.load()) std::this_thread::yield();
      EXPECT_TRUE(wait_blocking(thread.close()));
      producer.join();
    }
    for (auto& f : futures) {
      ASSERT_TRUE(f.ready());
      EXPECT_TRUE(f.result() || f.result().error().code() == ErrorCode::kAborted);
    }
  }
}

TEST_P(EventLoopStressTest, TimersSetAndCancelledFromOtherThreads) {
  EventLoopThread thread(GetParam().make(), "loop");
  TimerQueue& timers = thread.loop().timers();
  std::atomic<int> fired{0}, cancelled{0};
  std::vector<std::thread> setters;
  for (int s = 0; s < 3; ++s) {
    setters.emplace_back([&, s] {
      for (int i = 0; i < 500; ++i) {
        const auto id = timers.schedule(steady_clock().now() + microseconds((i * 7 + s) % 300),
                                        [&] { fired.fetch_add(1); });
        if (i % 2 == 0 && timers.cancel(id)) cancelled.fetch_add(1);
      }
    });
  }
  for (std::thread& s : setters) s.join();
  EXPECT_TRUE(wait_blocking(sleep_until(steady_clock().now() + milliseconds(5), timers)));
  EXPECT_EQ(fired + cancelled, 1500);
}

}  // namespace
}  // namespace millrace
