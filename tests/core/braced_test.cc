#include "millrace/core/base/braced.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/coroutine.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Options {
  Braced<std::shared_ptr<int>> owner = {};
  Braced<std::string> text = {};
  int number = 0;
};
struct Nested {
  Options options = {};
  Braced<std::vector<int>> list = std::vector<int>(1, 7);
};

// What a call sees of its options, and whether it holds them beyond the call.
Future<long> by_value(Options options) { return make_ready(options.owner.use_count()); }
Future<std::string> moved(Options options) {
  Options kept = std::move(options), assigned;
  assigned = std::move(kept);
  return make_ready(std::string(assigned.text));
}
Future<long> by_reference(const Nested& nested = {}) {
  const Nested kept = nested;
  return make_ready(kept.options.owner.use_count() * 100 + static_cast<long>(kept.list.size()));
}
Future<long> count(const ListOf<int>& list = {}) {
  return make_ready(static_cast<long>(list.size()));
}

Task<int> awaits(std::shared_ptr<int> owner) {
  const std::string text(100, 'x');
  EXPECT_EQ(co_await by_value({.owner = owner}), 3);
  EXPECT_EQ(co_await by_value({.owner = owner, .text = text}), 3);
  EXPECT_EQ(co_await by_value({.text = "short", .number = 3}), 0);
  EXPECT_EQ(co_await moved({.owner = owner, .text = "short"}), "short");
  EXPECT_EQ(co_await moved({.owner = owner, .text = text}), text);
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(co_await by_reference(), 1);
  EXPECT_EQ(co_await by_reference({.options = {.owner = owner, .text = text}}), 401);
  EXPECT_EQ(co_await count(), 0);
  EXPECT_EQ(co_await count({}), 0);
  EXPECT_EQ(co_await count({5}), 1);
  EXPECT_EQ(co_await count({1, 2, 3}), 3);
  co_return 0;
}

TEST(BracedTest, OwnersInAwaitedBracesAreReleasedOnce) {
  const auto owner = std::make_shared<int>(1);
  ASSERT_TRUE(spawn(inline_executor(), awaits(owner)).ready());
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(BracedTest, IsCopiedMovedAndAssignedAsItsType) {
  const auto owner = std::make_shared<int>(1);
  Options a{.owner = owner};
  Options b = a, c;
  c = b;
  EXPECT_EQ(owner.use_count(), 4);
  Options d = std::move(a);
  b = std::move(d);
  EXPECT_EQ(owner.use_count(), 3);
  c.owner = nullptr;
  c.text = std::string_view("a view");
  EXPECT_EQ(c.text, "a view");
  const std::shared_ptr<int> out = std::move(b.owner);
  EXPECT_EQ(out, owner);
  EXPECT_EQ(owner.use_count(), 2);
}

TEST(ListOfTest, IsMadeOfBracesAndOfRanges) {
  EXPECT_THAT(ListOf<int>(), IsEmpty());
  const std::vector<int> vector = {1, 2};
  const std::array<int, 2> array = {3, 4};
  EXPECT_THAT(ListOf<int>(vector), ElementsAre(1, 2));
  EXPECT_THAT(ListOf<int>(array), ElementsAre(3, 4));
  const ListOf<int> list = {5, 6};
  const ListOf<int> copy = list;
  EXPECT_THAT(copy, ElementsAre(5, 6));
  static_assert(!std::is_constructible_v<ListOf<int>, double>, "braces narrow no number");
}

TEST(CallOptionsTest, CallIsLateFromItsDeadlineOnAndOnceStopped) {
  ManualClock clock;
  clock.advance(std::chrono::seconds(1));
  const auto code = [&](const CallOptions& options) {
    const Status status = check_in_time(options, clock, "the call");
    return status ? ErrorCode{} : status.error().code();
  };
  std::stop_source stop;
  EXPECT_EQ(code({}), ErrorCode{});
  EXPECT_EQ(code({.deadline = clock.now() + Duration(1)}), ErrorCode{});
  EXPECT_EQ(code({.deadline = clock.now()}), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(code({.stop = stop.get_token()}), ErrorCode{});
  stop.request_stop();
  EXPECT_EQ(code({.stop = stop.get_token()}), ErrorCode::kCancelled);
  EXPECT_EQ(code({.stop = stop.get_token(), .deadline = clock.now()}), ErrorCode::kCancelled);
}

}  // namespace
}  // namespace millrace
