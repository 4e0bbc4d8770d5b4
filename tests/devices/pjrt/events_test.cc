#include "millrace/devices/pjrt/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "tests/devices/pjrt/fake_plugin.h"
#include "tests/support/logged_words.h"

namespace millrace::devices::pjrt {
namespace {

using testing::FakePlugin;
using ::testing::HasSubstr;

class EventsTest : public ::testing::Test {
 protected:
  Future<void> take(abi::Event* event) {
    return take_event(*plugin_, event, executor_, "PJRT_Test");
  }
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  SerialExecutor executor_{SerialExecutor::InOrder{}};
};

TEST_F(EventsTest, ReadyEventIsAValueAtOnceAndDestroyed) {
  abi::Event* event = FakePlugin::make_event();
  FakePlugin::set_event(event, 0, "");
  const Future<void> future = take(event);
  EXPECT_TRUE(future.ready());
  EXPECT_TRUE(future.result());
  EXPECT_EQ(FakePlugin::events_alive, 0);
}

TEST_F(EventsTest, ReadyEventWithAnErrorGivesIt) {
  abi::Event* event = FakePlugin::make_event();
  FakePlugin::set_event(event, 15, "bits are gone");
  const Future<void> future = take(event);
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.result().error().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(future.result().error().message(), "PJRT_Test of the plugin fake.so: bits are gone");
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

// Who waits is woken at once; what runs code of others does not run on the plugin's thread.
TEST_F(EventsTest, LaterEventCompletesThereAndItsContinuationsOnTheExecutor) {
  abi::Event* event = FakePlugin::make_event();
  const Future<void> future = take(event);
  bool continued = false;
  future.then(inline_executor(), [&](const Status&) { continued = true; }).ignore();
  std::thread([event] { FakePlugin::set_event(event, 0, ""); }).join();
  ASSERT_TRUE(future.ready());
  EXPECT_TRUE(future.result());
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_FALSE(continued);
  executor_.run_until_idle();
  EXPECT_TRUE(continued);
}

TEST_F(EventsTest, LaterErrorIsTakenFromThePlugin) {
  abi::Event* event = FakePlugin::make_event();
  const Future<void> future = take(event);
  FakePlugin::set_event(event, 13, "fell over");
  executor_.run_until_idle();
  EXPECT_EQ(future.result().error().message(), "PJRT_Test of the plugin fake.so: fell over");
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

// Copying the error throws, and the plugin's frames lie between us and every catch block.
TEST_F(EventsTest, AnErrorThatDoesNotFitInMemoryStillCompletesTheEvent) {
  abi::Event* event = FakePlugin::make_event();
  const Future<void> future = take(event);
  fake_.replace(+[](abi::ErrorMessageArgs* args) {
    args->message = "fell over";
    args->message_size = std::size_t{1} << 63;  // more than any string
  });
  EXPECT_NO_THROW(FakePlugin::set_event(event, 13, "fell over"));
  executor_.run_until_idle();
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.result().error().code(), ErrorCode::kInternal);
  EXPECT_EQ(future.result().error().message(),
            "PJRT_Test of the plugin fake.so: there is no memory for its message of "
            "9223372036854775808 bytes");
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

TEST_F(EventsTest, SecondCallbackIsLoggedWithThePluginsNameAndDropped) {
  const Plugin* const other = Plugin::adopt(fake_.api(), "other.so").value();
  const testing::LoggedWords words;
  for (const Plugin* plugin : {plugin_, other}) {
    abi::Event* event = FakePlugin::make_event();
    const Future<void> future = take_event(*plugin, event, executor_, "PJRT_Test");
    FakePlugin::set_event(event, 0, "", 3);
    executor_.run_until_idle();
    EXPECT_TRUE(future.result());
  }
  EXPECT_EQ(FakePlugin::events_alive, 0);
  const std::string again =
      " called back more than once for one event, or after it had refused to\n";
  const std::string mine = "the plugin fake.so" + again, its = "the plugin other.so" + again;
  EXPECT_EQ(words.text(), mine + mine + its + its);
}

TEST_F(EventsTest, RefusedCallbackIsWaitedFor) {
  fake_.replace(+[](abi::EventOnReadyArgs*) -> abi::Error* {
    return FakePlugin::make_error(12, "no callbacks");
  });
  fake_.replace(+[](abi::EventAwaitArgs* a) -> abi::Error* {
    FakePlugin::set_event(a->event, 0, "");
    return nullptr;
  });
  const auto kept = std::make_shared<int>(1);
  const Future<void> good = take_event(*plugin_, FakePlugin::make_event(), executor_, "PJRT_Test",
                                       {}, std::shared_ptr<const void>(kept));
  ASSERT_TRUE(good.ready());
  EXPECT_TRUE(good.result()) << good.result().error().to_string();
  EXPECT_EQ(kept.use_count(), 1);
  fake_.replace(+[](abi::EventAwaitArgs* a) -> abi::Error* {
    FakePlugin::set_event(a->event, 13, "fell over");
    return FakePlugin::make_error(13, "fell over");
  });
  const Future<void> bad = take(FakePlugin::make_event());
  ASSERT_TRUE(bad.ready());
  EXPECT_EQ(bad.result().error().message(), "PJRT_Test of the plugin fake.so: fell over");
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

TEST_F(EventsTest, EventThatCannotBeWaitedForKeepsWhatThePluginWritesInto) {
  constexpr std::uint64_t kClient = 1'000'003;
  fake_.replace(+[](abi::EventOnReadyArgs*) -> abi::Error* {
    return FakePlugin::make_error(12, "no callbacks");
  });
  const auto kept = std::make_shared<int>(1);
  const Future<void> refused =
      take_event(*plugin_, FakePlugin::make_event(), executor_, "PJRT_Test", {kClient, DeviceId{0}},
                 std::shared_ptr<const void>(kept));
  ASSERT_TRUE(refused.ready());
  EXPECT_EQ(refused.result().error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(refused.result().error().message(), HasSubstr("no callbacks"));
  EXPECT_EQ(FakePlugin::events_alive, 1);
  EXPECT_EQ(kept.use_count(), 2) << "the plugin may still write there";
  EXPECT_EQ(events_given_up(kClient), "PJRT_Test (1)");
}

constexpr EventSource kRefused{1'000'005, DeviceId{0}};

// As a kill does that comes while the plugin is asked.
abi::Error* give_up_and_refuse(abi::EventOnReadyArgs*) {
  give_up_events(kRefused, Error(ErrorCode::kUnavailable, "gone"));
  return FakePlugin::make_error(12, "no callbacks");
}

TEST_F(EventsTest, EventThatIsGivenUpWhileItsCallbackIsRefusedIsWaitedForAndDestroyed) {
  fake_.replace(&give_up_and_refuse);
  fake_.replace(+[](abi::EventAwaitArgs* a) -> abi::Error* {
    FakePlugin::set_event(a->event, 0, "");
    return nullptr;
  });
  const auto kept = std::make_shared<int>(1);
  const Future<void> future = take_event(*plugin_, FakePlugin::make_event(), executor_, "PJRT_Test",
                                         kRefused, std::shared_ptr<const void>(kept));
  executor_.run_until_idle();
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.result().error().message(),
            "PJRT_Test of the plugin fake.so has not ended: gone");
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(events_given_up(kRefused.client), "");
}

TEST_F(EventsTest, EventThatIsGivenUpWhileItsCallbackIsRefusedStaysIfItCannotBeWaitedFor) {
  fake_.replace(&give_up_and_refuse);
  const auto kept = std::make_shared<int>(1);
  const Future<void> future = take_event(*plugin_, FakePlugin::make_event(), executor_, "PJRT_Test",
                                         kRefused, std::shared_ptr<const void>(kept));
  executor_.run_until_idle();
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.result().error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(FakePlugin::events_alive, 1);
  EXPECT_EQ(kept.use_count(), 2) << "the plugin may still write there";
  EXPECT_EQ(events_given_up(kRefused.client), "PJRT_Test (1)");
}

TEST_F(EventsTest, WaitThatDoesNotReturnIsGivenUpToo) {
  constexpr EventSource kStuck{1'000'006, DeviceId{0}};
  static std::atomic<bool> inside{false}, go_on{false};
  fake_.replace(+[](abi::EventOnReadyArgs*) -> abi::Error* {
    return FakePlugin::make_error(12, "no callbacks");
  });
  fake_.replace(+[](abi::EventAwaitArgs* a) -> abi::Error* {
    inside = true;
    inside.notify_all();
    go_on.wait(false);
    FakePlugin::set_event(a->event, 0, "");
    return nullptr;
  });
  const auto waits = make_executor(ExecutorBackend::kThreads, 1, "waits");
  const Future<void> future = take_event(*plugin_, FakePlugin::make_event(), executor_, "PJRT_Test",
                                         kStuck, nullptr, waits.get());
  inside.wait(false);
  give_up_events(kStuck, Error(ErrorCode::kUnavailable, "gone"));
  executor_.run_until_idle();
  EXPECT_TRUE(future.ready());
  EXPECT_EQ(events_given_up(kStuck.client), "PJRT_Test (1)");
  wait_for_callbacks(kStuck.client);  // there is none
  go_on = true;
  go_on.notify_all();
  EXPECT_TRUE(wait_blocking(waits->close()));
  ASSERT_TRUE(future.ready());
  EXPECT_FALSE(future.result());
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_EQ(events_given_up(kStuck.client), "");
}

TEST_F(EventsTest, WaitThatIsDroppedKeepsWhatThePluginWritesInto) {
  constexpr EventSource kDropped{1'000'007, DeviceId{0}};
  fake_.replace(+[](abi::EventOnReadyArgs*) -> abi::Error* {
    return FakePlugin::make_error(12, "no callbacks");
  });
  const auto waits = make_executor(ExecutorBackend::kThreads, 1, "waits");
  EXPECT_TRUE(wait_blocking(waits->close()));
  const auto kept = std::make_shared<int>(1);
  const Future<void> future = take_event(*plugin_, FakePlugin::make_event(), executor_, "PJRT_Test",
                                         kDropped, std::shared_ptr<const void>(kept), waits.get());
  ASSERT_TRUE(future.ready());
  EXPECT_THAT(future.result().error().message(), HasSubstr("no callbacks"));
  EXPECT_EQ(kept.use_count(), 2) << "the plugin may still write there";
}

TEST_F(EventsTest, MissingEventIsAnError) {
  const Future<void> missing = take(nullptr);
  EXPECT_EQ(missing.result().error().code(), ErrorCode::kInternal);
  EXPECT_THAT(missing.result().error().message(), HasSubstr("PJRT_Test"));
}

TEST_F(EventsTest, EventThatIsGivenUpEndsItsFutureAndMayStillComeLater) {
  constexpr std::uint64_t kClient = 1'000'001;
  constexpr std::uint64_t kOther = 1'000'002;
  const auto kept = std::make_shared<int>(1);
  abi::Event* event = FakePlugin::make_event();
  const Future<void> future = take_event(*plugin_, event, executor_, "PJRT_Test",
                                         {kClient, DeviceId{1}}, std::shared_ptr<const void>(kept));
  const Future<void> elsewhere =
      take_event(*plugin_, FakePlugin::make_event(), executor_, "PJRT_Test", {kOther, DeviceId{1}});
  give_up_events({kClient, DeviceId{0}}, Error(ErrorCode::kUnavailable, "gone"));
  executor_.run_until_idle();
  EXPECT_FALSE(future.ready());
  give_up_events({kClient, DeviceId{1}}, Error(ErrorCode::kUnavailable, "gone"));
  executor_.run_until_idle();
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.result().error().message(),
            "PJRT_Test of the plugin fake.so has not ended: gone");
  EXPECT_FALSE(elsewhere.ready());
  EXPECT_EQ(events_given_up(kClient), "PJRT_Test (1)");
  EXPECT_EQ(events_given_up(kOther), "");
  EXPECT_EQ(FakePlugin::events_alive, 2);
  EXPECT_EQ(kept.use_count(), 2) << "the plugin may still write there";
  FakePlugin::set_event(event, 13, "late");
  EXPECT_EQ(events_given_up(kClient), "");
  EXPECT_EQ(FakePlugin::events_alive, 1);
  EXPECT_EQ(FakePlugin::errors_alive, 0);
  EXPECT_EQ(kept.use_count(), 1);
  give_up_events({kOther, DeviceId{1}}, Error(ErrorCode::kUnavailable, "gone"));
  executor_.run_until_idle();
}

// Says when it is used after its owner has destroyed it, as it were.
class MortalExecutor final : public Executor {
 public:
  void submit(Work* work) noexcept override {
    EXPECT_FALSE(gone);
    if (slow) {
      inside = true;
      inside.notify_all();
      go_on.wait(false);
    }
    EXPECT_FALSE(gone) << "while a post is under way";
    queue.submit(work);
  }
  std::atomic<bool> gone{false}, inside{false}, go_on{false};
  bool slow = false;
  SerialExecutor queue{SerialExecutor::InOrder{}};
};

constexpr std::uint64_t kMortal = 1'000'004;

TEST_F(EventsTest, CallbackThatIsUnderWayWhenItsEventIsGivenUpUsesNoExecutor) {
  static std::atomic<bool> inside{false}, go_on{false};
  fake_.replace(+[](abi::ErrorGetCodeArgs* args) -> abi::Error* {
    args->code = 13;
    inside = true;
    inside.notify_all();
    go_on.wait(false);
    return nullptr;
  });
  MortalExecutor executor;
  abi::Event* event = FakePlugin::make_event();
  const Future<void> future =
      take_event(*plugin_, event, executor, "PJRT_Test", {kMortal, DeviceId{0}});
  std::thread plugins([event] { FakePlugin::set_event(event, 13, "late"); });
  inside.wait(false);
  give_up_events({kMortal, DeviceId{0}}, Error(ErrorCode::kUnavailable, "gone"));
  executor.queue.run_until_idle();
  EXPECT_EQ(events_given_up(kMortal), "PJRT_Test (1)");
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.result().error().message(),
            "PJRT_Test of the plugin fake.so has not ended: gone");
  executor.gone = true;
  go_on = true;
  go_on.notify_all();
  wait_for_callbacks(kMortal);
  EXPECT_EQ(FakePlugin::events_alive, 0);
  plugins.join();
  EXPECT_EQ(events_given_up(kMortal), "");
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

TEST_F(EventsTest, GivingUpWaitsForACompletionThatIsUnderWay) {
  MortalExecutor executor;
  executor.slow = true;
  abi::Event* event = FakePlugin::make_event();
  const Future<void> future =
      take_event(*plugin_, event, executor, "PJRT_Test", {kMortal, DeviceId{0}});
  bool continued = false;  // on the executor, as what is not brief
  future.then(inline_executor(), [&](const Status&) { continued = true; }).ignore();
  std::thread plugins([event] { FakePlugin::set_event(event, 0, ""); });
  executor.inside.wait(false);
  std::thread owner([&] {
    give_up_events({kMortal, DeviceId{0}}, Error(ErrorCode::kUnavailable, "gone"));
    executor.gone = true;
  });
  for (int i = 0; i < 1000 && !executor.gone; ++i) std::this_thread::yield();
  EXPECT_FALSE(executor.gone);
  executor.go_on = true;
  executor.go_on.notify_all();
  plugins.join();
  owner.join();
  EXPECT_FALSE(continued);
  executor.queue.run_until_idle();
  EXPECT_TRUE(continued);
  ASSERT_TRUE(future.ready());
  EXPECT_TRUE(future.result()) << "it has come";
}

TEST_F(EventsTest, SecondCallbackDuringTheFirstIsLoggedToo) {
  static void (*again)(abi::Error*, void*) = nullptr;
  static void* its_argument = nullptr;
  static bool called = false;
  fake_.replace(+[](abi::EventOnReadyArgs* args) -> abi::Error* {
    again = args->callback;
    its_argument = args->user_arg;
    return nullptr;
  });
  fake_.replace(+[](abi::ErrorGetCodeArgs* args) -> abi::Error* {
    args->code = 13;
    if (!std::exchange(called, true)) again(nullptr, its_argument);
    return nullptr;
  });
  const testing::LoggedWords words;
  const Future<void> future = take(FakePlugin::make_event());
  again(FakePlugin::make_error(13, "fell over"), its_argument);
  executor_.run_until_idle();
  EXPECT_EQ(future.result().error().message(), "PJRT_Test of the plugin fake.so: fell over");
  EXPECT_THAT(words.text(), HasSubstr("called back more than once"));
  EXPECT_EQ(FakePlugin::events_alive, 0);
}

TEST_F(EventsTest, WhatAnEventThatIsMissingWouldHaveReleasedStays) {
  const auto kept = std::make_shared<int>(1);
  const Future<void> missing =
      take_event(*plugin_, nullptr, executor_, "PJRT_Test", {}, std::shared_ptr<const void>(kept));
  EXPECT_EQ(missing.result().error().code(), ErrorCode::kInternal);
  EXPECT_EQ(kept.use_count(), 2) << "the plugin may still use it";
}

TEST(EventsStressTest, EventsOfManyThreadsCompleteOnceEach) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  const auto executor = make_executor(ExecutorBackend::kThreads, 2, "events");
  constexpr int kThreads = 4;
  constexpr int kEvents = 500;
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEvents; ++i) {
        abi::Event* event = FakePlugin::make_event();
        const Future<void> future = take_event(*plugin, event, *executor, "PJRT_Test");
        std::thread([event, i] { FakePlugin::set_event(event, i % 2 == 0 ? 0 : 2, "odd"); }).join();
        if (wait_blocking(future).has_value() == (i % 2 == 0)) ++ended;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(wait_blocking(executor->close()));
  EXPECT_EQ(ended, kThreads * kEvents);
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

}  // namespace
}  // namespace millrace::devices::pjrt
