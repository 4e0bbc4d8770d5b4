#include "millrace/devices/cpu/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "tests/support/allocation_count.h"
#include "tests/support/cpu_programs.h"

namespace millrace::devices::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::increment_sum;
using testing::scripted;
using testing::ScriptedProgram;

constexpr std::int64_t kElements = 4;
const Shape kVector(DType::kF32, {kElements});

// One thread, the test's: work of the devices runs when the test says so.
class CpuClientTest : public ::testing::Test {
 protected:
  void start(ScriptedProgram program, int devices = 1) {
    CpuClientOptions options;
    for (int i = 0; i < devices; ++i) {
      options.threads.push_back({.executor = &executor_, .parallel = parallel_.get()});
    }
    options.compile = scripted(std::move(program));
    options.trace = traced_ ? &trace_ : nullptr;
    options.inline_time = inline_time_;
    client_.emplace(std::move(options));
    executable_ = client_->compile(Program::from_text("scripted", "scripted"), {}).value();
  }
  // out = a + 1; donates a and writes over it where it may.
  static ScriptedProgram increment(bool donate) {
    ScriptedProgram program{.inputs = {kVector}, .outputs = {kVector}};
    if (donate) {
      program.donated = {0};
      program.aliases = {{.output = 0, .input = 0}};
    }
    program.body = [](const RunCall& call) { return increment_sum(call, kElements); };
    return program;
  }
  void TearDown() override {
    if (!client_) return;
    const Future<void> closed = client_->close();
    executor_.run_until_idle();
    EXPECT_TRUE(closed.ready());
  }

  PutResult put(const HostView& view, HostBufferSemantics semantics, int device = 0) {
    return client_->put(view, semantics, DeviceId{device}, -1).value();
  }
  Buffer put_now(std::array<float, kElements> values) {
    return put({.data = values.data(), .shape = kVector},
               HostBufferSemantics::kImmutableOnlyDuringCall)
        .buffer;
  }
  Result<LaunchResult> launch(std::initializer_list<Buffer> arguments,
                              std::span<const int> keep = {}, bool awaited = false) {
    const DeviceId device{0};
    const std::span<const Buffer> inputs(arguments.begin(), arguments.size());
    LaunchResult result;
    MILLRACE_TRY_STATUS(executable_.body()->launch({.devices = {&device, 1},
                                                    .arguments = {&inputs, 1},
                                                    .non_donatable = keep,
                                                    .awaited = awaited},
                                                   {&result, 1}));
    return result;
  }
  static const void* data_of(const Buffer& buffer) {
    return buffer.host_access().value().bytes.data();
  }
  static std::vector<float> values_of(const Buffer& buffer) {
    std::vector<float> values(buffer.shape().elements());
    const Future<void> copied =
        buffer.body()->copy_to_host(std::as_writable_bytes(std::span(values)), nullptr);
    EXPECT_TRUE(copied.ready() && copied.result());
    return values;
  }

  SerialExecutor executor_{SerialExecutor::InOrder{}};
  std::unique_ptr<Parallel> parallel_ = make_serial_parallel();
  TraceRecorder trace_{steady_clock()};
  bool traced_ = true;
  Duration inline_time_{0};
  std::optional<CpuClient> client_;
  Executable executable_;
  alignas(64) std::array<float, 64> host_ = {1, 2, 3, 4};
};

TEST_F(CpuClientTest, PutDuringTheCallHasCopiedWhenItReturns) {
  start(increment(false));
  const PutResult put = this->put({.data = host_.data(), .shape = kVector},
                                  HostBufferSemantics::kImmutableOnlyDuringCall);
  host_.fill(0);
  EXPECT_TRUE(put.source_released.ready());
  EXPECT_THAT(values_of(put.buffer), ElementsAre(1, 2, 3, 4));
}

