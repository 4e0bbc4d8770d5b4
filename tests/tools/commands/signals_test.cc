// On a real loop with real signals, because those are what is tested.
#include "millrace/tools/commands/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "millrace/core/blocking.h"
#include "millrace/core/event_loop_thread.h"

namespace millrace::commands {
namespace {

void handler_of_the_test(int) {}

TEST(SignalWatchTest, FirstSignalRequestsStopOnTheLoop) {
  EventLoopThread loop(make_uv_event_loop(), "loop");
  std::stop_source stop;
  Promise<void> stopped;
  const Future<void> told = stopped.future();
  const std::stop_callback callback(stop.get_token(), [&] { stopped.set_value(); });
  const auto watch = SignalWatch::create(loop.loop(), stop);
  ASSERT_TRUE(watch) << watch.error().to_string();
  EXPECT_EQ((*watch)->signal(), 0);
  ::raise(SIGTERM);
  EXPECT_TRUE(wait_blocking(told));
  EXPECT_EQ((*watch)->signal(), SIGTERM);
  EXPECT_STREQ(signal_name((*watch)->signal()), "SIGTERM");
}

TEST(SignalWatchTest, OldHandlersComeBackAndAnotherWatchMayFollow) {
  struct sigaction action{};
  action.sa_handler = handler_of_the_test;
  struct sigaction before{};
  ::sigaction(SIGINT, &action, &before);
  EventLoopThread loop(make_uv_event_loop(), "loop");
  for (int i = 0; i < 3; ++i) {
    const auto watch = SignalWatch::create(loop.loop(), std::stop_source());
    ASSERT_TRUE(watch);
    EXPECT_EQ((*watch)->signal(), 0);
  }
  struct sigaction after{};
  ::sigaction(SIGINT, &before, &after);
  EXPECT_EQ(after.sa_handler, &handler_of_the_test);
}

}  // namespace
}  // namespace millrace::commands
