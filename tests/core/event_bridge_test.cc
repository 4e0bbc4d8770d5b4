// What is libevent's own in its bridge; the contract of all: bridge_test.cc.
#include <event2/event.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "millrace/core/async/future.h"
#include "millrace/core/loop/event_bridge.h"
#include "millrace/core/loop/event_fd.h"

namespace millrace {
namespace {

TEST(EventBridgeTest, CallbackCountsAsAnEventThatEndsOneTurn) {
  event_base* const base = event_base_new();
  event* const other = event_new(base, -1, 0, [](evutil_socket_t, short, void*) {}, nullptr);
  const timeval hour{.tv_sec = 3600, .tv_usec = 0};
  event_add(other, &hour);  // what one turn would go on to wait for
  {
    const EventBridge bridge = EventBridge::create(base).value();
    int ran = 0;
    make_ready(1).then(bridge, [&](const Result<int>& r) { ran += *r; }).ignore();
    EXPECT_EQ(event_base_loop(base, EVLOOP_ONCE), 0);
    EXPECT_EQ(ran, 1);
  }
  event_free(other);
  event_base_free(base);
}

// Between the wake-up and the work that it is for comes what was ready already.
TEST(EventBridgeTest, ABridgeThatAForksChildDestroysInBetweenIsNotCalled) {
  struct Forks {
    std::optional<EventBridge> bridge;
    pid_t child = -1;
  };
  event_base* const base = event_base_new();
  Forks forks{.bridge = EventBridge::create(base).value()};
  ASSERT_GE(event_base_loop(base, EVLOOP_NONBLOCK), 0);
  const EventFd ready = EventFd::create().value();
  event* const forker = event_new(
      base, ready.descriptor(), EV_READ,
      [](evutil_socket_t, short, void* argument) {
        auto* const self = static_cast<Forks*>(argument);
        self->child = fork();
        if (self->child == 0) self->bridge.reset();
      },
      &forks);
  event_add(forker, nullptr);
  int ran = 0;
  post(forks.bridge->executor(), [&] { ++ran; });
  ready.signal();  // found after the bridge's
  event_base_loop(base, EVLOOP_NONBLOCK);
  if (forks.child == 0) _exit(ran);
  int status = 0;
  ASSERT_EQ(waitpid(forks.child, &status, 0), forks.child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ran, 1);
  event_free(forker);
  forks.bridge.reset();
  event_base_free(base);
}

}  // namespace
}  // namespace millrace
