#include "millrace/transfer/batcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/transfer/batch_rig.h"

namespace millrace::transfer {
namespace {

using devices::DeviceId;
using millrace::testing::for_each_seed;

std::vector<float> floats(std::initializer_list<float> values) { return values; }

TEST(BatcherTest, RowsOfSeveralRequestsRunTogetherAndEachGetsItsOwn) {
  for_each_seed(10, [](Simulation& sim) {
    BatchRig rig(sim);
    rig.start();
    ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = milliseconds(2)}));
    const auto one = rig.run(1);
    const auto two = rig.run(10, 2);
    EXPECT_EQ(first_column(sim.run(two).value()), floats({20, 22}));
    EXPECT_EQ(first_column(sim.run(one).value()), floats({2}));
    const BatchQueueStats stats = rig.batcher->stats("m").value();
    EXPECT_EQ(stats.succeeded, 2U);
    EXPECT_EQ(stats.batch_time.count, 1U);
    EXPECT_EQ(stats.rows, 3U);
    EXPECT_EQ(stats.padding, 1U);
  });
}

TEST(BatcherTest, OutputsAreViewsOfOneArray) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = milliseconds(2)}));
  const auto one = rig.run(1);
  const auto two = rig.run(5);
  const RowOutputs first = sim.run(one).value();
  const RowOutputs second = sim.run(two).value();
  EXPECT_EQ(second[0].array.bytes().data(), first[0].array.bytes().data() + 12);
  EXPECT_EQ(second[0].name, "y");
}

TEST(BatcherTest, WhatIsWrongWithARequestIsSaidByTheNameOfItsInput) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  ASSERT_TRUE(rig.batcher->add(rig.model("m")));
  struct Row {
    ListOf<RowInput> inputs;
    const char* says;
  };
  RowInput flat = rows_from(1);
  flat.view.shape = Shape(DType::kF32, {3});
  RowInput integers = rows_from(1);
  integers.view.shape = Shape(DType::kI32, {1, 3});
  RowInput borrowed = rows_from(1);
  const auto kept = borrowed.view.owner;
  borrowed.view.owner = nullptr;
  const std::vector<Row> rows = {{{rows_from(1, 1, "z")}, "input 'x' is missing"},
                                 {{rows_from(1), rows_from(1, 1, "z")}, "input 'z' is none of"},
                                 {{rows_from(1), rows_from(2)}, "input 'x' is one too many"},
                                 {{flat}, "input 'x' is tensor<3xf32>"},
                                 {{integers}, "should be tensor<?x3xf32>"},
                                 {{rows_from(1, 17)}, "1 to 16"},
                                 {{rows_from(1, 0)}, "0 rows"},
                                 {{borrowed}, "without an owner"}};
  for (const Row& row : rows) {
    const auto result = sim.run(rig.batcher->run("m", row.inputs));
    ASSERT_FALSE(result) << row.says;
    EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(result.error().message().find(row.says), std::string::npos)
        << result.error().message();
  }
  EXPECT_EQ(sim.run(rig.run(1, 1, {}, "other")).error().code(), ErrorCode::kNotFound);
}

TEST(BatcherTest, AFullQueueRefusesAtOnceAndSaysHowLongItsWorkTakes) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  ASSERT_TRUE(
      rig.batcher->add(rig.model("m"), {.most_delay = milliseconds(5), .most_requests = 2}));
  const auto first = rig.run(1);
  const auto second = rig.run(2);
  const auto third = rig.run(3);
  ASSERT_TRUE(third.ready());  // within the call
  const Error error = third.result().error();
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  ASSERT_NE(error.detail<QueueFull>(), nullptr);
  EXPECT_EQ(error.detail<QueueFull>()->requests, 2U);
  EXPECT_TRUE(sim.run(first));
  EXPECT_TRUE(sim.run(second));
  EXPECT_TRUE(sim.run(rig.run(3)));  // there is room again
  EXPECT_EQ(rig.batcher->stats("m")->refused, 1U);
}

TEST(BatcherTest, AQueueIsBoundedInBytesToo) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  ASSERT_TRUE(
      rig.batcher->add(rig.model("m"), {.most_delay = milliseconds(5), .most_bytes = 3 * 12}));
  const auto two = rig.run(1, 2);
  EXPECT_EQ(rig.run(1, 2).result().error().code(), ErrorCode::kResourceExhausted);
  const auto one = rig.run(1, 1);
  EXPECT_TRUE(sim.run(two));
  EXPECT_TRUE(sim.run(one));
}

