// What is libevent's own in its bridge; the contract of all: bridge_test.cc.
#include <event2/event.h>
#include <gtest/gtest.h>

#include "millrace/core/async/future.h"
#include "millrace/core/loop/event_bridge.h"

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

}  // namespace
}  // namespace millrace
