// Calls that come too late: their deadline has passed, or their stop was requested, before they
// were made. Each gives that error every time, however quick it would have been, and begins
// nothing. On real threads, because Runtime is what makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/async/graph.h"
#include "millrace/millrace.h"
#include "millrace/transfer/staging_pool.h"

namespace millrace {
namespace {

using collectives::ProcessGroup;
using collectives::Rank;
using collectives::ReduceOp;
using devices::DeviceId;
using devices::HostBufferSemantics;

constexpr const char* kSame =
    "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";

struct Question {};
struct Answerer : actors::Actor {
  int on(const Question&) { return ++asked; }
  static inline int asked = 0;
};

class LateCallsTest : public ::testing::Test {
 protected:
  static Runtime make() {
    RuntimeOptions options;
    options.device = "cpu";
    options.devices = 2;
    options.threads = 2;
    return Runtime::create(std::move(options)).value();
  }
  static CallOptions passed() {
    return {.deadline = steady_clock().now() - std::chrono::seconds(1)};
  }
  static CallOptions stopped() {
    std::stop_source stop;
    stop.request_stop();
    return {.stop = stop.get_token()};
  }
  // Often enough for chance to show itself.
  template <class Call>
  static void expect_refused(const char* what, const Call& call) {
    for (int i = 0; i < 50; ++i) {
      const auto late = wait_blocking(call(passed()));
      ASSERT_FALSE(late) << what;
      EXPECT_EQ(late.error().code(), ErrorCode::kDeadlineExceeded) << late.error().to_string();
      const auto stop = wait_blocking(call(stopped()));
      ASSERT_FALSE(stop) << what;
      EXPECT_EQ(stop.error().code(), ErrorCode::kCancelled) << stop.error().to_string();
    }
  }
  const Runtime runtime = make();
  const Device device = runtime.device(0);
};

#define EXPECT_REFUSED(...) \
  expect_refused(#__VA_ARGS__, [&](const CallOptions& late) { return __VA_ARGS__; })

TEST_F(LateCallsTest, DevicesAndRuntimesBeginNothing) {
  const Program program = Program::from_text(kSame);
  const Future<Executable> compiled = runtime.compile(program);
  const Executable same = wait_blocking(compiled).value();
  const Buffer x = wait_blocking(device.put(std::vector<float>(2), {2})).value();
  const std::string bytes = wait_blocking(runtime.serialize(same)).value();
  const devices::DeviceStats before = device.stats();
  const float values[] = {1, 2};
  const HostView view{.data = values, .shape = Shape(DType::kF32, {2})};

  EXPECT_REFUSED(device.put(view, {.call = late}));
  EXPECT_REFUSED(device.put(std::vector<float>(2), {2}, {.call = late}));
  EXPECT_REFUSED(
      device.put_borrowed(view, HostBufferSemantics::kImmutableOnlyDuringCall, {.call = late}));
  EXPECT_REFUSED(device.execute(same, {x}, {.call = late}));
  EXPECT_REFUSED(device.fetch(x, late));
  EXPECT_REFUSED(device.copy_from(x, late));
  EXPECT_REFUSED(device.layout_of(x, late));
  EXPECT_REFUSED(device.default_layout(x.shape(), late));
  EXPECT_REFUSED(execute(device, compiled, {x}, late));
  EXPECT_REFUSED(execute(device, runtime.compile(program), {x}, late));
  EXPECT_REFUSED(fetch(device, make_ready(Buffers({x})), 0, late));
  EXPECT_REFUSED(runtime.compile(program, {}, late));
  EXPECT_REFUSED(runtime.serialize(same, late));
  EXPECT_REFUSED(runtime.load(bytes, late));
  EXPECT_REFUSED(runtime.cost_analysis(same, late));
  EXPECT_REFUSED(runtime.memory_stats(DeviceId{0}, late));
  const devices::DeviceStats after = device.stats();
  EXPECT_EQ(after.puts, before.puts);
  EXPECT_EQ(after.launches, before.launches);
  EXPECT_EQ(after.fetches, before.fetches);
  EXPECT_EQ(after.copies, before.copies);
}

TEST_F(LateCallsTest, NoRuntimeIsMade) {
  EXPECT_REFUSED([](const Result<Runtime>& made) {
    return made ? make_ready() : Future<void>(made.error());
  }(Runtime::create(RuntimeOptions(), late)));
}

TEST_F(LateCallsTest, ActorsPoolsAndGraphsBeginNothing) {
  const auto actor = runtime.actors().spawn<Answerer>("answerer", {}).value();
  EXPECT_REFUSED(actor.ask(Question(), late));
  EXPECT_REFUSED(actor.tell(Question(), late));
  EXPECT_EQ(wait_blocking(actor.ask(Question())).value(), 1);

  const auto pool = std::make_shared<transfer::StagingPool>(transfer::StagingPoolOptions{},
                                                            runtime.loop().timers());
  EXPECT_REFUSED(pool->acquire(64, late));

  GraphBuilder builder;
  int begun = 0;
  builder.output(builder.node("count", inline_executor(), [&] { return ++begun; }));
  const Graph graph = builder.build({.timers = &runtime.loop().timers()}).value();
  EXPECT_REFUSED(graph.start({}, late)->done());
  EXPECT_EQ(begun, 0);
  EXPECT_TRUE(wait_blocking(pool->close()));
}

TEST_F(LateCallsTest, RankFailsForAllWithNothingBegun) {
  std::vector<ProcessGroup> ranks =
      ProcessGroup::create(runtime.actors(), "g", runtime.devices()).value();
  std::vector<Buffer> x;
  for (const ProcessGroup& rank : ranks)
    x.push_back(wait_blocking(rank.device().put(std::vector<float>(2), {2})).value());
  for (int i = 0; i < 50; ++i) {
    const auto late = ranks[0].all_reduce({x[0]}, ReduceOp::kSum, {.call = passed()});
    const auto other = wait_blocking(ranks[1].all_reduce({x[1]}, ReduceOp::kSum));
    EXPECT_EQ(wait_blocking(late).error().code(), ErrorCode::kDeadlineExceeded);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), ErrorCode::kDeadlineExceeded) << other.error().to_string();
    EXPECT_THAT(other.error().message(), ::testing::HasSubstr("rank 0 called all_reduce"));
    const auto missed = ranks[0].rendezvous("tag", "a", {}, passed());
    static_cast<void>(wait_blocking(ranks[1].rendezvous("tag", "b")));
    EXPECT_EQ(wait_blocking(missed).error().code(), ErrorCode::kDeadlineExceeded);
    // A stop is this rank's alone.
    const auto stop = ranks[0].barrier({.call = stopped()});
    EXPECT_TRUE(wait_blocking(ranks[1].barrier()));
    EXPECT_EQ(wait_blocking(stop).error().code(), ErrorCode::kCancelled);
  }
  EXPECT_TRUE(wait_blocking(ranks[0].close()));
}

}  // namespace
}  // namespace millrace
