// The device suite: what one call does, and what a device that fails or closes does. Read next:
// device_suite_load_test.cc (many calls at once).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "tests/devices/device_suite.h"
#include "tests/support/paths.h"

namespace millrace::testing {
namespace {

using devices::Client;
using devices::HostBufferSemantics;
using devices::PutResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_P(DeviceSuite, DevicesAndMemoriesAreDescribed) {
  Client& client = backend_->client();
  EXPECT_FALSE(client.platform_name().empty());
  for (int i = 0; i < 2; ++i) {
    const devices::DeviceInfo& info = client.devices()[static_cast<std::size_t>(i)];
    EXPECT_EQ(info.id, devices::DeviceId{i});
    EXPECT_FALSE(info.kind.empty());
    ASSERT_FALSE(info.memories.empty());
    const auto memory =
        std::ranges::find(client.memories(), info.memories[0], &devices::MemoryInfo::id);
    ASSERT_NE(memory, client.memories().end());
    EXPECT_THAT(memory->devices, ::testing::Contains(info.id));
  }
}

TEST_P(DeviceSuite, EverySemanticsBringsTheBytesAndReleasesTheSource) {
  for (int semantics = 0; semantics <= 3; ++semantics) {
    auto source = std::make_shared<Vector>(Vector{1, 2, 3, 4});
    Result<PutResult> done = wait_blocking(
        devices_[0].put_borrowed({.data = source->data(), .shape = kVector, .owner = source},
                                 HostBufferSemantics{semantics}));
    if (!done && semantics == 3) {  // no device has to write into its host's memory
      EXPECT_EQ(done.error().code(), ErrorCode::kUnimplemented) << done.error().to_string();
      continue;
    }
    std::optional<PutResult> put = std::move(done).value();
    done = {};  // no second holder of the buffer
    EXPECT_THAT(fetch(put->buffer), ElementsAre(1, 2, 3, 4));
    const Future<void> released = put->source_released;
    put.reset();
    EXPECT_TRUE(wait_blocking(released).has_value()) << semantics;
  }
}

TEST_P(DeviceSuite, SourceMayChangeAfterItWasReleased) {
  for (const auto semantics : {HostBufferSemantics::kImmutableOnlyDuringCall,
                               HostBufferSemantics::kImmutableUntilTransferCompletes}) {
    Vector source = {1, 2, 3, 4};
    const PutResult put = wait_blocking(devices_[0].put_borrowed(view(source), semantics)).value();
    ASSERT_TRUE(wait_blocking(put.source_released).has_value());
    source.fill(0);
    EXPECT_THAT(fetch(put.buffer), ElementsAre(1, 2, 3, 4));
  }
}

TEST_P(DeviceSuite, StridedSourceArrivesInRowMajorOrder) {
  const Vector source = {1, 2, 3, 4};
  const std::int64_t strides[] = {4, 8};
  const HostView transposed{
      .data = source.data(), .shape = Shape(DType::kF32, {2, 2}), .byte_strides = strides};
  EXPECT_THAT(fetch(devices_[0].put(transposed)), ElementsAre(1, 3, 2, 4));
}

// Dense and row-major by default, everywhere; other orders where the backend has them.
TEST_P(DeviceSuite, LayoutsAreReportedAndOthersAreKeptOrRefused) {
  using devices::DeviceLayout;
  const float values[] = {1, 2, 3, 4, 5, 6};
  const HostView there{.data = values, .shape = Shape(DType::kF32, {2, 3})};
  const DeviceLayout rows = DeviceLayout::row_major(2), columns{.minor_to_major = {0, 1}};
  EXPECT_EQ(wait_blocking(devices_[1].default_layout(there.shape)).value(), rows);
  EXPECT_EQ(wait_blocking(devices_[1].layout_of(devices_[1].put(there))).value(), rows);
  devices::PutOptions options;
  options.layout = rows;
  EXPECT_EQ(wait_blocking(devices_[0].layout_of(devices_[0].put(there, options))).value(), rows);
  options.layout = columns;
  const Result<Buffer> other = wait_blocking(devices_[0].put(there, options));
  if (other) {
    EXPECT_EQ(wait_blocking(devices_[0].layout_of(*other)).value(), columns);
    if (GetParam().name != "Xla0106") {  // copies in the device's order, whatever it is asked for
      EXPECT_THAT(wait_blocking(devices_[0].fetch(*other)).value().as<float>(),
                  ::testing::ElementsAreArray(values));
    }
    // A program that takes its arguments row-major would take the bytes as they lie.
    const Result<Executable> negate = backend_->client().compile(
        devices::Program::from_text(
            "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
            "  %0 = stablehlo.negate %x : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>\n}",
            "negate.mlir"),
        {});
    ASSERT_TRUE(negate) << negate.error().to_string();
    const Result<Buffer> wrong = wait_blocking(first(devices_[0].execute(*negate, {*other})));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(wrong.error().message(), HasSubstr("lies in the layout {0,1}"));
  } else {
    EXPECT_EQ(other.error().code(), ErrorCode::kUnimplemented);
    EXPECT_THAT(other.error().message(), HasSubstr("in the layout {0,1}: the backend '"));
    EXPECT_FALSE(GetParam().name.starts_with("Xla"));
  }
  options.layout = DeviceLayout{.minor_to_major = {0, 0}};
  EXPECT_EQ(code_of(wait_blocking(devices_[0].put(there, options))), ErrorCode::kInvalidArgument);
  const Future<Buffer> refused = Error(ErrorCode::kDataLoss, "never made");
  EXPECT_EQ(code_of(wait_blocking(devices_[0].layout_of(refused))), ErrorCode::kDataLoss);
  EXPECT_EQ(code_of(wait_blocking(devices_[0].layout_of(Buffer()))), ErrorCode::kInvalidArgument);
}

TEST_P(DeviceSuite, HostMemoryIsMappedOrThatIsUnimplemented) {
  Vector memory{};
  const Result<devices::Owner> mapped =
      wait_blocking(devices_[0].map_host_memory(std::as_writable_bytes(std::span(memory))));
  // None of the usual backends needs it: their devices are host memory.
  if (mapped) {
    EXPECT_NE(*mapped, nullptr);
  } else {
    EXPECT_EQ(code_of(mapped), ErrorCode::kUnimplemented);
  }
}

// What each backend has of element types narrower than a byte, one byte each on the host.
TEST_P(DeviceSuite, EveryElementTypeMakesTheRoundTrip) {
  struct Case {
    DType type;
    std::vector<std::int8_t> bytes;
  };
  const std::vector<Case> cases = {
      {DType::kI1, {1, 0, 1, 1, 0}},
      {DType::kI2, {1, -2, -1, 0, 1}},
      {DType::kI4, {7, -8, -1, 0, -2}},
      {DType::kU2, {3, 2, 1, 0, 3}},
      {DType::kU4, {15, 8, 7, 0, 1}},
      {DType::kI8, {127, -128, -1, 0, 1}},
      {DType::kU8, {127, -128, -1, 0, 1}},
      {DType::kF8E5M2, {0x3c, -0x44, 0x40, 0, 1}},
      {DType::kF8E4M3FN, {0x38, -0x48, 0x40, 0, 1}},
      {DType::kF8E4M3B11FNUZ, {0x38, -0x48, 0x40, 0, 1}},
      {DType::kF4E2M1FN, {15, 8, 7, 0, 1}},
  };
  for (const Case& c : cases) {
    for (const std::size_t count : {std::size_t{5}, std::size_t{100'000}}) {
      std::vector<std::int8_t> source(count);
      for (std::size_t i = 0; i < count; ++i) source[i] = c.bytes[i % c.bytes.size()];
      const HostView there{.data = source.data(),
                           .shape = Shape(c.type, {static_cast<std::int64_t>(count)})};
      const Result<Buffer> put = wait_blocking(devices_[0].put(there));
      if (!put && c.type == DType::kF4E2M1FN) continue;  // XLA's older CPU clients have none
      ASSERT_TRUE(put) << there.shape.to_string() << ": " << put.error().to_string();
      EXPECT_EQ(put->shape(), there.shape);
      const Result<HostArray> back = wait_blocking(devices_[0].fetch(*put));
      ASSERT_TRUE(back) << there.shape.to_string() << ": " << back.error().to_string();
      EXPECT_EQ(0, std::memcmp(back->bytes().data(), source.data(), count))
          << there.shape.to_string() << ": " << static_cast<int>(back->bytes()[0]) << " "
          << static_cast<int>(back->bytes()[1]) << " " << static_cast<int>(back->bytes()[2]);
    }
  }
}

TEST_P(DeviceSuite, ScalarsAndArraysWithoutElementsMakeTheRoundTrip) {
  const double value = -2.5;
  const Shape scalar(DType::kF64, {});
  const Buffer one = wait_blocking(devices_[1].put({.data = &value, .shape = scalar})).value();
  EXPECT_EQ(one.shape(), scalar);
  EXPECT_THAT(wait_blocking(devices_[1].fetch(one)).value().as<double>(), ElementsAre(value));
  for (const DType type : {DType::kF32, DType::kI4}) {
    const Shape none(type, {2, 0, 3});
    const Buffer empty = wait_blocking(devices_[1].put({.data = &value, .shape = none})).value();
    EXPECT_EQ(empty.shape(), none);
    EXPECT_TRUE(wait_blocking(empty.ready()));
    const HostArray array = wait_blocking(devices_[1].fetch(empty)).value();
    EXPECT_EQ(array.shape(), none);
    EXPECT_EQ(array.bytes().size(), 0u);
  }
}

TEST_P(DeviceSuite, LargeArrayMakesTheRoundTrip) {
  std::vector<float> source(1'000'000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i);
  const HostView view{.data = source.data(), .shape = Shape(DType::kF32, {1000, 1000})};
  const Buffer buffer = wait_blocking(devices_[1].put(view)).value();
  const HostArray array = wait_blocking(devices_[1].fetch(buffer)).value();
  EXPECT_EQ(array.shape(), view.shape);
  EXPECT_TRUE(std::ranges::equal(array.as<float>(), source));
}

TEST_P(DeviceSuite, ExecutionGivesItsOutputs) {
  const Buffers out =
      wait_blocking(devices_[0].execute(program("split"), {put({1, 2, 3, 4})})).value();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].shape(), kVector);
  EXPECT_THAT(fetch(out[0]), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(fetch(out[1]), ElementsAre(1, 4, 9, 16));
}

TEST_P(DeviceSuite, ChainOfFutureArgumentsNeedsNoWaiting) {
  const Executable increment = program("increment");
  const Executable add = program("add");
  const Vector zero{};
  Future<Buffer> x = devices_[0].put(view(zero));
  for (int i = 0; i < 50; ++i) {
    x = first(devices_[0].execute(increment, {x}));
  }
  const Buffer one = put({1, 1, 1, 1});
  const Buffers sum = wait_blocking(devices_[0].execute(add, {x, one})).value();
  EXPECT_THAT(fetch(sum[0]), ElementsAre(51, 51, 51, 51));
}

TEST_P(DeviceSuite, DonatedInputIsGoneAndKeptInputStays) {
  const Executable increment = program("increment");
  ASSERT_THAT(increment.donated_inputs(), ElementsAre(true));
  const Buffer a = put({1, 2, 3, 4});
  const int keep[] = {0};
  const Buffers kept =
      wait_blocking(devices_[0].execute(increment, {a}, {.non_donatable = keep})).value();
  EXPECT_FALSE(a.removed());
  EXPECT_THAT(fetch(kept[0]), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(fetch(a), ElementsAre(1, 2, 3, 4));

  const Buffers given = wait_blocking(devices_[0].execute(increment, {a})).value();
  EXPECT_TRUE(a.removed());
  EXPECT_THAT(fetch(given[0]), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(code_of(wait_blocking(devices_[0].execute(increment, {a}))),
            ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(wait_blocking(devices_[0].fetch(a))), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(wait_blocking(devices_[1].copy_from(a))), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(wait_blocking(a.ready())), ErrorCode::kFailedPrecondition);
}

TEST_P(DeviceSuite, HostThatReadsADonatedInputSeesItsOldBytes) {
  const Executable increment = program("increment");
  const Buffer a = put({1, 2, 3, 4});
  const HostArray before = wait_blocking(devices_[0].fetch(a)).value();
  const Buffers out = wait_blocking(devices_[0].execute(increment, {a})).value();
  EXPECT_THAT(fetch(out[0]), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(before.as<float>(), ElementsAre(1, 2, 3, 4));
}

TEST_P(DeviceSuite, RemovedBufferRefusesEveryUse) {
  const Buffer a = put({1, 2, 3, 4});
  a.remove();
  EXPECT_TRUE(a.removed());
  EXPECT_FALSE(wait_blocking(a.ready()).has_value());
  EXPECT_FALSE(wait_blocking(devices_[0].fetch(a)).has_value());
  EXPECT_FALSE(wait_blocking(devices_[1].copy_from(a)).has_value());
}

TEST_P(DeviceSuite, CopyGoesToTheOtherDevice) {
  const Buffer a = put({1, 2, 3, 4}, 0);
  const Buffer b = wait_blocking(devices_[1].copy_from(a)).value();
  EXPECT_EQ(b.device(), devices_[1].id());
  a.remove();
  EXPECT_THAT(fetch(b, 1), ElementsAre(1, 2, 3, 4));
}

TEST_P(DeviceSuite, WrongLaunchesAreInvalidArguments) {
  const Executable add = program("add");
  const Buffer a = put({1, 2, 3, 4});
  const Buffer scalar =
      wait_blocking(devices_[0].put({.data = &add, .shape = Shape(DType::kF32, {})})).value();
  const Buffer elsewhere = put({1, 2, 3, 4}, 1);
  EXPECT_EQ(code_of(wait_blocking(devices_[0].execute(add, {a}))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(wait_blocking(devices_[0].execute(add, {a, scalar}))),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(wait_blocking(devices_[0].execute(add, {a, elsewhere}))),
            ErrorCode::kInvalidArgument);
}

TEST_P(DeviceSuite, ExecutableSurvivesSerialisation) {
  Client& client = backend_->client();
  const std::string bytes = program("add").body()->serialize().value();
  const Executable loaded = client.load(bytes).value();
  const Buffer a = put({1, 2, 3, 4});
  EXPECT_THAT(fetch(wait_blocking(devices_[0].execute(loaded, {a, a})).value()[0]),
              ElementsAre(2, 4, 6, 8));
}

// A portable artifact, as JAX sends one: (%a: tensor<4xf32>) -> a * 2 + a.
TEST_P(DeviceSuite, BytecodeIsCompiledAsTextIs) {
  if (!GetParam().compiles_text) GTEST_SKIP() << "this backend has no compiler";
  const auto artifact =
      devices::Program::from_file(source_folder() + "/tests/programs/three_times.mlirbc");
  const Result<Executable> compiled = backend_->client().compile(artifact.value(), {});
  ASSERT_TRUE(compiled) << compiled.error().to_string();
  const Buffer a = put({1, 2, 3, 4});
  EXPECT_THAT(fetch(first(devices_[0].execute(*compiled, {a}))), ElementsAre(3, 6, 9, 12));
}

TEST_P(DeviceSuite, ProgramThatIsNoneIsRefused) {
  if (!GetParam().compiles_text) GTEST_SKIP() << "this backend has no compiler";
  const auto compiled = backend_->client().compile(
      devices::Program::from_text("module {\n  oops\n}", "bad.mlir"), {});
  EXPECT_EQ(code_of(compiled), GetParam().refusal);
  EXPECT_THAT(compiled.error().message(), HasSubstr("bad.mlir"));
  EXPECT_THAT(compiled.error().message(), HasSubstr("2:"));
}

TEST_P(DeviceSuite, ClosedDeviceRefusesAndTheOtherRunsOn) {
  ASSERT_TRUE(wait_blocking(devices_[0].close()).has_value());
  const Vector values = {1, 2, 3, 4};
  EXPECT_EQ(code_of(wait_blocking(devices_[0].put(view(values)))), ErrorCode::kUnavailable);
  EXPECT_THAT(fetch(put(values, 1), 1), ElementsAre(1, 2, 3, 4));
}

// Kills while other threads launch: every call ends, with the right numbers or with the failure.
TEST_P(DeviceSuite, AKilledDeviceIsRestartedWhileOthersUseIt) {
  const Device device = devices_[0];
  const Executable add = program("add");
  const Error cut(ErrorCode::kUnavailable, "power cut");
  if (const Status killed = device.kill(cut); !killed) {
    EXPECT_EQ(killed.error().code(), ErrorCode::kUnimplemented);
    GTEST_SKIP() << killed.error().message();
  }
  EXPECT_THAT(wait_blocking(device.failed()).error().message(), HasSubstr("power cut"));
  if (const Status back = wait_blocking(device.restart()); !back) {
    EXPECT_EQ(back.error().code(), ErrorCode::kUnimplemented);
    GTEST_SKIP() << back.error().message();
  }
  std::atomic<bool> over{false};
  std::atomic<int> good{0};
  std::vector<std::thread> users;
  for (int u = 0; u < 2; ++u) {
    users.emplace_back([&] {
      const Vector values = {1, 2, 3, 4};
      while (!over.load()) {
        const Future<Buffer> there = device.put(view(values));
        const Result<Buffers> out = wait_blocking(device.execute(add, {there, there}));
        if (!out) continue;
        const Result<HostArray> array = wait_blocking(device.fetch((*out)[0]));
        if (!array) continue;
        EXPECT_THAT(array->as<float>(), ElementsAre(2, 4, 6, 8));
        good.fetch_add(1);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const int before = good.load();
    while (good.load() == before) std::this_thread::yield();
    EXPECT_TRUE(device.kill(cut));
    EXPECT_FALSE(wait_blocking(device.failed()));
    EXPECT_TRUE(wait_blocking(device.restart()));
  }
  over.store(true);
  for (std::thread& user : users) user.join();
}

TEST_P(DeviceSuite, WhatWasOnARestartedDeviceIsLost) {
  const Buffer lost = put({1, 2, 3, 4});
  const Buffer kept = put({5, 6, 7, 8}, 1);
  const Executable add = program("add");
  if (!devices_[0].kill(Error(ErrorCode::kUnavailable, "power cut"))) GTEST_SKIP();
  EXPECT_FALSE(wait_blocking(devices_[0].failed()));
  EXPECT_EQ(code_of(wait_blocking(devices_[0].fetch(lost))), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(wait_blocking(devices_[0].execute(add, {lost, lost}))),
            ErrorCode::kUnavailable);
  EXPECT_EQ(fetch(kept, 1), (Vector{5, 6, 7, 8})) << "the other device goes on";
  if (const Status back = wait_blocking(devices_[0].restart()); !back) {
    EXPECT_EQ(back.error().code(), ErrorCode::kUnimplemented);
    GTEST_SKIP() << back.error().message();
  }
  EXPECT_TRUE(lost.removed());
  EXPECT_FALSE(wait_blocking(devices_[0].fetch(lost)));
  EXPECT_FALSE(wait_blocking(devices_[0].execute(add, {lost, lost})));
  EXPECT_FALSE(wait_blocking(devices_[1].copy_from(lost)));
  EXPECT_EQ(fetch(kept, 1), (Vector{5, 6, 7, 8}));
}

}  // namespace
}  // namespace millrace::testing
