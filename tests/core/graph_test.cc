#include "millrace/core/async/graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "tests/support/allocation_count.h"

namespace millrace {
namespace {

Error error_of(const Future<void>& future) { return future.result().error(); }

TEST(GraphBuilderTest, NameGivenTwiceIsRefused) {
  GraphBuilder b;
  Slot<int> a = b.input<int>("a");
  b.node("a", inline_executor(), [](int x) { return x; }, a);
  Result<Graph> graph = b.build();
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(graph.error().message().find("'a'"), std::string::npos);
}

TEST(GraphBuilderTest, SlotOfAnotherBuilderIsRefused) {
  GraphBuilder other;
  Slot<int> foreign = other.input<int>("x");
  GraphBuilder b;
  b.node("n", inline_executor(), [](int x) { return x; }, foreign);
  EXPECT_EQ(b.build().error().code(), ErrorCode::kInvalidArgument);
}

TEST(GraphBuilderTest, EmptySlotIsRefused) {
  GraphBuilder b;
  b.output(Slot<int>());
  EXPECT_EQ(b.build().error().code(), ErrorCode::kInvalidArgument);
}

TEST(GraphBuilderTest, OutputGivenTwiceIsRefused) {
  GraphBuilder b;
  Slot<int> a = b.input<int>("a");
  b.output(a);
  b.output(a);
  EXPECT_EQ(b.build().error().code(), ErrorCode::kInvalidArgument);
}

TEST(GraphBuilderTest, MoveOnlyOutputThatANodeUsesIsRefused) {
  GraphBuilder b;
  auto made = b.node("make", inline_executor(), [] { return std::make_unique<int>(1); });
  b.node("use", inline_executor(), [](const std::unique_ptr<int>& p) { return *p; }, made);
  b.output(made);
  EXPECT_EQ(b.build().error().code(), ErrorCode::kInvalidArgument);
}

// The first mistake's place, which is in this file.
int line_of_mistake(GraphBuilder& b) {
  const Error error = b.build().error();
  EXPECT_STREQ(error.where().file_name(), __FILE__) << error.to_string();
  return static_cast<int>(error.where().line());
}

TEST(GraphBuilderTest, MistakesAreReportedWhereTheyWereMade) {
  GraphBuilder twice;
  const Slot<int> a = twice.input<int>("a");
  const int second = __LINE__ + 1;
  twice.node(std::string("a"), inline_executor(), [](int x) { return x; }, a);
  EXPECT_EQ(line_of_mistake(twice), second);

  GraphBuilder foreign;
  const int used = __LINE__ + 1;
  foreign.node("n", inline_executor(), [](int x) { return x; }, a);
  EXPECT_EQ(line_of_mistake(foreign), used);

  GraphBuilder list;
  const std::vector<Slot<int>> slots = {Slot<int>()};
  const auto sum = [](const SlotValues<int>&) { return 1; };
  const int listed = __LINE__ + 1;
  list.node_list<int>("l", inline_executor(), sum, slots);
  EXPECT_EQ(line_of_mistake(list), listed);

  GraphBuilder outputs;
  const Slot<int> x = outputs.input<int>("x");
  outputs.output(x);
  const int again = __LINE__ + 1;
  outputs.output(x);
  EXPECT_EQ(line_of_mistake(outputs), again);

  GraphBuilder moved;
  const auto made = moved.node("m", inline_executor(), [] { return std::make_unique<int>(1); });
  moved.node("u", inline_executor(), [](const std::unique_ptr<int>& p) { return *p; }, made);
  const int declared = __LINE__ + 1;
  moved.output(made);
  EXPECT_EQ(line_of_mistake(moved), declared);
}

TEST(GraphBuilderTest, SecondBuildIsRefused) {
  GraphBuilder b;
  ASSERT_TRUE(b.build());
  EXPECT_EQ(b.build().error().code(), ErrorCode::kFailedPrecondition);
}

TEST(GraphTest, EmptyGraphIsDoneAtOnce) {
  Graph graph = GraphBuilder().build().value();
  EXPECT_TRUE(graph.start()->done().result());
}

TEST(GraphTest, InlineNodesRunAsTheirInputsArrive) {
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  Slot<int> y = b.input<int>("y");
  Slot<int> sum = b.node("sum", inline_executor(), [](const int& p, int q) { return p + q; }, x, y);
  Slot<std::string> text =
      b.node("text", inline_executor(), [](int s) { return std::to_string(s); }, sum);
  b.output(text);
  Graph graph = b.build().value();
  Promise<int> px, py;

  Ref<GraphRun> run = graph.start({px.future(), py.future()});
  px.set(3);
  EXPECT_FALSE(run->output(text).ready());
  py.set(4);

  EXPECT_EQ(*run->output(text).result(), "7");
  EXPECT_TRUE(run->done().result());
}

TEST(GraphTest, NodeRunsOnItsExecutorOnly) {
  SerialExecutor executor{SerialExecutor::InOrder{}};
  GraphBuilder b;
  Slot<int> made = b.node("make", executor, [] { return 5; });
  b.output(made);
  Graph graph = b.build().value();

  Ref<GraphRun> run = graph.start();
  EXPECT_FALSE(run->output(made).ready());
  executor.run_until_idle();

  EXPECT_EQ(*run->output(made).result(), 5);
}

TEST(GraphTest, NodeMayReturnFutureResultOrNothing) {
  SerialExecutor executor{SerialExecutor::InOrder{}};
  GraphBuilder b;
  Promise<int> later;
  Slot<int> f = b.node("future", inline_executor(), [&] { return later.future(); });
  Slot<int> r = b.node("result", executor, [](int v) -> Result<int> { return v + 1; }, f);
  Slot<void> n = b.node("nothing", inline_executor(), [](int) {}, r);
  Slot<int> after = b.node("after", inline_executor(), [](int v) { return v * 10; }, n, r);
  b.output(after);
  Graph graph = b.build().value();

  Ref<GraphRun> run = graph.start();
  executor.run_until_idle();
  EXPECT_FALSE(run->done().ready());
  later.set(1);
  executor.run_until_idle();

  EXPECT_EQ(*run->output(after).result(), 20);
}

TEST(GraphTest, ListNodeSeesItsSlotsInOrder) {
  GraphBuilder b;
  std::vector<Slot<int>> inputs = {b.input<int>("a"), b.input<int>("b"), b.input<int>("c")};
  auto joined = b.node_list<int>(
      "join", inline_executor(),
      [](const SlotValues<int>& values) {
        std::string text;
        for (std::size_t i = 0; i < values.size(); ++i) text += std::to_string(values[i]);
        return text;
      },
      inputs);
  b.output(joined);
  Graph graph = b.build().value();
  auto run = graph.start({make_ready(1), make_ready(2), make_ready(3)});
  EXPECT_EQ(*run->output(joined).result(), "123");
}

TEST(GraphTest, ValueUsedTwiceByOneNodeIsCountedTwice) {
  GraphBuilder b;
  Slot<std::string> a = b.input<std::string>("a");
  auto twice = b.node(
      "twice", inline_executor(), [](const std::string& x, const std::string& y) { return x + y; },
      a, a);
  b.output(twice);
  Graph graph = b.build().value();
  for (int i = 0; i < 3; ++i) {
    auto run = graph.start({make_ready(std::string("ab"))});
    EXPECT_EQ(*run->output(twice).result(), "abab");
  }
}

TEST(GraphTest, FailedInputSkipsItsNodesAndForwardsTheFirstError) {
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  Slot<int> y = b.input<int>("y");
  bool ran = false;
  Slot<int> sum = b.node(
      "sum", inline_executor(),
      [&](int, int) {
        ran = true;
        return 1;
      },
      x, y);
  Slot<int> other = b.node("other", inline_executor(), [] { return 9; });
  b.output(sum);
  b.output(other);
  Graph graph = b.build().value();

  auto run = graph.start({Future<int>(Error(ErrorCode::kNotFound, "first")),
                          Future<int>(Error(ErrorCode::kDataLoss, "second"))});

  EXPECT_FALSE(ran);
  EXPECT_EQ(run->output(sum).result().error().message(), "first");
  EXPECT_EQ(*run->output(other).result(), 9);
  EXPECT_EQ(error_of(run->done()).code(), ErrorCode::kNotFound);
}

TEST(GraphTest, DoneHasTheErrorOfTheLowestSlotWhateverFailedFirst) {
  Promise<int> slow;
  GraphBuilder b;
  b.node("slow", inline_executor(), [&] { return slow.future(); });
  b.node("fast", inline_executor(),
         []() -> Result<int> { return fail(ErrorCode::kDataLoss, "fast"); });
  Graph graph = b.build().value();
  auto run = graph.start();
  EXPECT_FALSE(run->done().ready());
  slow.set_error(Error(ErrorCode::kUnavailable, "slow"));
  EXPECT_EQ(error_of(run->done()).message(), "node 'slow': slow");
}

struct Detail {
  int value = 0;
};

TEST(GraphTest, ErrorOfANodeNamesItAndSkippedNodesPassItOnUnchanged) {
  GraphBuilder b;
  const auto fails = [] {
    return Error(ErrorCode::kDataLoss, "no bytes").with_detail(Detail{.value = 7});
  };
  auto result = b.node("decode", inline_executor(),
                       [=]() -> Result<int> { return std::unexpected(fails()); });
  auto later = b.node("fetch", inline_executor(), [=] { return Future<int>(fails()); });
  Promise<int> waits;
  auto pending = b.node("put", inline_executor(), [&] { return waits.future(); });
  auto throws = b.node("bad", inline_executor(), []() -> int { throw std::runtime_error("boom"); });
  auto nameless =
      b.node("", inline_executor(), [=]() -> Result<int> { return std::unexpected(fails()); });
  auto skipped = b.node("skipped", inline_executor(), [](int v) { return v; }, result);
  for (const Slot<int>& slot : {result, later, pending, throws, nameless, skipped}) b.output(slot);
  Graph graph = b.build().value();
  auto run = graph.start();
  waits.set_error(fails());

  const Error error = run->output(result).result().error();
  EXPECT_EQ(error.message(), "node 'decode': no bytes");
  EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
  EXPECT_EQ(error.detail<Detail>()->value, 7);
  EXPECT_EQ(error.cause()->message(), "no bytes");
  EXPECT_STREQ(error.where().file_name(), __FILE__) << "where it was made";
  EXPECT_EQ(run->output(later).result().error().message(), "node 'fetch': no bytes");
  EXPECT_EQ(run->output(pending).result().error().message(), "node 'put': no bytes");
  EXPECT_EQ(run->output(throws).result().error().message(),
            "node 'bad': a callback threw an exception: boom");
  EXPECT_EQ(run->output(nameless).result().error().message(), "node 4: no bytes");
  EXPECT_EQ(run->output(skipped).result().error().message(), error.message());
  EXPECT_EQ(error_of(run->done()).message(), error.message());
}

TEST(GraphTest, ThrowingNodeGivesInternal) {
  GraphBuilder b;
  auto bad = b.node("bad", inline_executor(), []() -> int { throw std::runtime_error("boom"); });
  b.output(bad);
  Graph graph = b.build().value();
  auto run = graph.start();
  EXPECT_EQ(run->output(bad).result().error().code(), ErrorCode::kInternal);
}

TEST(GraphTest, ExecutorThatClosesFailsTheNodeWithAborted) {
  GraphBuilder b;
  auto executor = std::make_unique<SerialExecutor>(SerialExecutor::InOrder{});
  auto never = b.node("never", *executor, [] { return 1; });
  b.output(never);
  Graph graph = b.build().value();
  auto run = graph.start();
  executor.reset();
  EXPECT_EQ(run->output(never).result().error().code(), ErrorCode::kAborted);
  EXPECT_NE(error_of(run->done()).message().find("'never'"), std::string::npos);
}

TEST(GraphTest, StopEndsTheRunAtOnceAndNamesWhatIsInFlight) {
  GraphBuilder b;
  Promise<int> running;
  Slot<int> x = b.input<int>("x");
  Slot<int> waits = b.node("waits", inline_executor(), [](int v) { return v; }, x);
  Slot<int> started = b.node("started", inline_executor(), [&] { return running.future(); });
  Slot<int> next = b.node("next", inline_executor(), [](int v) { return v; }, started);
  b.output(waits);
  b.output(started);
  b.output(next);
  Graph graph = b.build().value();
  std::stop_source stop;
  Promise<int> px;
  auto run = graph.start({px.future()}, CallOptions{.stop = stop.get_token()});

  stop.request_stop();

  for (const Slot<int>& slot : {waits, started, next})
    EXPECT_EQ(run->output(slot).result().error().code(), ErrorCode::kCancelled);
  const Error error = error_of(run->done());
  EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  EXPECT_NE(error.message().find("node 'started' was in flight"), std::string::npos)
      << error.message();
  EXPECT_NE(error.message().find("input 'x' was not there"), std::string::npos) << error.message();
  EXPECT_EQ(error.detail<NodesInFlight>()->names, std::vector<std::string>{"started"});
  EXPECT_FALSE(run->settled().ready());
  running.set(1);
  EXPECT_TRUE(run->settled().result());
  EXPECT_EQ(run->output(started).result().error().code(), ErrorCode::kCancelled) << "too late";
  px.set(1);
}

TEST(GraphTest, DeadlineEndsTheRunWhateverIsInFlightAndDropsWhatComesLate) {
  ManualClock clock;
  TimerQueue timers(clock);
  SerialExecutor executor{SerialExecutor::InOrder{}};
  Promise<std::shared_ptr<int>> hangs;
  const auto late = std::make_shared<int>(3);
  bool ran = false;
  GraphBuilder b;
  auto first = b.node("first", executor, [] { return 1; });
  auto never = b.node("never", inline_executor(), [&](int) { return hangs.future(); }, first);
  b.node("queued", executor, [](int v) { return v; }, first);
  b.node("after", inline_executor(), [&](const std::shared_ptr<int>&) { ran = true; }, never);
  b.output(first);
  b.output(never);
  Graph graph = b.build({.timers = &timers}).value();
  auto run = graph.start({}, CallOptions{.stop = {}, .deadline = clock.now() + Duration(5)});
  executor.run_one();
  EXPECT_EQ(*run->output(first).result(), 1);
  clock.advance(Duration(5));
  EXPECT_FALSE(run->done().ready());
  timers.run_due();

  const Error error = error_of(run->done());
  EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(error.detail<NodesInFlight>()->names, std::vector<std::string>{"never"});
  EXPECT_NE(error.message().find("node 'queued' waited for its executor"), std::string::npos)
      << error.message();
  EXPECT_EQ(run->output(never).result().error().message(), error.message());
  EXPECT_EQ(*run->output(first).result(), 1) << "it was in time";
  executor.run_until_idle();
  EXPECT_FALSE(run->settled().ready());
  hangs.set(late);
  EXPECT_TRUE(run->settled().result());
  EXPECT_EQ(late.use_count(), 1);
  EXPECT_FALSE(ran);
  EXPECT_EQ(error_of(run->done()).code(), ErrorCode::kDeadlineExceeded);
}

TEST(GraphTest, DeadlineThatHasPassedBeginsNothing) {
  ManualClock clock;
  TimerQueue timers(clock);
  bool ran = false;
  GraphBuilder b;
  b.node("n", inline_executor(), [&] { ran = true; });
  Graph graph = b.build({.timers = &timers}).value();
  auto run = graph.start({}, CallOptions{.stop = {}, .deadline = clock.now()});
  EXPECT_EQ(error_of(run->done()).code(), ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(run->settled().ready());
  EXPECT_FALSE(ran);
}

TEST(GraphTest, TimersThatCloseEndTheRunWithAborted) {
  ManualClock clock;
  Promise<int> hangs;
  GraphBuilder b;
  b.node("n", inline_executor(), [&] { return hangs.future(); });
  Ref<GraphRun> run;
  {
    TimerQueue timers(clock);
    Graph graph = b.build({.timers = &timers}).value();
    run = graph.start({}, CallOptions{.stop = {}, .deadline = clock.now() + Duration(5)});
    timers.close();
    EXPECT_EQ(error_of(run->done()).code(), ErrorCode::kAborted);
    hangs.set(1);
  }
  EXPECT_TRUE(run->settled().result());
}

TEST(GraphTest, NodesMayTakeTheCallOptionsOfTheirRun) {
  ManualClock clock;
  TimerQueue timers(clock);
  const TimePoint deadline = clock.now() + Duration(9);
  std::stop_source stop;
  std::vector<TimePoint> deadlines;
  const auto note = [&](const CallOptions& call) {
    deadlines.push_back(call.deadline);
    EXPECT_TRUE(call.stop == stop.get_token());
  };
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  Slot<void> alone =
      b.node("alone", inline_executor(), [&](const CallOptions& call) { note(call); });
  Slot<int> with = b.node(
      "with", inline_executor(),
      [&](const CallOptions& call, int v) {
        note(call);
        return v + 1;
      },
      x, alone);
  // Not where the values alone fit.
  Slot<int> generic = b.node("generic", inline_executor(), [](const auto& v) { return v; }, with);
  std::vector<Slot<int>> all = {with, generic};
  Slot<int> sum = b.node_list<int>(
      "sum", inline_executor(),
      [&](const CallOptions& call, const SlotValues<int>& values) {
        note(call);
        return values[0] + values[1];
      },
      all);
  b.output(sum);
  Graph graph = b.build({.timers = &timers}).value();
  auto run =
      graph.start({make_ready(1)}, CallOptions{.stop = stop.get_token(), .deadline = deadline});
  EXPECT_EQ(*run->output(sum).result(), 4);
  EXPECT_EQ(deadlines, std::vector<TimePoint>(3, deadline));
  EXPECT_EQ(timers.pending(), 0u);
}

TEST(GraphTest, StopBeforeStartRunsNothing) {
  std::stop_source stop;
  stop.request_stop();
  bool ran = false;
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  b.node("n", inline_executor(), [&](int) { ran = true; }, x);
  b.node("source", inline_executor(), [&] { ran = true; });
  Graph graph = b.build().value();
  auto run = graph.start({make_ready(1)}, CallOptions{.stop = stop.get_token()});
  EXPECT_FALSE(ran);
  EXPECT_EQ(error_of(run->done()).code(), ErrorCode::kCancelled);
}

TEST(GraphTest, DeadlineFailsWhatHasNotStarted) {
  ManualClock clock;
  TimerQueue timers(clock);
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  b.node("n", inline_executor(), [](int) {}, x);
  Graph graph = b.build({.timers = &timers}).value();
  Promise<int> px;
  auto run = graph.start({px.future()}, CallOptions{.deadline = clock.now() + Duration(5)});
  clock.advance(Duration(5));
  timers.run_due();
  EXPECT_EQ(error_of(run->done()).code(), ErrorCode::kDeadlineExceeded);
  px.set(1);
}

TEST(GraphTest, RunThatEndsInTimeTakesItsTimerBack) {
  ManualClock clock;
  TimerQueue timers(clock);
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  b.output(x);
  Graph graph = b.build({.timers = &timers}).value();
  Promise<int> px;
  auto run = graph.start({px.future()}, CallOptions{.deadline = clock.now() + Duration(5)});
  EXPECT_EQ(timers.pending(), 1u);
  px.set(1);
  EXPECT_TRUE(run->done().result());
  EXPECT_EQ(timers.pending(), 0u);
}

TEST(GraphTest, DeadlineWithoutTimersIsRefused) {
  Graph graph = [] {
    GraphBuilder b;
    b.node("n", inline_executor(), [] { return 1; });
    return b.build().value();
  }();
  auto run = graph.start({}, CallOptions{.deadline = TimePoint(Duration(1))});
  EXPECT_EQ(error_of(run->done()).code(), ErrorCode::kInvalidArgument);
}

TEST(GraphTest, InputsOfAnotherNumberOrTypeFailEveryNode) {
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  Slot<int> y = b.node("y", inline_executor(), [](int v) { return v; }, x);
  b.output(y);
  Graph graph = b.build().value();
  auto none = graph.start();
  auto other = graph.start({make_ready(1.5)});
  EXPECT_EQ(none->output(y).result().error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(other->output(y).result().error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(error_of(other->done()).message().find("'x'"), std::string::npos);
}

TEST(GraphTest, UnusedInputIsNotWaitedFor) {
  GraphBuilder b;
  b.input<int>("unused");
  Graph graph = b.build().value();
  Promise<int> never;
  EXPECT_TRUE(graph.start({never.future()})->done().result());
}

TEST(GraphTest, ValueIsDestroyedWhenItsLastUserHasRun) {
  SerialExecutor executor{SerialExecutor::InOrder{}};
  GraphBuilder b;
  std::weak_ptr<int> watch;
  auto made = b.node("made", inline_executor(), [&] {
    auto p = std::make_shared<int>(1);
    watch = p;
    return p;
  });
  auto used = b.node("used", executor, [](const std::shared_ptr<int>& p) { return *p; }, made);
  b.node("also", executor, [](const std::shared_ptr<int>& p) { return *p; }, made);
  Promise<int> last;
  b.node("last", inline_executor(), [&](int) { return last.future(); }, used);
  Graph graph = b.build().value();

  auto run = graph.start();
  executor.run_one();
  EXPECT_FALSE(watch.expired());
  executor.run_one();
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(run->done().ready());
  last.set(1);
}

TEST(GraphTest, MoveOnlyOutputIsHandedOver) {
  GraphBuilder b;
  auto made = b.node("make", inline_executor(), [] { return std::make_unique<int>(6); });
  b.output(made);
  Graph graph = b.build().value();
  EXPECT_EQ(**graph.start()->output(made).take(), 6);
}

TEST(GraphTest, RunOutlivesItsHandlesAndTheGraph) {
  Promise<int> px;
  Future<int> out;
  {
    GraphBuilder b;
    Slot<int> x = b.input<int>("x");
    Slot<int> y = b.node("y", inline_executor(), [](int v) { return v + 1; }, x);
    b.output(y);
    out = b.build().value().start({px.future()})->output(y);
  }
  px.set(1);
  EXPECT_EQ(*out.result(), 2);
}

TEST(GraphTest, LongInlineChainDoesNotGrowTheStack) {
  GraphBuilder b;  // GR-4
  Slot<int> last = b.input<int>("first");
  for (int i = 0; i < 300000; ++i) {
    last = b.node("", inline_executor(), [](int v) { return v + 1; }, last);
  }
  b.output(last);
  Graph graph = b.build().value();
  EXPECT_EQ(*graph.start({make_ready(0)})->output(last).result(), 300000);
}

TEST(GraphTest, LongFailedChainDoesNotGrowTheStack) {
  SerialExecutor executor{SerialExecutor::InOrder{}};
  GraphBuilder b;  // GR-4, skipping: no node goes to the executor
  Slot<int> last = b.input<int>("first");
  for (int i = 0; i < 100000; ++i) last = b.node("", executor, [](int v) { return v + 1; }, last);
  b.output(last);
  Graph graph = b.build().value();
  auto run = graph.start({Future<int>(Error(ErrorCode::kAborted, "no"))});
  EXPECT_EQ(run->output(last).result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(executor.pending(), 0u);
}

// What is in flight ends between the error of an output and that of done().
TEST(GraphTest, DoneAgreesWithTheOutputsWhenTheLastNodeEndsInTheStop) {
  Promise<int> device;
  GraphBuilder b;
  const Future<int> given = device.future();
  auto x = b.node("x", inline_executor(), [&given] { return given; });
  b.output(x);
  Graph graph = b.build().value();
  std::stop_source stop;
  auto run = graph.start({}, CallOptions{.stop = stop.get_token()});
  const Future<int> output = run->output(x);
  output.then(inline_executor(), [&](const Result<int>&) { device.set(1); }).ignore();
  stop.request_stop();
  EXPECT_EQ(output.result().error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(error_of(run->done()).code(), ErrorCode::kCancelled);
  EXPECT_TRUE(run->settled().result());
}

// Real threads: a deadline and what is in flight come together, from different ones.
TEST(GraphStressTest, DeadlinesAndStopsThatRaceWithTheEndOfARun) {
  constexpr int kRounds = 3000;
  const std::unique_ptr<PoolExecutor> executor = make_executor(ExecutorBackend::kThreads, 2, "t");
  TimerQueue timers(steady_clock());
  std::vector<Promise<int>> device(kRounds);
  std::vector<Future<int>> given;
  for (Promise<int>& promise : device) given.push_back(promise.future());
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  Slot<int> on = b.node("on", *executor, [](int i) { return i; }, x);
  Slot<int> off =
      b.node("off", *executor, [&given](int i) { return given[static_cast<std::size_t>(i)]; }, on);
  Slot<int> end = b.node("end", *executor, [](int i) { return i; }, off);
  b.output(on);
  b.output(end);
  Graph graph = b.build({.timers = &timers}).value();
  int ended = 0;
  for (int i = 0; i < kRounds; ++i) {
    std::stop_source stop;
    auto run = graph.start({make_ready(i)},
                           CallOptions{.stop = stop.get_token(),
                                       .deadline = steady_clock().now() + std::chrono::hours(1)});
    std::thread sets([&] { device[static_cast<std::size_t>(i)].set(i); });
    if (i % 3 != 0) stop.request_stop();
    const Status done = wait_blocking(run->done());
    ended += done ? 0 : 1;
    const Result<int> last = wait_blocking(run->output(end));
    EXPECT_TRUE(last ? *last == i : last.error().code() == ErrorCode::kCancelled);
    const Result<int> first = wait_blocking(run->output(on));
    EXPECT_TRUE(!done || (first && last)) << "done() and the outputs agree";
    if (!done) {
      EXPECT_EQ(done.error().code(), ErrorCode::kCancelled);
    }
    EXPECT_TRUE(wait_blocking(run->settled()) || !done);
    sets.join();
  }
  EXPECT_GT(ended, 0);
  EXPECT_LT(ended, kRounds);
  EXPECT_EQ(timers.pending(), 0u);
}

class Recorder final : public GraphObserver {
 public:
  std::vector<std::string> lines;
  void node_started(std::uint64_t run, std::uint32_t, std::string_view name) noexcept override {
    lines.push_back("start " + std::string(name) + " " + std::to_string(run));
  }
  void node_finished(std::uint64_t, std::uint32_t, std::string_view name,
                     const Error* error) noexcept override {
    lines.push_back((error != nullptr ? "fail " : "end ") + std::string(name));
  }
};

TEST(GraphTest, ObserverSeesStartAndEndOfNodesAndOnlyTheEndOfSkippedOnes) {
  Recorder recorder;
  GraphBuilder b;
  auto a = b.node("a", inline_executor(), [] { return 1; });
  auto f = b.node(
      "f", inline_executor(), [](int) -> Result<int> { return fail(ErrorCode::kUnknown, ""); }, a);
  b.node("skipped", inline_executor(), [](int) {}, f);
  Graph graph = b.build({.observer = &recorder}).value();
  auto run = graph.start();
  EXPECT_EQ(recorder.lines, (std::vector<std::string>{"start a 0", "end a", "start f 0", "fail f",
                                                      "fail skipped"}));
  EXPECT_FALSE(run->done().result());
}

// What a run does is work, which a runtime that closes waits for; its deadline ends it, no sleep.
TEST(GraphTest, TheEndOfWaitsLeavesARunWithADeadlineAlone) {
  ManualClock clock;
  TimerQueue timers(clock);
  Promise<int> promise;
  GraphBuilder b;
  auto node = b.node("node", inline_executor(), [&] { return promise.future(); });
  b.output(node);
  Graph graph = b.build({.timers = &timers}).value();
  auto run = graph.start({}, CallOptions{.deadline = clock.now() + Duration(5)});
  timers.drop_waits();
  EXPECT_FALSE(run->done().ready());
  promise.set(1);
  EXPECT_TRUE(run->done().result());
  EXPECT_EQ(timers.pending(), 0u);
}

int reports = 0;

TEST(GraphTest, UnobservedErrorOfARunIsReportedOnce) {
  reports = 0;
  set_unobserved_error_handler([](const Error&) { ++reports; });
  GraphBuilder b;
  auto f = b.node("f", inline_executor(),
                  []() -> Result<int> { return fail(ErrorCode::kDataLoss, "x"); });
  auto g = b.node("g", inline_executor(), [](int v) { return v; }, f);
  b.output(f);
  b.output(g);
  Graph graph = b.build().value();
  graph.start();
  EXPECT_EQ(reports, 1);
  EXPECT_FALSE(graph.start()->output(g).result());
  EXPECT_EQ(reports, 1);
  const std::stop_source stop;
  graph.start({}, CallOptions{.stop = stop.get_token()});
  EXPECT_EQ(reports, 2);
  set_unobserved_error_handler(nullptr);
}

// A step as a training loop has it: a put, executions behind it on an executor, a future in the
// middle.
struct Step {
  Slot<int> out;
  Graph graph;
};
Step make_step(Executor& executor, std::vector<Promise<int>>& device) {
  GraphBuilder b;
  Slot<int> x = b.input<int>("x");
  Slot<int> put = b.node("put", executor, [&device](int i) { return device[i].future(); }, x);
  Slot<int> left = b.node("left", executor, [](int v) { return v * 2; }, put);
  Slot<int> right =
      b.node("right", inline_executor(), [](int v) -> Result<int> { return v + 1; }, put);
  Slot<int> out = b.node("join", executor, [](int p, int q) { return p + q; }, left, right);
  b.output(out);
  return {out, b.build().value()};
}

TEST(GraphReplayTest, ReplayWithSeveralRunsInFlightAllocatesNothing) {
  if (!testing::kAllocationsCountable) GTEST_SKIP() << "a sanitizer sees every pooled block";
  constexpr int kInFlight = 4;
  SerialExecutor executor{SerialExecutor::InOrder{}};
  std::vector<Promise<int>> device(kInFlight);
  Step step = make_step(executor, device);
  int checked = 0;
  const auto replay = [&] {
    Ref<GraphRun> runs[kInFlight];
    for (int i = 0; i < kInFlight; ++i) {
      device[i] = Promise<int>();
      runs[i] = step.graph.start({make_ready(i)});
    }
    executor.run_until_idle();
    for (int i = kInFlight; i-- > 0;) device[i].set(i);
    executor.run_until_idle();
    for (int i = 0; i < kInFlight; ++i) checked += *runs[i]->output(step.out).result() == 3 * i + 1;
  };
  for (int i = 0; i < 100; ++i) replay();
  checked = 0;

  testing::AllocationCount allocations;
  for (int i = 0; i < 1000; ++i) replay();

  EXPECT_EQ(allocations.count(), 0);
  EXPECT_EQ(checked, 1000 * kInFlight);
}

}  // namespace
}  // namespace millrace