TEST(BatcherTest, ADeadlineAndAStopEndWhatIsQueuedAndItNeverReachesTheDevice) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = milliseconds(50)}));
  std::stop_source client;  // all requests of a client share it
  RequestOptions stop;
  stop.call.stop = client.get_token();
  const auto gone = rig.run(1, 1, stop);
  const auto gone_too = rig.run(2, 1, stop);
  RequestOptions soon;
  soon.call.deadline = sim.now() + milliseconds(1);
  soon.priority = 9;
  const auto late = rig.run(3, 1, soon);
  client.request_stop();
  EXPECT_EQ(sim.run(gone).error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(sim.run(gone_too).error().code(), ErrorCode::kCancelled);
  const auto result = sim.run(late);  // its batch may have begun, and runs longer
  EXPECT_EQ(result.error().code(), ErrorCode::kDeadlineExceeded);
  sim.run_for(milliseconds(100));
  const BatchQueueStats stats = rig.batcher->stats("m").value();
  EXPECT_EQ(stats.cancelled, 3U);
  EXPECT_EQ(stats.queued, 0U);
  EXPECT_LE(stats.rows, 1U);
}

TEST(BatcherTest, ADeviceThatFailsHasItsRequestsRunByAnother) {  // BA-1
  for_each_seed(20, [](Simulation& sim) {
    BatchRig rig(sim, 2);
    rig.start();
    ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = {}}));
    std::vector<Future<RowOutputs>> all;
    for (int i = 0; i < 30; ++i) all.push_back(rig.run(static_cast<float>(i)));
    rig.devices->client().fail_device(DeviceId{0}, sim.now() + milliseconds(sim.below(5)), "burnt");
    for (int i = 0; i < 30; ++i) {
      const auto rows = sim.run(all[static_cast<std::size_t>(i)]);
      ASSERT_TRUE(rows.has_value()) << rows.error().to_string();
      EXPECT_EQ(first_column(*rows), floats({2 * static_cast<float>(i)}));
    }
    sim.run_for(milliseconds(10));
    EXPECT_EQ(rig.batcher->devices_alive(), 1U);
    const std::vector<std::optional<Error>> failures = rig.batcher->device_failures();
    ASSERT_TRUE(failures[0]);
    EXPECT_NE(failures[0]->to_string().find("burnt"), std::string::npos);
    EXPECT_FALSE(failures[1]);
  });
}

TEST(BatcherTest, WithoutADeviceRequestsFailWithTheReason) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = milliseconds(3)}));
  const auto queued = rig.run(1);
  rig.devices->client().fail_device(DeviceId{0}, sim.now() + milliseconds(1), "burnt");
  const auto result = sim.run(queued);
  EXPECT_EQ(result.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(result.error().message().find("burnt"), std::string::npos) << result.error().message();
  EXPECT_EQ(sim.run(rig.run(1)).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(rig.batcher->devices_alive(), 0U);
  EXPECT_EQ(rig.batcher->stats("m").value().failed, 2U);
  EXPECT_EQ(rig.batcher->stats("m").value().cancelled, 0U);
}

// A plugin may call a launch unavailable, too.
TEST(BatcherTest, ABatchThatFailsOnAGoodDeviceFailsItsRequestsAlone) {
  for (const ErrorCode code : {ErrorCode::kInternal, ErrorCode::kUnavailable}) {
    Simulation sim(1);
    BatchRig rig(sim);
    rig.start();
    ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = milliseconds(1)}));
    rig.devices->client().fail_launch(DeviceId{0}, 1, Error(code, "bad luck"));
    const auto result = sim.run(rig.run(1));
    EXPECT_EQ(result.error().code(), code);
    EXPECT_NE(result.error().message().find("bad luck"), std::string::npos);
    EXPECT_TRUE(sim.run(rig.run(1)));
    EXPECT_EQ(rig.batcher->devices_alive(), 1U);
    EXPECT_EQ(rig.batcher->stats("m").value().failed, 1U);
  }
}

TEST(BatcherTest, ANewVersionTakesOverAndTheOldOneEndsWithItsLastBatch) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  ASSERT_TRUE(rig.batcher->add(rig.model("m", 2), {.most_delay = {}}));
  const auto before = rig.run(1);
  sim.run_until_idle();  // launched
  const Future<void> ended = rig.batcher->replace(rig.model("m", 5));
  const auto after = rig.run(1);
  EXPECT_FALSE(ended.ready());
  EXPECT_EQ(first_column(sim.run(before).value()), floats({2}));
  EXPECT_TRUE(sim.run(ended));
  EXPECT_EQ(first_column(sim.run(after).value()), floats({5}));
  EXPECT_EQ(sim.run(rig.batcher->replace(rig.model("other"))).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(sim.run(rig.batcher->replace(rig.model("m", 5, {1, 4}))).error().code(),
            ErrorCode::kInvalidArgument);
}

TEST(BatcherTest, CloseAnswersWhatWasAcceptedUntilItsDeadline) {  // BA-2
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = std::chrono::hours(1)}));
  const auto accepted = rig.run(1);
  const auto closed = rig.batcher->close(sim.now() + std::chrono::seconds(1));
  EXPECT_TRUE(sim.run(accepted));
  EXPECT_TRUE(sim.run(closed));
  EXPECT_EQ(sim.run(rig.run(1)).error().code(), ErrorCode::kUnavailable);
}

