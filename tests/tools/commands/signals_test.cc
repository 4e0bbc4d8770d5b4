// With real signals, because those are what is tested.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

#include "millrace/core/async/blocking.h"
#include "millrace/tools/commands/limits.h"

namespace millrace::commands {
namespace {

void handler_of_the_test(int) {}

class LimitsTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Limits>> create() {
    return Limits::create(console_, {.progress = [] { return "in a test"; }});
  }
  Console console_{"millrace test"};
};

TEST_F(LimitsTest, FirstSignalRequestsStop) {
  const auto limits = create();
  ASSERT_TRUE(limits) << limits.error().to_string();
  Promise<void> stopped;
  const Future<void> told = stopped.future();
  const std::stop_callback callback((*limits)->call().stop, [&] { stopped.set_value(); });
  EXPECT_EQ((*limits)->signal(), 0);
  ::raise(SIGTERM);
  EXPECT_TRUE(wait_blocking(told));
  EXPECT_EQ((*limits)->signal(), SIGTERM);
  EXPECT_STREQ(signal_name((*limits)->signal()), "SIGTERM");
  const Error error = (*limits)->at_end(Error(ErrorCode::kCancelled, "no result"));
  EXPECT_EQ(error.message(), "stopped on SIGTERM in a test: no result");
  EXPECT_EQ(exit_code(error), exit_code_of_signal(SIGTERM));
}

TEST_F(LimitsTest, OldHandlersComeBackAndOtherLimitsMayFollow) {
  struct sigaction action{};
  action.sa_handler = handler_of_the_test;
  struct sigaction before{};
  ::sigaction(SIGINT, &action, &before);
  for (int i = 0; i < 3; ++i) {
    const auto limits = create();
    ASSERT_TRUE(limits);
    EXPECT_EQ((*limits)->signal(), 0);
  }
  struct sigaction after{};
  ::sigaction(SIGINT, &before, &after);
  EXPECT_EQ(after.sa_handler, &handler_of_the_test);
}

TEST_F(LimitsTest, SignalThatIsIgnoredStaysIgnored) {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before{};
  ::sigaction(SIGINT, &ignore, &before);
  {
    const auto limits = create();
    ASSERT_TRUE(limits) << limits.error().to_string();
    ::raise(SIGINT);
    EXPECT_EQ((*limits)->signal(), 0);
    ::raise(SIGTERM);
    EXPECT_EQ((*limits)->signal(), SIGTERM) << "the other one is caught";
  }
  struct sigaction after{};
  ::sigaction(SIGINT, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
}

}  // namespace
}  // namespace millrace::commands
