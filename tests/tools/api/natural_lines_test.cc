// The lines that a user writes, awaited at once: g++ 12 compiles no array behind braces in such a
// line, and copies an aggregate there bit by bit (core/base/braced.h). That each compiles is half
// of the test; the counts of what is handed in are the other half. On real threads, because Runtime
// is what makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/graph.h"
#include "millrace/millrace.h"
#include "millrace/transfer/array_source.h"
#include "millrace/transfer/device_loader.h"

namespace millrace {
namespace {

using collectives::ProcessGroup;
using collectives::Rank;
using collectives::ReduceOp;
using devices::DeviceId;
using devices::Owner;
using std::chrono::hours;
using ::testing::ElementsAre;

constexpr const char* kAdd = R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
)";
constexpr const char* kTwo = R"(
func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<2.0> : tensor<f32>
  return %0 : tensor<f32>
}
)";

Result<Runtime> make_runtime(int devices = 1) {
  RuntimeOptions options;
  options.device = "cpu";
  options.devices = devices;
  options.threads = 2;
  return Runtime::create(std::move(options));
}

// What is handed to the lines below, and how often it is held.
struct Given {
  std::shared_ptr<std::array<float, 4>> values =
      std::make_shared<std::array<float, 4>>(std::array<float, 4>{1, 2, 3, 4});
  std::stop_source stop;
  TimePoint late = steady_clock().now() + hours(1);
};

#define EXPECT_THERE(...)                                                            \
  do {                                                                               \
    const auto result = __VA_ARGS__;                                                 \
    EXPECT_TRUE(result) << #__VA_ARGS__ << (result ? "" : result.error().message()); \
  } while (false)

Task<int> calls_of_a_device(const Runtime& rt, const Given& given) {
  const Device d = rt.device(0);
  const float* x = given.values->data();
  const Owner owner = given.values;
  const std::stop_token s = given.stop.get_token();
  const TimePoint t = given.late;
  const Program p = Program::from_text(kAdd);
  const std::string name = "a name that is too long for the string itself";

  EXPECT_THERE(co_await rt.compile(p));
  EXPECT_THERE(co_await rt.compile(Program::from_text(kAdd, name)));
  EXPECT_THERE(co_await rt.compile(p, {.deterministic = true}));
  EXPECT_THERE(co_await rt.compile(p, {.devices = {DeviceId{0}}, .stop = s}));
  EXPECT_THERE(co_await rt.compile(p, {.plugin_options = ""}, {.stop = s, .deadline = t}));
  const Executable ex = (co_await rt.compile(p, {}, {.deadline = t})).value();
  const Executable two = (co_await rt.compile(Program::from_text(kTwo))).value();
  const Result<std::string> bytes = co_await rt.serialize(ex, {.stop = s});
  EXPECT_THERE(co_await rt.load(bytes.value(), {.deadline = t}));
  EXPECT_THERE(co_await rt.memory_stats(DeviceId{0}, {.stop = s, .deadline = t}));

  const Buffer b = (co_await d.put({.data = x, .shape = Shape(DType::kF32, {4})})).value();
  EXPECT_THERE(
      co_await d.put({.data = x, .shape = Shape(DType::kF32, {2, 2})}, {.call = {.stop = s}}));
  EXPECT_THERE(co_await d.put({.data = x, .shape = Shape(DType::kF32, {4}), .owner = owner}));
  EXPECT_THERE(co_await d.put({.data = x, .shape = Shape(DType::kF32, {4}), .owner = owner},
                              {.call = {.stop = s, .deadline = t}}));
  EXPECT_THERE(co_await d.put(std::vector<float>(4), {2, 2}, {.call = {.deadline = t}}));
  std::vector<float> named = {1, 2, 3, 4};  // in the awaited line g++ 12 takes no such braces
  EXPECT_THERE(co_await d.put(std::move(named), {4}));
  const Future<Buffer> unnamed = d.put(std::vector<float>{1, 2, 3, 4}, {2, 2});
  EXPECT_THERE(co_await unnamed);
  EXPECT_THERE(co_await d.put_borrowed({.data = x, .shape = Shape(DType::kF32, {4})}));
  const Future<Buffer> fb = d.put({.data = x, .shape = Shape(DType::kF32, {})});
  EXPECT_THERE(co_await d.default_layout(Shape(DType::kF32, {2, 2}), {.stop = s})
                   .then(inline_executor(), [](const auto&) { return 1; }));

  const Future<Buffer> later = d.put({.data = x, .shape = Shape(DType::kF32, {4})});
  const std::vector<Buffer> list = {b, b};
  EXPECT_THERE(co_await d.execute(ex, {b, b}));
  EXPECT_THERE(co_await d.execute(ex, {b, later}));
  EXPECT_THERE(co_await d.execute(ex, list));
  EXPECT_THERE(co_await d.execute(two, {}));
  EXPECT_THERE(co_await d.execute(ex, {later, b}, {.call = {.deadline = t}}));
  EXPECT_THERE(co_await d.execute(ex, {b, b}, {.call = {.stop = s, .deadline = t}}));
  EXPECT_FALSE(co_await d.execute(ex, {b}));
  EXPECT_THERE(co_await d.fetch(b, {.stop = s}));
  EXPECT_THERE(co_await d.fetch(later));
  EXPECT_THERE(co_await d.copy_from(b, {.stop = s, .deadline = t}));

  const Future<Executable> compiled = rt.compile(p);
  EXPECT_THERE(co_await execute(d, compiled, {b, later}));
  EXPECT_THERE(co_await execute(d, rt.compile(p), {b, b}, {.stop = s, .deadline = t}));
  EXPECT_THERE(co_await fetch(d, execute(d, compiled, {b, b}), 0));
  EXPECT_THERE(co_await fetch(d, execute(d, ex, {b, b}), 0));
  EXPECT_THERE(co_await fetch(d, d.execute(ex, {b, b}), 0, {.stop = s}));
  EXPECT_THERE(co_await pick(d.execute(ex, {b, later}), 0));
  EXPECT_THERE(co_await when_all(fb, later));
  EXPECT_THERE(co_await sleep_until(rt.environment().clock->now(), rt.loop().timers(), s));
  const Result<HostArray> sum = co_await fetch(d, d.execute(ex, {b, later}), 0, {.deadline = t});
  EXPECT_THAT(sum->as<float>(), ElementsAre(2, 4, 6, 8));
  co_return 0;
}