TEST(BatcherTest, CloseRefusesWhatComesAfterItAndEndsBesideClientsThatAskOn) {  // BA-2
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start({.batches_per_device = 2});
  ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = {}, .most_rows = 1}));
  auto first = rig.run(1);
  sim.run_for(std::chrono::microseconds(600));  // so that the two overlap
  auto second = rig.run(2);
  sim.run_for(std::chrono::microseconds(100));
  const auto closed = rig.batcher->close(sim.now() + std::chrono::seconds(1));
  const auto late = rig.run(3);
  EXPECT_EQ(sim.run(late).error().code(), ErrorCode::kUnavailable);
  int answered = 0;
  for (int i = 0; i < 100 && !closed.ready(); ++i) {
    sim.run_for(std::chrono::microseconds(50));
    auto& asked = i % 2 == 0 ? first : second;
    answered += sim.run(asked).has_value() ? 1 : 0;
    asked = rig.run(4);
  }
  EXPECT_TRUE(closed.ready());
  EXPECT_EQ(answered, 2) << "those that were accepted";
  EXPECT_TRUE(sim.run(closed));
  static_cast<void>(sim.run(first));
  static_cast<void>(sim.run(second));
}

TEST(BatcherTest, CloseAtOnceFailsWhatIsQueuedAndWaitsForWhatRuns) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start({.batches_per_device = 1});
  ASSERT_TRUE(rig.batcher->add(rig.model("m"), {.most_delay = {}, .most_rows = 1}));
  const auto runs = rig.run(1);
  const auto queued = rig.run(2);
  sim.run_until_idle();
  const auto closed = rig.batcher->close();
  EXPECT_EQ(sim.run(queued).error().code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(closed.ready());
  EXPECT_TRUE(sim.run(closed));
  EXPECT_TRUE(runs.ready());
  EXPECT_TRUE(runs.result().has_value());
}

TEST(BatcherTest, RowsOfVariableLengthRunInTheSmallestBucketThatHoldsThem) {
  Simulation sim(1);
  SimDevices devices(sim);
  BatchModel::Parts parts{
      .name = "sum",
      .inputs = {{.name = "x", .row = Shape(DType::kF32, {devices::kUnknownDimension, 2})}},
      .outputs = {{.name = "y", .row = Shape(DType::kF32, {devices::kUnknownDimension, 2})}}};
  for (const std::int64_t length : {2, 4}) {
    const Shape shape(DType::kF32, {2, length, 2});
    SimProgram copy{.name = "copy" + std::to_string(length), .inputs = {shape}, .outputs = {shape}};
    copy.compute = [](std::span<const SimCall> calls) -> Status {
      std::ranges::copy(calls[0].inputs[0], calls[0].outputs[0].begin());
      return {};
    };
    parts.programs.push_back({.executable = devices.program(copy), .rows = 2, .length = length});
  }
  Batcher batcher = Batcher::create(sim.actors(), {.devices = {devices[0]}}).value();
  ASSERT_TRUE(batcher.add(BatchModel::create(std::move(parts)).value()));
  const auto input = [](std::int64_t length) {
    auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(length * 2), 7);
    HostView view;
    view.data = values->data();
    view.shape = Shape(DType::kF32, {1, length, 2});
    view.owner = values;
    return RowInput{.name = "x", .view = view};
  };
  const auto three = batcher.run("sum", {input(3)});
  const auto one = batcher.run("sum", {input(1)});
  const RowOutputs y = sim.run(three).value();
  EXPECT_EQ(y[0].array.shape(), Shape(DType::kF32, {1, 4, 2}));
  const auto values = y[0].array.as<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), floats({7, 7, 7, 7, 7, 7, 0, 0}));
  EXPECT_EQ(sim.run(one).value()[0].array.shape(), Shape(DType::kF32, {1, 2, 2}));
  EXPECT_FALSE(sim.run(batcher.run("sum", {input(5)})));
  EXPECT_TRUE(sim.run(batcher.close()));
}

TEST(BatcherTest, WhatCannotBeAddedIsRefusedWithItsName) {
  Simulation sim(1);
  BatchRig rig(sim);
  rig.start();
  const auto model = rig.model("m");
  ASSERT_TRUE(rig.batcher->add(model));
  EXPECT_EQ(rig.batcher->add(model).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(rig.batcher->add(rig.model("n"), {.most_rows = 17}).error().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(rig.batcher->add(rig.model("n"), {.weight = 0}).error().code(),
            ErrorCode::kInvalidArgument);
  BatchModel::Parts parts{.name = "odd",
                          .inputs = {{.name = "x", .row = Shape(DType::kF32, {4}), .position = 1}},
                          .outputs = {{.name = "y", .row = Shape(DType::kF32, {3})}}};
  parts.programs.push_back(
      {.executable = rig.devices->program(scaling("odd", 2, milliseconds(1))), .rows = 2});
  EXPECT_NE(BatchModel::create(parts).error().message().find(
                "input 'x' of the program is tensor<2x3xf32>, not tensor<2x4xf32>"),
            std::string::npos);
  parts.inputs[0].row = Shape(DType::kF32, {3});
  EXPECT_NE(BatchModel::create(parts).error().message().find("nothing gives its input 0"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::transfer
