// A Runtime as a future, for threads that must not wait. Real threads: what is tested is which one
// waits. The executor stands still where a test says so.
#include <gtest/gtest.h>
#include <uv.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/pool_executor.h"
#include "millrace/core/loop/uv_bridge.h"
#include "millrace/millrace.h"

namespace millrace {
namespace {

RuntimeOptions small() { return RuntimeOptions{.device = "cpu", .devices = 1, .threads = 1}; }

// A loop of the user's, with a bridge, that runs on the test's thread.
class UserLoop {
 public:
  UserLoop() {
    EXPECT_EQ(uv_loop_init(&loop_), 0);
    bridge_ = std::make_unique<UvBridge>(UvBridge::create(&loop_).value());
  }
  ~UserLoop() {
    bridge_.reset();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  UserLoop(const UserLoop&) = delete;
  UserLoop& operator=(const UserLoop&) = delete;

  const UvBridge& bridge() { return *bridge_; }
  // Until nothing is awaited on it.
  void run() { uv_run(&loop_, UV_RUN_DEFAULT); }

 private:
  uv_loop_t loop_{};
  std::unique_ptr<UvBridge> bridge_;
};

// One thread that may block, and the end of what it was given before.
class Blocking {
 public:
  PoolExecutor& executor() { return *pool_; }
  // Runs nothing until the result goes.
  std::shared_ptr<void> stand_still() {
    auto gate = std::make_shared<Promise<void>>();
    const Future<void> open = gate->future();
    post(*pool_, [open] { static_cast<void>(wait_until(open, CallOptions())); });
    return {gate.get(), [gate](void*) { gate->set_value(); }};
  }
  // Waits, on a loop's thread too, until what this thread has given it before has run.
  void settle() {
    static_cast<void>(wait_until(make_ready().then(*pool_, [](const Status&) {}), CallOptions()));
  }

 private:
  const std::unique_ptr<PoolExecutor> pool_ = make_thread_executor(1, "test-blocking");
};

bool refuses(const Device& device) {
  const Future<Buffer> put = device.put(std::vector<float>{1}, {1});
  put.ignore();
  return put.ready() && !put.result() && put.result().error().code() == ErrorCode::kUnavailable;
}

TEST(RuntimeCreateOnTest, ALoopsThreadGetsARuntimeAndGivesItUpWithoutWaiting) {
  Blocking blocking;
  std::optional<Runtime> runtime;
  UserLoop loop;
  Runtime::create_on(blocking.executor(), small())
      .then(loop.bridge(), [&](Result<Runtime> made) { runtime = std::move(made).value(); })
      .ignore();
  EXPECT_FALSE(runtime) << "nothing was made inside of the call";
  loop.run();
  ASSERT_TRUE(runtime);
  const Device device = runtime->device(0);
  {
    const auto still = blocking.stand_still();
    runtime.reset();
    EXPECT_FALSE(refuses(device)) << "its end has begun, on the loop's thread";
  }
  blocking.settle();
  EXPECT_TRUE(refuses(device));
}

TEST(RuntimeCreateOnTest, ARuntimeThatIsNotTakenEndsOnTheExecutor) {
  Blocking blocking;
  const UserLoop loop;
  Future<Runtime> made = Runtime::create_on(blocking.executor(), small());
  blocking.settle();
  ASSERT_TRUE(made.ready());
  const Device device = made.result()->device(0);
  {
    const auto still = blocking.stand_still();
    made = {};  // the last handle, on the loop's thread
    EXPECT_FALSE(refuses(device));
    const Future<Runtime> dropped_before_it_is_made =
        Runtime::create_on(blocking.executor(), small());
  }
  blocking.settle();
  EXPECT_TRUE(refuses(device));
}

TEST(RuntimeCreateOnTest, AStopAndADeadlineBeforeItBeginsEndIt) {
  Blocking blocking;
  std::stop_source stop;
  Future<Runtime> stopped, late;
  {
    const auto still = blocking.stand_still();
    stopped = Runtime::create_on(blocking.executor(), small(), {.stop = stop.get_token()});
    late = Runtime::create_on(blocking.executor(), small(), {.deadline = steady_clock().now()});
    stop.request_stop();
  }
  EXPECT_EQ(wait_blocking(stopped).error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(wait_blocking(late).error().code(), ErrorCode::kDeadlineExceeded);
}

TEST(RuntimeCreateOnTest, ErrorsAreThoseOfCreateAndAClosedExecutorAborts) {
  Blocking blocking;
  RuntimeOptions unknown = small();
  unknown.device = "abacus";
  EXPECT_EQ(wait_blocking(Runtime::create_on(blocking.executor(), unknown)).error().code(),
            ErrorCode::kNotFound);
  EXPECT_TRUE(wait_blocking(blocking.executor().close()));
  EXPECT_EQ(wait_blocking(Runtime::create_on(blocking.executor(), small())).error().code(),
            ErrorCode::kAborted);
}

TEST(RuntimeCreateOnTest, WhereTheExecutorHasClosedTheLoopsThreadWaits) {
  Blocking blocking;
  const UserLoop loop;
  Future<Runtime> made = Runtime::create_on(blocking.executor(), small());
  blocking.settle();
  ASSERT_TRUE(made.ready());
  const Device device = made.result()->device(0);
  static_cast<void>(wait_until(blocking.executor().close(), CallOptions()));
  made = {};
  EXPECT_TRUE(refuses(device));
}

}  // namespace
}  // namespace millrace
