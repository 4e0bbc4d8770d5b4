// One runtime with the embedded CPU device and a plugin's devices, side by side. On real threads,
// because Runtime is what makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/observe/metrics_text.h"
#include "millrace/core/observe/trace.h"
#include "millrace/millrace.h"
#include "tests/support/paths.h"
#include "tests/support/plus_one.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RuntimeOptions cpu_and_memory() {
  RuntimeOptions options;
  options.plugins.push_back({.name = "memory",
                             .path = testing::build_folder() + "/lib/memory_plugin.so",
                             .origin = devices::pjrt::kGivenPlugin});
  options.device = "cpu";
  options.devices = 2;
  options.more_devices = {"Memory", "CPU"};
  options.threads = 1;
  options.blocking_threads = 1;
  return options;
}

Future<Buffer> put(const Device& device, std::vector<float> values) {
  const devices::Dims dims = {static_cast<std::int64_t>(values.size())};
  return device.put(std::move(values), dims);
}

Program plus_one() { return Program::from_text(testing::kPlusOne, "plus_one"); }

TEST(SeveralKindsTest, ABufferGoesFromOneKindToTheOtherAndBack) {
  const Runtime runtime = Runtime::create(cpu_and_memory()).value();
  EXPECT_EQ(runtime.device_kind(), "cpu");
  ASSERT_EQ(runtime.devices("cpu").size(), 2U);
  const std::span<const Device> memory = runtime.devices("memory");
  ASSERT_FALSE(memory.empty());
  EXPECT_EQ(runtime.devices().size(), 2 + memory.size());
  EXPECT_EQ(runtime.device(2).body(), memory[0].body());
  EXPECT_TRUE(runtime.devices("tpu").empty());

  const Device& cpu = runtime.device(1);
  const Future<Executable> here = runtime.compile(plus_one());
  const Future<Executable> there = runtime.compile_for(memory[0], plus_one());
  const Future<Buffers> once = execute(cpu, here, {put(cpu, {1, 2, 3, 4})});
  const Future<Buffers> twice = execute(memory[0], there, {memory[0].copy_from(pick(once, 0))});
  const Future<Buffers> thrice = execute(cpu, here, {cpu.copy_from(pick(twice, 0))});
  const Result<HostArray> result = wait_blocking(fetch(cpu, thrice, 0));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_THAT(result->as<float>(), ElementsAre(4, 5, 6, 7));
}

TEST(SeveralKindsTest, ProgramsAndMemoryAreThoseOfTheDevicesKind) {
  const Runtime runtime = Runtime::create(cpu_and_memory()).value();
  const Device& cpu = runtime.device(0);
  const Device& memory = runtime.device(2);
  const Executable there = wait_blocking(runtime.compile_for(memory, plus_one())).value();
  EXPECT_EQ(&there.body()->client(), &memory.client());
  const Result<Buffers> mixed = wait_blocking(cpu.execute(there, {put(cpu, {1, 2, 3, 4})}));
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code(), ErrorCode::kInvalidArgument) << mixed.error().to_string();

  const std::string kept = wait_blocking(runtime.serialize(there)).value();
  const Executable loaded = wait_blocking(runtime.load_for(memory, kept)).value();
  const Future<Buffers> ran = memory.execute(loaded, {put(memory, {1, 2, 3, 4})});
  EXPECT_THAT(wait_blocking(fetch(memory, ran, 0)).value().as<float>(), ElementsAre(2, 3, 4, 5));
  EXPECT_TRUE(wait_blocking(runtime.memory_stats(cpu)));
}

// Two kinds count their devices alike, so that a label says which is meant.
TEST(SeveralKindsTest, EachSeriesOfTheMetricsIsThereOnce) {
  const Runtime runtime = Runtime::create(cpu_and_memory()).value();
  const std::string text = prometheus_text(runtime.metrics_snapshot());
  EXPECT_THAT(text, HasSubstr("backend=\"cpu\""));
  EXPECT_THAT(text, HasSubstr("backend=\"memory\""));
  std::vector<std::string> series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) series.push_back(line.substr(0, line.rfind(' ')));
  }
  std::ranges::sort(series);
  EXPECT_EQ(std::ranges::adjacent_find(series), series.end());
}