TEST(NaturalLinesTest, CallsOfADeviceAreAwaitedAtOnce) {
  const Given given;
  {
    const Result<Runtime> runtime = make_runtime();
    ASSERT_TRUE(runtime) << runtime.error().to_string();
    EXPECT_TRUE(wait_blocking(spawn(runtime->compute(), calls_of_a_device(*runtime, given))));
  }
  EXPECT_EQ(given.values.use_count(), 1) << "an owner was released too often, or not at all";
  EXPECT_TRUE(given.stop.stop_possible());
  std::stop_source stop = given.stop;
  EXPECT_TRUE(stop.request_stop());
}

Task<int> calls_of_a_rank(ProcessGroup rank, Buffer b, const Given& given) {
  const std::stop_token s = given.stop.get_token();
  const TimePoint t = given.late;
  const bool root = rank.rank() == Rank{0};
  EXPECT_THERE(co_await rank.all_reduce({b}, ReduceOp::kSum));
  EXPECT_THERE(
      co_await rank.all_reduce({b, b}, ReduceOp::kSum, {.call = {.stop = s, .deadline = t}}));
  EXPECT_THERE(co_await rank.all_gather({b}, {.call = {.deadline = t}}));
  if (root) {
    EXPECT_THERE(co_await rank.broadcast({b}, Rank{0}, {.call = {.stop = s}}));
  } else {
    EXPECT_THERE(
        co_await rank.broadcast({Shape(DType::kF32, {4})}, Rank{0}, {.call = {.stop = s}}));
  }
  EXPECT_THERE(co_await rank.barrier({.call = {.stop = s, .deadline = t}}));
  EXPECT_THERE(co_await rank.rendezvous("tag", "payload", {Rank{0}, Rank{1}}, {.stop = s}));
  EXPECT_THERE(co_await rank.rendezvous("tag", "payload"));
  co_return 0;
}

TEST(NaturalLinesTest, CollectivesAreAwaitedAtOnce) {
  const Given given;
  const Result<Runtime> runtime = make_runtime(2);
  ASSERT_TRUE(runtime) << runtime.error().to_string();
  std::vector<ProcessGroup> ranks =
      ProcessGroup::create(runtime->actors(), "g", runtime->devices()).value();
  std::vector<Future<int>> done;
  for (const ProcessGroup& rank : ranks) {
    const Buffer b = wait_blocking(rank.device().put(std::vector<float>{1, 2, 3, 4}, {4})).value();
    done.push_back(spawn(runtime->compute(), calls_of_a_rank(rank, b, given)));
  }
  EXPECT_TRUE(wait_blocking(when_all(done)));
  EXPECT_TRUE(wait_blocking(ranks[0].close()));
}

Task<int> calls_of_others(const transfer::DeviceLoader& loader, const Graph& graph,
                          const Given& given) {
  const std::stop_token s = given.stop.get_token();
  const TimePoint t = given.late;
  EXPECT_THERE(co_await loader.next(0));
  EXPECT_THERE(co_await loader.next(0, {.stop = s, .deadline = t}));
  const Future<int> one = make_ready(1);
  EXPECT_THERE(co_await graph.start({one})->done());
  EXPECT_THERE(co_await graph.start({make_ready(1)}, {.stop = s, .deadline = t})->done());
  co_return 0;
}

TEST(NaturalLinesTest, LoadersAndGraphsAreAwaitedAtOnce) {
  const Given given;
  {
    const Result<Runtime> runtime = make_runtime();
    ASSERT_TRUE(runtime) << runtime.error().to_string();
    const HostArray numbers = HostArray::make(Shape(DType::kF32, {40}));
    auto source = transfer::ArraySource::create({{"numbers", numbers}}).value();
    auto loader = transfer::DeviceLoader::create(runtime->environment(), source,
                                                 {runtime->device(0)}, {.batch_size = 8})
                      .value();
    GraphBuilder builder;
    const Slot<int> in = builder.input<int>("x");
    builder.output(builder.node("next", inline_executor(), [](int x) { return x + 1; }, in));
    const Graph graph = builder.build({.timers = &runtime->loop().timers()}).value();
    EXPECT_TRUE(wait_blocking(spawn(runtime->compute(), calls_of_others(loader, graph, given))));
    EXPECT_TRUE(wait_blocking(loader.close()));
  }
  EXPECT_EQ(given.values.use_count(), 1);
}

}  // namespace
}  // namespace millrace