TEST_F(CpuClientTest, LargePutUntilTransferCompletesIsCopiedOnTheDevicesThreads) {
  start(increment(false));
  const std::vector<float> large(100'000, 3);
  const auto elements = static_cast<std::int64_t>(large.size());
  const PutResult put = this->put({.data = large.data(), .shape = Shape(DType::kF32, {elements})},
                                  HostBufferSemantics::kImmutableUntilTransferCompletes);
  EXPECT_FALSE(put.buffer.ready().ready());
  EXPECT_FALSE(put.source_released.ready());
  executor_.run_until_idle();
  EXPECT_TRUE(put.source_released.ready());
  EXPECT_EQ(static_cast<const float*>(data_of(put.buffer))[elements - 1], 3);
}

TEST_F(CpuClientTest, CopiesAbove64KiBAreMadeOnTheDevicesThreadsInEveryDirection) {
  start(increment(false), 2);
  for (const std::int64_t elements : {16 * 1024, 16 * 1024 + 1}) {
    const bool at_once = elements == 16 * 1024;
    std::vector<float> host(static_cast<std::size_t>(elements), 3);
    const Shape shape(DType::kF32, {elements});
    const PutResult put = this->put({.data = host.data(), .shape = shape},
                                    HostBufferSemantics::kImmutableUntilTransferCompletes);
    EXPECT_EQ(put.source_released.ready(), at_once) << elements;
    executor_.run_until_idle();
    const Buffer copy = client_->copy(put.buffer, DeviceId{1}, -1).value();
    EXPECT_EQ(copy.ready().ready(), at_once) << elements;
    executor_.run_until_idle();
    const Future<void> fetched =
        copy.body()->copy_to_host(std::as_writable_bytes(std::span(host)), nullptr);
    EXPECT_EQ(fetched.ready(), at_once) << elements;
    executor_.run_until_idle();
    EXPECT_TRUE(fetched.ready());
  }
}

TEST_F(CpuClientTest, ZeroCopyPutUsesTheHostBytesUntilTheBufferIsGone) {
  start(increment(false));
  auto owner = std::make_shared<int>(0);
  std::optional<PutResult> put = this->put({.data = host_.data(), .shape = kVector, .owner = owner},
                                           HostBufferSemantics::kImmutableZeroCopy);
  EXPECT_EQ(data_of(put->buffer), host_.data());
  EXPECT_EQ(owner.use_count(), 2);
  const Future<void> released = put->source_released;
  EXPECT_FALSE(released.ready());

  const LaunchResult result = launch({put->buffer}).value();
  put.reset();
  EXPECT_FALSE(released.ready()) << "a launch still reads it";
  executor_.run_until_idle();
  EXPECT_TRUE(released.ready());
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_THAT(values_of(result.outputs[0]), ElementsAre(2, 3, 4, 5));
}

TEST_F(CpuClientTest, ZeroCopyPutOfBadlyAlignedOrStridedBytesCopies) {
  start(increment(false));
  const std::int64_t strides[] = {8};
  for (const HostView& view :
       {HostView{.data = host_.data() + 1, .shape = kVector},
        HostView{.data = host_.data(), .shape = kVector, .byte_strides = strides}}) {
    const PutResult put = this->put(view, HostBufferSemantics::kImmutableZeroCopy);
    EXPECT_NE(data_of(put.buffer), view.data);
    EXPECT_TRUE(put.source_released.ready());
  }
}

TEST_F(CpuClientTest, NegativeStridesAreFollowed) {
  start(increment(false));
  const std::int64_t strides[] = {-4};
  const PutResult put =
      this->put({.data = host_.data() + 3, .shape = kVector, .byte_strides = strides},
                HostBufferSemantics::kImmutableUntilTransferCompletes);
  EXPECT_THAT(values_of(put.buffer), ElementsAre(4, 3, 2, 1));
}

TEST_F(CpuClientTest, BadPutsSayWhatIsWrong) {
  start(increment(false));
  const std::int64_t strides[] = {4, 4};
  const auto message = [&](const HostView& view, int device) {
    return client_->put(view, HostBufferSemantics::kImmutableZeroCopy, DeviceId{device}, -1)
        .error()
        .message();
  };
  EXPECT_THAT(message({.shape = kVector}, 0), HasSubstr("no data"));
  EXPECT_THAT(message({.data = host_.data(), .shape = kVector, .byte_strides = strides}, 0),
              HasSubstr("2 strides for 1 dimensions"));
  EXPECT_THAT(message({.data = host_.data(), .shape = kVector}, 7),
              HasSubstr("no CPU device 7 (of 1)"));
  EXPECT_THAT(message({.data = host_.data(), .shape = Shape(DType::kToken, {})}, 0),
              HasSubstr("no bytes"));
}

TEST_F(CpuClientTest, LaunchGivesHandlesAndRunsOnTheDevicesThreads) {
  start(increment(false));
  const Buffer a = put_now({1, 2, 3, 4});
  const LaunchResult result = launch({a}).value();
  EXPECT_FALSE(result.outputs[0].ready().ready());
  EXPECT_EQ(result.outputs[0].host_access().error().code(), ErrorCode::kFailedPrecondition);
  executor_.run_until_idle();
  EXPECT_TRUE(result.done.ready());
  EXPECT_THAT(values_of(result.outputs[0]), ElementsAre(2, 3, 4, 5));
  EXPECT_FALSE(a.removed());
}

TEST_F(CpuClientTest, ChainOfLaunchesRunsWithoutWaitingOnTheHost) {
  start(increment(true));
  Buffer x = put_now({0, 0, 0, 0});
  for (int i = 0; i < 10; ++i) x = launch({x}).value().outputs[0];
  executor_.run_until_idle();
  EXPECT_THAT(values_of(x), ElementsAre(10, 10, 10, 10));
}

TEST_F(CpuClientTest, OutputCompletesWhenItIsWrittenNotWhenTheProgramEnds) {
  const Buffer* early = nullptr;
  bool told_in_time = false;
  start({.inputs = {}, .outputs = {kVector, kVector}, .body = [&](const RunCall& call) -> Status {
           call.output_written(1);
           told_in_time = early->ready().ready();
           call.output_written(0);
           return {};
         }});
  const LaunchResult result = launch({}).value();
  early = &result.outputs[1];
  executor_.run_until_idle();
  EXPECT_TRUE(told_in_time);
}

TEST_F(CpuClientTest, DonatedInputBecomesTheOutputInPlace) {
  start(increment(true));
  const Buffer a = put_now({1, 2, 3, 4});
  const void* const data = data_of(a);
  const LaunchResult result = launch({a}).value();
  EXPECT_TRUE(a.removed());
  executor_.run_until_idle();
  EXPECT_EQ(data_of(result.outputs[0]), data);
  EXPECT_THAT(launch({a}).error().message(),
              HasSubstr("argument 0 of scripted, a tensor<4xf32>, was donated"));
  EXPECT_EQ(a.ready().result().error().code(), ErrorCode::kFailedPrecondition);
}

TEST_F(CpuClientTest, DonatedInputWithAReaderIsNotOverwritten) {
  start(increment(true));
  const Buffer a = put_now({1, 2, 3, 4});
  const HostAccess reader = a.host_access().value();
  const LaunchResult result = launch({a}).value();
  executor_.run_until_idle();
  EXPECT_NE(data_of(result.outputs[0]), reader.bytes.data());
  float first = 0;
  std::memcpy(&first, reader.bytes.data(), sizeof(first));
  EXPECT_EQ(first, 1);
  EXPECT_THAT(values_of(result.outputs[0]), ElementsAre(2, 3, 4, 5));
}

TEST_F(CpuClientTest, DonatedInputOfAPendingLaunchIsLeftAlone) {
  start(increment(true));
  const Buffer a = put_now({1, 2, 3, 4});
  const int keep[] = {0};
  const LaunchResult before = launch({a}, keep).value();
  const LaunchResult donating = launch({a}).value();
  executor_.run_until_idle();
  EXPECT_THAT(values_of(before.outputs[0]), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(values_of(donating.outputs[0]), ElementsAre(2, 3, 4, 5));
}

TEST_F(CpuClientTest, NonDonatableInputStaysWithItsHolder) {
  start(increment(true));
  const Buffer a = put_now({1, 2, 3, 4});
  const int keep[] = {0};
  const LaunchResult result = launch({a}, keep).value();
  executor_.run_until_idle();
  EXPECT_FALSE(a.removed());
  EXPECT_THAT(values_of(a), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values_of(result.outputs[0]), ElementsAre(2, 3, 4, 5));
}

TEST_F(CpuClientTest, ZeroCopyBytesAreNotWrittenByADonationUnlessTheyMayBe) {
  start(increment(true));
  const HostView view{.data = host_.data(), .shape = kVector};
  const LaunchResult kept =
      launch({put(view, HostBufferSemantics::kImmutableZeroCopy).buffer}).value();
  executor_.run_until_idle();
  EXPECT_EQ(host_[0], 1);
  EXPECT_NE(data_of(kept.outputs[0]), host_.data());

  const LaunchResult in_place =
      launch({put(view, HostBufferSemantics::kMutableZeroCopy).buffer}).value();
  executor_.run_until_idle();
  EXPECT_EQ(data_of(in_place.outputs[0]), host_.data());
  EXPECT_EQ(host_[0], 2);
}

TEST_F(CpuClientTest, PutMemoryBecomesTheArrayAndOtherMemoryIsRefused) {
  start(increment(true));
  Client::PutMemory memory = client_->put_memory(DeviceId{0})(kVector).value();
  const void* const bytes = memory.array.bytes().data();
  std::memcpy(memory.array.mutable_bytes().data(), host_.data(), kVector.size_bytes());
  HostView view{.data = bytes, .shape = kVector, .owner = memory.array.owner()};
  PutResult there = put(view, memory.semantics);
  EXPECT_FALSE(there.source_released.valid());
  memory = {};
  view.owner = nullptr;
  const LaunchResult in_place = launch({std::move(there.buffer)}).value();
  executor_.run_until_idle();
  EXPECT_EQ(data_of(in_place.outputs[0]), bytes) << "the device may write into it";

  const auto refused = client_->put({.data = host_.data(), .shape = kVector},
                                    HostBufferSemantics::kPutMemory, DeviceId{0}, -1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
}

// The caller has released it, and the program still reads it.
TEST_F(CpuClientTest, AnOutputThatIsWrittenStaysUntilTheProgramEnds) {
  std::optional<Buffer> other;
  ScriptedProgram program{.inputs = {}, .outputs = {kVector, kVector}};
  program.body = [&](const RunCall& call) -> Status {
    auto* const first = static_cast<float*>(call.outputs[0]);
    std::fill_n(first, kElements, 5.0F);
    call.output_written(0);
    other = put_now({9, 9, 9, 9});  // in memory that is free
    std::copy_n(first, kElements, static_cast<float*>(call.outputs[1]));
    call.output_written(1);
    return {};
  };
  start(std::move(program));
  Buffer second = launch({}).value().outputs[1];
  executor_.run_until_idle();
  EXPECT_THAT(values_of(second), ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(values_of(*other), ElementsAre(9, 9, 9, 9));
  other.reset();
}

TEST_F(CpuClientTest, FailedProgramFailsItsOutputsAndWhatDependsOnThem) {
  ScriptedProgram program = increment(false);
  program.body = [](const RunCall& /*call*/) -> Status {
    return fail(ErrorCode::kDataLoss, "the sum is off");
  };
  start(program);
  const LaunchResult first = launch({put_now({1, 2, 3, 4})}).value();
  const LaunchResult second = launch({first.outputs[0]}).value();
  executor_.run_until_idle();
  for (const Future<void>& future :
       {first.done, first.outputs[0].ready(), second.done, second.outputs[0].ready()}) {
    ASSERT_TRUE(future.ready());
    EXPECT_EQ(future.result().error().code(), ErrorCode::kDataLoss);
  }
  EXPECT_EQ(second.outputs[0].host_access().error().code(), ErrorCode::kDataLoss);
}

TEST_F(CpuClientTest, BadLaunchFailsAtOnceAndDonatesNothing) {
  start(increment(true), 2);
  const Buffer a = put_now({1, 2, 3, 4});
  const Buffer elsewhere = client_->copy(a, DeviceId{1}, -1).value();
  EXPECT_THAT(launch({a, a}).error().message(), HasSubstr("takes 1 argument, not 2"));
  EXPECT_THAT(launch({elsewhere}).error().message(), HasSubstr("is on device 1"));
  EXPECT_FALSE(a.removed());
}

TEST_F(CpuClientTest, CopyToAnotherDeviceWaitsForTheBytes) {
  start(increment(false), 2);
  const LaunchResult result = launch({put_now({1, 2, 3, 4})}).value();
  const Buffer copy = client_->copy(result.outputs[0], DeviceId{1}, -1).value();
  EXPECT_FALSE(copy.ready().ready());
  executor_.run_until_idle();
  EXPECT_EQ(copy.device(), DeviceId{1});
  EXPECT_THAT(values_of(copy), ElementsAre(2, 3, 4, 5));
}

TEST_F(CpuClientTest, RemovedBufferStaysForLaunchesThatReadIt) {
  start(increment(false));
  const Buffer a = put_now({1, 2, 3, 4});
  const LaunchResult result = launch({a}).value();
  a.remove();
  EXPECT_EQ(a.host_access().error().code(), ErrorCode::kFailedPrecondition);
  executor_.run_until_idle();
  EXPECT_THAT(values_of(result.outputs[0]), ElementsAre(2, 3, 4, 5));
}

TEST_F(CpuClientTest, MemoryStatsCountTemporariesWhileTheProgramRuns) {
  ScriptedProgram program = increment(false);
  program.temporary_bytes = 1000;
  std::int64_t inside = 0;
  program.body = [&](const RunCall& call) {
    inside = client_->memory_stats(DeviceId{0})->bytes_in_use;
    return increment_sum(call, kElements);
  };
  start(program);
  const Buffer x = put_now({1, 2, 3, 4});
  const LaunchResult result = launch({x}).value();
  executor_.run_until_idle();
  EXPECT_TRUE(result.done.result());
  EXPECT_EQ(inside, 2 * 64 + 1000);
  EXPECT_EQ(client_->memory_stats(DeviceId{0})->bytes_in_use, 2 * 64);
  EXPECT_EQ(client_->memory_stats(DeviceId{0})->peak_bytes_in_use, 2 * 64 + 1000);
}

TEST_F(CpuClientTest, MemoryStatsCountBuffersAndReuseTheirMemory) {
  start(increment(false));
  {
    const Buffer a = put_now({1, 2, 3, 4});
    EXPECT_EQ(client_->memory_stats(DeviceId{0})->bytes_in_use, 64);
  }
  EXPECT_EQ(client_->memory_stats(DeviceId{0})->bytes_in_use, 0);
  EXPECT_EQ(client_->memory_stats(DeviceId{0})->peak_bytes_in_use, 64);
}

TEST_F(CpuClientTest, CloseRefusesAndWaitsForLaunchesInFlight) {
  start(increment(false));
  const Buffer a = put_now({1, 2, 3, 4});
  const LaunchResult result = launch({a}).value();
  const Future<void> closed = client_->close();
  EXPECT_FALSE(closed.ready());
  EXPECT_EQ(launch({a}).error().code(), ErrorCode::kUnavailable);
  executor_.run_until_idle();
  EXPECT_TRUE(closed.ready());
  EXPECT_THAT(values_of(result.outputs[0]), ElementsAre(2, 3, 4, 5)) << "buffers outlive close()";
}

TEST_F(CpuClientTest, ThreadsThatCloseFailTheLaunchesThatWaitForThem) {
  auto threads = std::make_unique<SerialExecutor>(SerialExecutor::InOrder{});
  CpuClientOptions options{.threads = {{.executor = threads.get(), .parallel = parallel_.get()}}};
  options.compile = scripted(increment(false));
  client_.emplace(std::move(options));
  executable_ = client_->compile(Program::from_text("scripted"), {}).value();
  const LaunchResult first = launch({put_now({1, 2, 3, 4})}).value();
  const LaunchResult second = launch({first.outputs[0]}).value();

  threads.reset();

  EXPECT_EQ(first.outputs[0].ready().result().error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(second.done.result().error().code(), ErrorCode::kUnavailable);
}

TEST_F(CpuClientTest, ShortProgramIsRunByTheLaunchOnceItIsKnownToBeShort) {
  inline_time_ = std::chrono::hours(1);
  start(increment(false));
  const Buffer a = put_now({1, 2, 3, 4});
  const LaunchResult first = launch({a}).value();
  EXPECT_FALSE(first.done.ready());
  const LaunchResult in_line = launch({a}).value();
  EXPECT_FALSE(in_line.done.ready()) << "the device is not idle";
  executor_.run_until_idle();
  const LaunchResult now = launch({a}).value();
  EXPECT_TRUE(now.done.ready());
  EXPECT_THAT(values_of(now.outputs[0]), ElementsAre(2, 3, 4, 5));
}

TEST_F(CpuClientTest, ProgramThatIsAwaitedMayBeLongerAndIsRunByTheLaunch) {
  ManualClock clock;
  Duration takes = std::chrono::microseconds(499);
  ScriptedProgram program = increment(false);
  program.body = [&](const RunCall& call) {
    clock.advance(takes);
    return increment_sum(call, kElements);
  };
  CpuClientOptions options{.threads = {{.executor = &executor_, .parallel = parallel_.get()}},
                           .clock = &clock,
                           .inline_time = std::chrono::microseconds(50)};
  options.compile = scripted(std::move(program));
  client_.emplace(std::move(options));
  executable_ = client_->compile(Program::from_text("scripted"), {}).value();
  const Buffer a = put_now({1, 2, 3, 4});
  const auto is_run = [&](bool awaited) {
    const LaunchResult launched = launch({a}, {}, awaited).value();
    const bool run = launched.done.ready();
    executor_.run_until_idle();
    return run;
  };
  EXPECT_FALSE(is_run(true)) << "how long it takes is not known";
  EXPECT_TRUE(is_run(true));
  EXPECT_FALSE(is_run(false));
  takes = std::chrono::milliseconds(1);
  EXPECT_TRUE(is_run(true));
  EXPECT_FALSE(is_run(true)) << "it takes longer now";
}

TEST_F(CpuClientTest, LaunchWaitsForAnArrayWhoseBytesComeLate) {
  start(increment(false));
  LateArray late = client_->make_late(kVector, DeviceId{0}).value();
  const LaunchResult result = launch({late.buffer()}).value();
  executor_.run_until_idle();
  EXPECT_FALSE(result.done.ready());
  const std::array<float, kElements> values = {1, 2, 3, 4};
  std::memcpy(late.bytes().data(), values.data(), late.bytes().size());
  late.write();
  EXPECT_FALSE(late.is_open());
  executor_.run_until_idle();
  EXPECT_THAT(values_of(result.outputs[0]), ElementsAre(2, 3, 4, 5));
}

TEST_F(CpuClientTest, LateArrayThatIsDroppedFailsItsReaders) {
  start(increment(false));
  std::optional<LateArray> late = client_->make_late(kVector, DeviceId{0}).value();
  const LaunchResult result = launch({late->buffer()}).value();
  late.reset();
  executor_.run_until_idle();
  EXPECT_EQ(result.outputs[0].ready().result().error().code(), ErrorCode::kAborted);
}

TEST_F(CpuClientTest, ThreadsThatCloseFailALongLineOfLaunches) {
  auto threads = std::make_unique<SerialExecutor>(SerialExecutor::InOrder{});
  CpuClientOptions options{.threads = {{.executor = threads.get(), .parallel = parallel_.get()}}};
  options.compile = scripted(increment(false));
  client_.emplace(std::move(options));
  executable_ = client_->compile(Program::from_text("scripted"), {}).value();
  const Buffer a = put_now({1, 2, 3, 4});
  std::vector<LaunchResult> results;
  for (int i = 0; i < 20'000; ++i) results.push_back(launch({a}).value());
  threads.reset();
  for (const LaunchResult& result : results) {
    ASSERT_TRUE(result.done.ready());
    EXPECT_EQ(result.done.result().error().code(), ErrorCode::kUnavailable);
  }
}

TEST_F(CpuClientTest, StopReachesTheProgram) {
  ScriptedProgram program = increment(false);
  program.body = [](const RunCall& call) -> Status {
    if (call.stop.stop_requested()) return fail(ErrorCode::kCancelled, "stopped");
    return increment_sum(call, kElements);
  };
  start(program);
  const Buffer a = put_now({1, 2, 3, 4});
  const DeviceId device{0};
  const std::span<const Buffer> inputs(&a, 1);
  std::stop_source stop;
  LaunchResult result;
  ASSERT_TRUE(executable_.body()->launch(
      {.devices = {&device, 1}, .arguments = {&inputs, 1}, .stop = stop.get_token()},
      {&result, 1}));
  LaunchResult late;
  ASSERT_TRUE(executable_.body()->launch({.devices = {&device, 1},
                                          .arguments = {&inputs, 1},
                                          .stop = stop.get_token(),
                                          .deadline = steady_clock().now()},
                                         {&late, 1}));
  stop.request_stop();
  executor_.run_until_idle();
  EXPECT_EQ(result.done.result().error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(late.done.result().error().code(), ErrorCode::kDeadlineExceeded);
}

TEST_F(CpuClientTest, LaunchesAreTracedAndCountAsBusyTime) {
  start(increment(false));
  const LaunchResult result = launch({put_now({1, 2, 3, 4})}).value();
  executor_.run_until_idle();
  std::vector<std::string> names;
  for (const TraceEvent& event : trace_.events()) {
    names.push_back(trace_.lane_text(event.lane) + ": " + trace_.name_text(event.name));
  }
  EXPECT_THAT(names, ElementsAre("device 0 puts: put", "device 0: scripted"));
  EXPECT_GT(client_->busy_time(DeviceId{0})->count(), 0);
}

TEST_F(CpuClientTest, ChainInTheSteadyStateAllocatesNothing) {
  if (!testing::kAllocationsCountable)
    GTEST_SKIP() << "sanitizers see every pooled block as an allocation";
  traced_ = false;  // its rings grow until they are full
  start(increment(true));
  Buffer x = put_now({0, 0, 0, 0});
  auto step = [&] {
    x = launch({x}).value().outputs[0];
    executor_.run_until_idle();
  };
  for (int i = 0; i < 20; ++i) step();
  const testing::AllocationCount count;
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(count.count(), 0);
}

}  // namespace
}  // namespace millrace::devices::cpu
