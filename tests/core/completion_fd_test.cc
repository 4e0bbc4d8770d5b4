// The bridge for loops that are told of a descriptor alone; the contract of all: bridge_test.cc.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/loop/completion_fd.h"

namespace millrace {
namespace {

TEST(CompletionFdTest, DescriptorIsReadableWhileThereIsSomethingToDo) {
  const CompletionFd bridge = CompletionFd::create().value();
  std::uint64_t count = 0;
  EXPECT_EQ(::read(bridge.completion_fd(), &count, sizeof(count)), -1);
  int ran = 0;
  for (int i = 0; i < 5; ++i) post(bridge.executor(), [&] { ++ran; });
  EXPECT_EQ(bridge.drain(2, Duration::max()).value(), 2U);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(::read(bridge.completion_fd(), &count, sizeof(count)), 8);  // there is more
  EXPECT_EQ(bridge.drain().value(), 3U);
  EXPECT_EQ(::read(bridge.completion_fd(), &count, sizeof(count)), -1);
  EXPECT_EQ(bridge.drain().value(), 0U);
}

TEST(CompletionFdTest, DrainInsideACallbackIsNothing) {
  const CompletionFd bridge = CompletionFd::create().value();
  std::vector<int> order;
  post(bridge.executor(), [&] {
    EXPECT_EQ(bridge.drain().value(), 0U);
    order.push_back(1);
  });
  post(bridge.executor(), [&] { order.push_back(2); });
  EXPECT_EQ(bridge.drain(2, Duration::max()).value(), 2U);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(CompletionFdTest, ACloseBeforeADrainInsideACallbackIsWokenFor) {  // CQ-5
  CompletionFd bridge = CompletionFd::create().value();
  Future<void> closed;
  post(bridge.executor(), [&] {
    closed = bridge.close();
    EXPECT_EQ(bridge.drain().value(), 0U);
  });
  EXPECT_EQ(bridge.drain().value(), 1U);
  for (int i = 0; i < 3 && !closed.ready(); ++i) {
    pollfd readable{.fd = bridge.completion_fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&readable, 1, 0), 1);
    static_cast<void>(bridge.drain());
  }
  EXPECT_TRUE(closed.ready());
}

TEST(CompletionFdTest, DrainInTheChildOfAForkIsAnError) {
  const CompletionFd bridge = CompletionFd::create().value();
  post(bridge.executor(), [] {});
  const pid_t child = fork();
  if (child == 0) {
    const auto drained = bridge.drain();
    _exit(!drained && drained.error().code() == ErrorCode::kFailedPrecondition ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(bridge.drain().value(), 1U);
}

}  // namespace
}  // namespace millrace
