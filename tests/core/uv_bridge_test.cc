// What is libuv's own in its bridge; the contract of all: bridge_test.cc.
#include <gtest/gtest.h>
#include <uv.h>

#include <optional>

#include "millrace/core/async/future.h"
#include "millrace/core/loop/uv_bridge.h"

namespace millrace {
namespace {

ErrorCode code_of(const Future<int>& future) {
  if (!future.ready() || future.result()) return ErrorCode::kUnknown;
  return future.result().error().code();
}

// As a program does at its end that does not keep apart what is its own.
TEST(UvBridgeTest, HandleThatWasClosedByAWalkOverAllIsNotClosedAgain) {
  for (const bool after_the_loop : {false, true}) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    std::optional<UvBridge> bridge(UvBridge::create(&loop).value());
    Promise<int> promise;
    const Future<int> waiting = promise.future().then(*bridge, [](Result<int>) { return 0; });
    uv_walk(&loop, [](uv_handle_t* handle, void*) { uv_close(handle, nullptr); }, nullptr);
    if (!after_the_loop) bridge.reset();
    uv_run(&loop, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop), 0);
    bridge.reset();
    EXPECT_EQ(code_of(waiting), ErrorCode::kAborted);
  }
}

}  // namespace
}  // namespace millrace
