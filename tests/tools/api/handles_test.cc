// Handles that are empty: each public one can be made by default (where it can), copied, moved and
// destroyed with the umbrella header alone, and a call that is given one ends with words instead of
// a signal. On real threads, because Runtime is what makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/graph.h"
#include "millrace/millrace.h"

namespace millrace {
namespace {

using collectives::ProcessGroup;
using ::testing::HasSubstr;

// As a member, which needs the special members of what it holds.
template <class T>
struct Holder {
  T held;
};

template <class T>
void use_handle() {
  Holder<T> made{};
  Holder<T> copy = made;
  Holder<T> moved = std::move(made);
  copy = moved;
  moved = std::move(copy);
}

TEST(HandlesTest, EachIsCompleteByTheUmbrellaHeaderAlone) {
  use_handle<Device>();
  use_handle<Buffer>();
  use_handle<Buffers>();
  use_handle<Executable>();
  use_handle<HostArray>();
  use_handle<HostView>();
  use_handle<Shape>();
  use_handle<Argument>();
  use_handle<CompileOptions>();
  use_handle<CallOptions>();
  use_handle<RuntimeOptions>();
  use_handle<Future<Buffer>>();
  use_handle<Future<void>>();
  Promise<int> promise;
  Promise<int> taken = std::move(promise);
  taken.set(1);
  static_assert(std::is_copy_constructible_v<Program> && std::is_move_assignable_v<Runtime>);
}

void expect_refused(const auto& result, const std::string& words) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument) << result.error().to_string();
  EXPECT_THAT(result.error().message(), HasSubstr(words));
}

Runtime make_runtime() {
  RuntimeOptions options;
  options.device = "cpu";
  options.threads = 1;
  return Runtime::create(std::move(options)).value();
}

class EmptyHandlesTest : public ::testing::Test {
 protected:
  const Runtime runtime = make_runtime();
  const Device device = runtime.device(0);
};

TEST_F(EmptyHandlesTest, EmptyRuntimeFailsWithInvalidArgument) {
  expect_refused(wait_blocking(runtime.serialize(Executable())), "serialize was given an empty");
  expect_refused(wait_blocking(runtime.cost_analysis(Executable())), "cost_analysis was given an");
  const Buffer b = wait_blocking(device.put(std::vector<float>{1}, {1})).value();
  expect_refused(wait_blocking(execute(device, Future<Executable>(), {b})), "empty Future of an");
  expect_refused(wait_blocking(pick(Future<Buffers>(), 0)), "pick was given an empty Future");
  expect_refused(wait_blocking(fetch(device, Future<Buffers>(), 0)),
                 "fetch was given an empty Future");
  expect_refused(wait_blocking(fetch(device, Future<Buffers>(), 0)), "an empty Future of Buffers");
  const Future<Executable> program = runtime.compile(Program::from_text(
      "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }"));
  expect_refused(wait_blocking(execute(Device(), program, {b})), "empty Device");
  expect_refused(wait_blocking(execute(device, program, {Buffer()})), "argument 0 of");
  expect_refused(wait_blocking(execute(device, program, {Future<Buffer>()})), "is an empty Buffer");
}

TEST_F(EmptyHandlesTest, EmptyDeviceFailsWithInvalidArgument) {
  const Device none;
  expect_refused(wait_blocking(device.execute(Executable(), {})), "an empty Executable");
  expect_refused(wait_blocking(device.fetch(Buffer())), "fetch was given an empty Buffer");
  expect_refused(wait_blocking(device.copy_from(Future<Buffer>())), "copy_from was given an empty");
  expect_refused(wait_blocking(device.layout_of(Buffer())), "layout_of was given an empty");
  expect_refused(wait_blocking(device.put({.shape = Shape(DType::kF32, {2})})), "null pointer");
  expect_refused(wait_blocking(device.put({})), "this element type has no bytes");
  expect_refused(wait_blocking(device.put(std::vector<float>{1}, {2})), "was given 1 values");
  expect_refused(wait_blocking(none.put({})), "put was called on an empty Device");
  expect_refused(wait_blocking(none.put_borrowed({})), "put was called on an empty Device");
  expect_refused(wait_blocking(none.execute(Executable(), {})), "called on an empty Device");
  expect_refused(wait_blocking(none.fetch(Buffer())), "called on an empty Device");
  expect_refused(wait_blocking(none.failed()), "failed was called on an empty Device");
  expect_refused(wait_blocking(none.restart()), "restart was called on an empty Device");
  expect_refused(none.kill(Error(ErrorCode::kInternal, "")), "kill was called on an empty Device");
  EXPECT_TRUE(wait_blocking(none.close()));
  expect_refused(wait_blocking(Buffer().ready()), "ready was called on an empty Buffer");
  expect_refused(Buffer().host_access(), "host_access was called on an empty Buffer");
  EXPECT_TRUE(HostArray().as<float>().empty());
}

