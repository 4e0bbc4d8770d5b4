// An executor on the threads of another one. The order is the test's own, where it can be: a
// SerialExecutor is beneath.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/future.h"
#include "millrace/core/exec/pool_executor.h"

namespace millrace {
namespace {

TEST(ExecutorOnTest, WorkRunsWhereTheOtherOneRunsIt) {
  SerialExecutor other{SerialExecutor::InOrder{}};
  const auto mine = make_executor_on(other, 1);
  bool on_mine = false;
  post(*mine, [&] { on_mine = mine->on_own_thread(); });
  EXPECT_FALSE(on_mine) << "not inside of submit";
  other.run_until_idle();
  EXPECT_TRUE(on_mine);
  EXPECT_FALSE(mine->on_own_thread());
}

TEST(ExecutorOnTest, ACloseDropsItsOwnWorkAlone) {
  SerialExecutor other{SerialExecutor::InOrder{}};
  const auto first = make_executor_on(other, 1), second = make_executor_on(other, 1);
  const auto one = [](const Status&) { return 1; };
  const Future<int> dropped = make_ready().then(*first, one);
  const Future<int> kept = make_ready().then(*second, one);
  EXPECT_TRUE(first->close().ready()) << "nothing of it had begun";
  EXPECT_EQ(dropped.result().error().code(), ErrorCode::kAborted);
  other.run_until_idle();
  EXPECT_EQ(kept.result().value(), 1);
  EXPECT_EQ(make_ready().then(*first, one).result().error().code(), ErrorCode::kAborted);
}

TEST(ExecutorOnTest, ItsTurnsMayComeAfterItIsGone) {
  SerialExecutor other{SerialExecutor::InOrder{}};
  std::unique_ptr<PoolExecutor> mine = make_executor_on(other, 1);
  bool ran = false;
  post(*mine, [&] { ran = true; });
  mine.reset();
  EXPECT_EQ(other.run_until_idle(), 1U);
  EXPECT_FALSE(ran);
}

TEST(ExecutorOnTest, TheOtherOneMayCloseFirst) {
  std::optional<SerialExecutor> other(SerialExecutor::InOrder{});
  const auto mine = make_executor_on(*other, 1);
  const Future<int> dropped = make_ready().then(*mine, [](const Status&) { return 1; });
  other.reset();
  EXPECT_EQ(dropped.result().error().code(), ErrorCode::kAborted);
  EXPECT_TRUE(mine->close().ready());
}

TEST(ExecutorOnTest, ItsCloseWaitsForWhatRuns) {
  const auto other = make_thread_executor(1, "other");
  const auto mine = make_executor_on(*other, 1);
  Promise<void> begun, go;
  const Future<void> begins = begun.future();
  const Future<void> may_go = go.future();
  post(*mine, [&] {
    begun.set_value();
    wait_until(may_go, CallOptions());
  });
  EXPECT_TRUE(wait_blocking(begins));
  const Future<void> closed = mine->close();
  EXPECT_FALSE(closed.ready());
  go.set_value();
  EXPECT_TRUE(wait_blocking(closed));
}

TEST(ExecutorOnTest, TheOtherOneKnowsThatTheThreadIsItsOwn) {
  const auto other = make_thread_executor(1, "other");
  const auto mine = make_executor_on(*other, 1), stranger = make_executor_on(*other, 1);
  const Future<int> seen = make_ready().then(*mine, [&](const Status&) {
    return (other->on_own_thread() ? 1 : 0) + (mine->on_own_thread() ? 2 : 0) +
           (stranger->on_own_thread() ? 4 : 0) + (current_pool() == mine.get() ? 8 : 0);
  });
  EXPECT_EQ(wait_blocking(seen).value(), 1 + 2 + 8);
  const Future<bool> after =
      make_ready().then(*other, [&](const Status&) { return current_pool() == other.get(); });
  EXPECT_TRUE(wait_blocking(after).value());
}

TEST(ExecutorOnTest, ItSplitsAKernelOverTheThreadsOfTheOtherOne) {
  const auto other = make_thread_executor(2, "other");
  const auto mine = make_executor_on(*other, 2);
  std::vector<int> parts(64);
  mine->parallel().run(64, [&](int part) { parts[static_cast<std::size_t>(part)] += part; });
  for (int i = 0; i < 64; ++i) EXPECT_EQ(parts[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace millrace
