// With real signals, because those are what is tested.
#include "millrace/tools/commands/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "millrace/core/blocking.h"

namespace millrace::commands {
namespace {

void handler_of_the_test(int) {}

TEST(SignalWatchTest, FirstSignalRequestsStop) {
  std::stop_source stop;
  Promise<void> stopped;
  const Future<void> told = stopped.future();
  const std::stop_callback callback(stop.get_token(), [&] { stopped.set_value(); });
  const auto signals = CaughtSignals::create();
  ASSERT_TRUE(signals) << signals.error().to_string();
  const auto watch = SignalWatch::create(**signals, stop);
  ASSERT_TRUE(watch);
  EXPECT_EQ((*signals)->signal(), 0);
  ::raise(SIGTERM);
  EXPECT_TRUE(wait_blocking(told));
  EXPECT_EQ((*signals)->signal(), SIGTERM);
  EXPECT_STREQ(signal_name((*signals)->signal()), "SIGTERM");
}

TEST(SignalWatchTest, SignalThatCameBeforeTheWatchRequestsStopToo) {
  const auto signals = CaughtSignals::create();
  ASSERT_TRUE(signals) << signals.error().to_string();
  ::raise(SIGINT);
  std::stop_source stop;
  Promise<void> stopped;
  const Future<void> told = stopped.future();
  const std::stop_callback callback(stop.get_token(), [&] { stopped.set_value(); });
  const auto watch = SignalWatch::create(**signals, stop);
  ASSERT_TRUE(watch);
  EXPECT_TRUE(wait_blocking(told));
  EXPECT_EQ((*signals)->signal(), SIGINT);
}

TEST(SignalWatchTest, OldHandlersComeBackAndAnotherWatchMayFollow) {
  struct sigaction action{};
  action.sa_handler = handler_of_the_test;
  struct sigaction before{};
  ::sigaction(SIGINT, &action, &before);
  for (int i = 0; i < 3; ++i) {
    const auto signals = CaughtSignals::create();
    ASSERT_TRUE(signals);
    const auto watch = SignalWatch::create(**signals, std::stop_source());
    EXPECT_EQ((*signals)->signal(), 0);
  }
  struct sigaction after{};
  ::sigaction(SIGINT, &before, &after);
  EXPECT_EQ(after.sa_handler, &handler_of_the_test);
}

TEST(SignalWatchTest, SignalThatIsIgnoredStaysIgnored) {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before{};
  ::sigaction(SIGINT, &ignore, &before);
  {
    const auto signals = CaughtSignals::create();
    ASSERT_TRUE(signals) << signals.error().to_string();
    ::raise(SIGINT);
    EXPECT_EQ((*signals)->signal(), 0);
    ::raise(SIGTERM);
    EXPECT_EQ((*signals)->signal(), SIGTERM) << "the other one is caught";
  }
  struct sigaction after{};
  ::sigaction(SIGINT, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
}

}  // namespace
}  // namespace millrace::commands