TEST_F(EmptyHandlesTest, CombinatorsOfEmptyFuturesFailWithInvalidArgument) {
  const Future<int> there = make_ready(1);
  expect_refused(wait_blocking(when_all(there, Future<int>())), "input 1 of when_all is an empty");
  expect_refused(wait_blocking(when_all(std::vector{Future<int>()})), "input 0 of when_all");
  expect_refused(wait_blocking(when_any(std::vector{there, Future<int>()})), "input 1 of when_any");
}

Task<int> awaits(Future<int> future) { co_return co_await future; }

TEST(EmptyHandlesDeathTest, WhereTheHeaderSaysSoEndWithASentence) {
  EXPECT_DEATH(static_cast<void>(wait_blocking(Future<int>())), "a Future that is empty");
  EXPECT_DEATH(static_cast<void>(spawn(inline_executor(), awaits({}))), "a Future that is empty");
  EXPECT_DEATH(Future<int>().then(inline_executor(), [](Result<int>) {}).ignore(),
               "a Future that is empty");
  const auto set_twice = [] {
    Promise<int> promise;
    promise.set(1);
    promise.set(2);
  };
  EXPECT_DEATH(set_twice(), "a Promise is set once");
  EXPECT_DEATH(static_cast<void>(make_runtime().device(5)),
               "Runtime::device.5. was asked of a runtime with 1");
  EXPECT_DEATH(static_cast<void>(Device().id()), "a Device that is empty");
  EXPECT_DEATH(static_cast<void>(Buffer().shape()), "a Buffer that is empty");
  EXPECT_DEATH(static_cast<void>(Executable().name()), "an Executable that is empty");
}

// NOLINTBEGIN(bugprone-use-after-move): that is what is tested.
TEST(EmptyHandlesDeathTest, ThoseThatWereMovedFromEndWithASentence) {
  Runtime runtime = make_runtime();
  ProcessGroup rank =
      std::move(ProcessGroup::create(runtime.actors(), "g", runtime.devices()).value()[0]);
  Graph graph = GraphBuilder().build({}).value();
  Task<int> task = awaits(make_ready(1));
  const Runtime there = std::move(runtime);
  const ProcessGroup group = std::move(rank);
  const Graph built = std::move(graph);
  EXPECT_TRUE(wait_blocking(spawn(inline_executor(), std::move(task))));
  EXPECT_DEATH(static_cast<void>(runtime.device(0)), "a Runtime that was moved from was used");
  EXPECT_DEATH(static_cast<void>(runtime.compile(Program::from_text(""))),
               "a Runtime that was moved from");
  EXPECT_DEATH(static_cast<void>(runtime.close()), "a Runtime that was moved from");
  EXPECT_DEATH(static_cast<void>(runtime.metrics_snapshot()), "a Runtime that was moved from");
  EXPECT_DEATH(static_cast<void>(rank.size()), "a ProcessGroup that was moved from was used");
  EXPECT_DEATH(static_cast<void>(rank.barrier()), "a ProcessGroup that was moved from");
  EXPECT_DEATH(static_cast<void>(rank.close()), "a ProcessGroup that was moved from");
  EXPECT_DEATH(static_cast<void>(graph.start()), "a Graph that was moved from was started");
  EXPECT_DEATH(static_cast<void>(spawn(inline_executor(), std::move(task))),
               "a Task is spawned once");
  EXPECT_TRUE(wait_blocking(group.close()));
}
// NOLINTEND(bugprone-use-after-move)

TEST(EmptyHandlesDeathTest, ElementsOfAnotherTypeAreNoArray) {
  HostArray array = HostArray::make(Shape(DType::kF32, {4}));
  EXPECT_EQ(array.as<float>().size(), 4u);
  EXPECT_DEATH(static_cast<void>(array.as<double>()), "tensor<4xf32> was asked for .* f64");
  EXPECT_DEATH(static_cast<void>(array.as<std::int32_t>()), "tensor<4xf32> was asked for .* i32");
  EXPECT_DEATH(static_cast<void>(array.as<std::uint32_t>()), "tensor<4xf32> was asked for .* ui32");
  // No type of C++ has these elements: their bits may be read.
  array = HostArray::make(Shape(DType::kBF16, {4}));
  EXPECT_EQ(array.as<std::uint16_t>().size(), 4u);
  EXPECT_DEATH(static_cast<void>(array.as<float>()), "tensor<4xbf16> was asked for");
  array = HostArray::make(Shape(DType::kI1, {4}));
  EXPECT_EQ(array.as<bool>().size(), 4u);
  EXPECT_EQ(array.as<std::uint8_t>().size(), 4u);
  array = HostArray::make(Shape(DType::kI4, {4}));
  EXPECT_EQ(array.as<std::int8_t>().size(), 4u);
}

}  // namespace
}  // namespace millrace