// Both have a device 0.
TEST(SeveralKindsTest, EachKindHasLanesOfItsOwn) {
  RuntimeOptions options = cpu_and_memory();
  options.trace = true;
  const Runtime runtime = Runtime::create(std::move(options)).value();
  for (const Device& device : {runtime.device(0), runtime.device(2)}) {
    const Future<Executable> program = runtime.compile_for(device, plus_one());
    ASSERT_TRUE(
        wait_blocking(fetch(device, execute(device, program, {put(device, {1, 2, 3, 4})}), 0)));
  }
  ASSERT_TRUE(wait_blocking(runtime.close()));
  std::set<std::string> lanes;
  for (const TraceEvent& event : runtime.trace()->events())
    lanes.insert(runtime.trace()->lane_text(event.lane));
  EXPECT_THAT(lanes, ::testing::IsSupersetOf({"device 0", "device 0 (memory)"}));
}

TEST(SeveralKindsTest, AGroupIsOfTheFirstKind) {
  const Runtime runtime = Runtime::create(cpu_and_memory()).value();
  const auto group = wait_blocking(runtime.make_group("both"));
  ASSERT_TRUE(group) << group.error().to_string();
  EXPECT_EQ(group->size(), 2U);
}

TEST(SeveralKindsTest, AnEmptyNameIsNoKind) {
  RuntimeOptions options = cpu_and_memory();
  options.more_devices = {"memory", ""};
  const Result<Runtime> made = Runtime::create(std::move(options));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(made.error().message(), HasSubstr("RuntimeOptions::more_devices"));
}

TEST(SeveralKindsTest, WhatCannotBeOpenedIsNamedAndWhatWasIsClosed) {
  RuntimeOptions options = cpu_and_memory();
  options.more_devices = {"memory", "quantum"};
  const Result<Runtime> made = Runtime::create(std::move(options));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kNotFound) << made.error().to_string();
  EXPECT_THAT(made.error().message(), HasSubstr("quantum"));
  EXPECT_THAT(made.error().message(), HasSubstr("RuntimeOptions::more_devices"));
}

TEST(SeveralKindsTest, ADeviceOfAnotherRuntimeIsRefused) {
  const Runtime runtime = Runtime::create(cpu_and_memory()).value();
  RuntimeOptions options;
  options.device = "cpu";
  options.threads = 1;
  const Runtime other = Runtime::create(options).value();
  for (const Device& foreign : {other.device(0), Device()}) {
    const Result<Executable> compiled = wait_blocking(runtime.compile_for(foreign, plus_one()));
    ASSERT_FALSE(compiled);
    EXPECT_EQ(compiled.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_FALSE(wait_blocking(runtime.load_for(foreign, "")));
    EXPECT_FALSE(wait_blocking(runtime.memory_stats(foreign)));
  }
}

// Which the undefined behaviour sanitizer sees: no time is that long behind now.
TEST(SeveralKindsTest, ACloseMayHaveAllTimeThatThereIs) {
  RuntimeOptions options = cpu_and_memory();
  options.close_timeout = Duration::max();
  const Runtime runtime = Runtime::create(std::move(options)).value();
  EXPECT_LT(runtime.options().close_timeout, Duration::max() / 4);
  const Device& memory = runtime.device(2);
  ASSERT_TRUE(wait_blocking(memory.fetch(put(memory, {1, 2}))));
  EXPECT_TRUE(wait_blocking(runtime.close()));
}

// The plugin's client stays for what the program holds, and the runtime's end is not held up.
TEST(SeveralKindsTest, WhatIsHeldOfOneKindOutlivesTheRuntime) {
  Buffer buffer;
  HostArray array;
  {
    const Runtime runtime = Runtime::create(cpu_and_memory()).value();
    const Device& memory = runtime.device(2);
    buffer = wait_blocking(put(memory, {1, 2})).value();
    array = wait_blocking(memory.fetch(buffer)).value();
  }
  EXPECT_THAT(array.as<float>(), ElementsAre(1, 2));
  buffer = {};
  EXPECT_FALSE(Runtime::left_behind());
}

}  // namespace
}  // namespace millrace
