// On real threads, because Runtime is what makes them.
#include "millrace/tools/api/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/base/fault_point.h"
#include "millrace/core/observe/metrics_text.h"
#include "millrace/millrace.h"
#include "tests/support/entries.h"

namespace millrace {
namespace {

using testing::entries;

constexpr const char* kDouble = R"(module @double {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
)";

RuntimeOptions small(int devices = 1) {
  RuntimeOptions options;
  options.device = "CPU";
  options.devices = devices;
  options.threads = 2;
  return options;
}

Result<HostArray> run_double(const Runtime& runtime, const Device& device,
                             std::vector<float> values) {
  const Future<Executable> program = runtime.compile(Program::from_text(kDouble, "double"));
  const Future<Buffer> x = device.put({.data = values.data(), .shape = Shape(DType::kF32, {2})});
  return wait_blocking(fetch(device, execute(device, program, {x}), 0));
}

TEST(RuntimeTest, ChainOfFuturesGivesTheResult) {
  auto runtime = Runtime::create(small());
  ASSERT_TRUE(runtime) << runtime.error().to_string();
  const auto result = run_double(*runtime, runtime->device(0), {1, 2.5});
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_THAT(result->as<float>(), ::testing::ElementsAre(2, 5));
}

TEST(RuntimeTest, MetricsCountWhatDevicesAndCompilationsDo) {
  auto runtime = Runtime::create(small(2));
  ASSERT_TRUE(runtime) << runtime.error().to_string();
  ASSERT_TRUE(run_double(*runtime, runtime->device(1), {1, 2}));
  EXPECT_FALSE(wait_blocking(runtime->compile(Program::from_text("nonsense", "nonsense"))));
  runtime->metrics().counter("my_requests_total").add(5);
  ASSERT_TRUE(wait_blocking(runtime->device(1).close()));  // it has seen the launch end
  const std::string text = prometheus_text(runtime->metrics_snapshot());
  using ::testing::HasSubstr;
  EXPECT_THAT(text, HasSubstr("\nmillrace_device_launches_total{device=\"0\",kind=\"cpu\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nmillrace_device_launches_total{device=\"1\",kind=\"cpu\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nmillrace_device_puts_total{device=\"1\",kind=\"cpu\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nmillrace_compile_seconds_count 2\n"));
  EXPECT_THAT(text, HasSubstr("\nmillrace_compile_failures_total 1\n"));
  EXPECT_THAT(text, HasSubstr("\nmillrace_overdue_handlers_total 0\n"));
  EXPECT_THAT(text, HasSubstr("\nmy_requests_total 5\n"));
  EXPECT_THAT(text, HasSubstr("\nmillrace_build_info{compiler="));
}

TEST(RuntimeTest, TwentyRuntimesLeaveNoThreadAndNoDescriptor) {
  {
    const auto first = Runtime::create(small(2));
  }  // what a library makes once and keeps
  const std::size_t threads = entries("/proc/self/task");
  const std::size_t descriptors = entries("/proc/self/fd");
  for (int i = 0; i < 20; ++i) {
    const auto runtime = Runtime::create(small(1 + i % 3));
    ASSERT_TRUE(runtime) << runtime.error().to_string();
    ASSERT_EQ(runtime->devices().size(), static_cast<std::size_t>(1 + i % 3));
  }
  // The workers of oneTBB are the process's: as many as the largest runtime needed at once (three
  // devices, and what runs around them), not as many as twenty did.
  const std::size_t most = threads + 3 + std::thread::hardware_concurrency();
  EXPECT_LE(testing::threads_down_to(most), most);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
}

TEST(RuntimeTest, TwoRuntimesDoNotKnowOfEachOther) {
  auto one = Runtime::create(small(2));
  auto two = Runtime::create(small(1));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->devices().size(), 2U);
  EXPECT_EQ(two->devices().size(), 1U);
  EXPECT_TRUE(run_double(*one, one->device(1), {1, 2}));
  EXPECT_TRUE(wait_blocking(one->close()));
  const auto still = run_double(*two, two->device(0), {3, 4});
  ASSERT_TRUE(still) << still.error().to_string();
  EXPECT_THAT(still->as<float>(), ::testing::ElementsAre(6, 8));
}

TEST(RuntimeTest, ClosedRuntimeRefusesAndEveryCloseIsTheSame) {
  auto runtime = Runtime::create(small());
  ASSERT_TRUE(runtime);
  EXPECT_TRUE(wait_blocking(runtime->close()));
  EXPECT_TRUE(wait_blocking(runtime->close()));
  const auto compiled = wait_blocking(runtime->compile(Program::from_text(kDouble)));
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), ErrorCode::kUnavailable);
  const float x[] = {1, 2};
  const auto buffer =
      wait_blocking(runtime->device(0).put({.data = x, .shape = Shape(DType::kF32, {2})}));
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code(), ErrorCode::kUnavailable);
}

TEST(RuntimeTest, AssignedOverRuntimeClosesTheOldOne) {
  auto runtime = Runtime::create(small(1));
  auto other = Runtime::create(small(2));
  ASSERT_TRUE(runtime && other);
  *runtime = *std::move(other);
  EXPECT_EQ(runtime->devices().size(), 2U);
}

TEST(RuntimeTest, ThreadThatDoesNotStartIsAnErrorAndLeavesNothing) {
  {
    const auto first = Runtime::create(small(2));
  }  // what a library makes once and keeps
  const std::size_t threads = entries("/proc/self/task");
  const std::size_t descriptors = entries("/proc/self/fd");
  bool made = false;
  for (std::uint64_t which = 1; !made; ++which) {
    ASSERT_LT(which, 100U);
    const ArmedFault fault("core.start_thread", which, Error(ErrorCode::kAborted, "a test"));
    RuntimeOptions options = small(2);
    options.blocking_threads = 3;
    const auto runtime = Runtime::create(options);
    made = runtime.has_value();
    EXPECT_EQ(made, fault.arrivals() < which) << "the thread number " << which;
    if (made) {
      EXPECT_GE(which, 5U) << "a loop and three for what blocks, at least";
      break;
    }
    EXPECT_EQ(runtime.error().code(), ErrorCode::kResourceExhausted);
    EXPECT_THAT(runtime.error().message(),
                ::testing::HasSubstr("cannot start the thread millrace"));
    EXPECT_THAT(runtime.error().message(), ::testing::HasSubstr("ulimit -u"));
  }
  const std::size_t most = threads + 2 + std::thread::hardware_concurrency();
  EXPECT_LE(testing::threads_down_to(most), most);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
}

// What the child saw, as its exit code: the number of the first call that was not refused, or 0.
int child_of_a_fork(std::optional<Runtime>& runtime) {
  ::alarm(500);  // a call that waits for the parent's threads would wait for ever
  const float x[] = {1, 2};
  const Device device = runtime->device(0);
  const Future<Buffer> put = device.put({.data = x, .shape = Shape(DType::kF32, {2})});
  const auto error_of = [](const auto& future) -> std::optional<Error> {
    if (!future.ready() || future.result()) return std::nullopt;
    return future.result().error();
  };
  const std::optional<Error> errors[] = {
      error_of(runtime->compile(Program::from_text(kDouble))),
      error_of(put),
      error_of(device.fetch(put)),
      error_of(device.restart()),
      error_of(device.close()),
      error_of(runtime->close()),
  };
  int number = 0;
  for (const std::optional<Error>& error : errors) {
    ++number;
    const bool refused = error && error->code() == ErrorCode::kFailedPrecondition &&
                         error->message().find("forked from") != std::string::npos &&
                         error->message().find("fork before") != std::string::npos;
    if (!refused) return number;
  }
  const auto another = Runtime::create(small());
  if (another || another.error().code() != ErrorCode::kFailedPrecondition) return ++number;
  runtime.reset();  // waits for nothing
  return 0;
}

TEST(RuntimeTest, ForkGivesAClearErrorInTheChildAndNoneInTheParent) {
  auto created = Runtime::create(small());
  ASSERT_TRUE(created);
  std::optional<Runtime> runtime(*std::move(created));
  ASSERT_TRUE(run_double(*runtime, runtime->device(0), {1, 2}));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(child_of_a_fork(runtime));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the number of the call that was not refused";
  const auto result = run_double(*runtime, runtime->device(0), {3, 4});
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_THAT(result->as<float>(), ::testing::ElementsAre(6, 8));
}

TEST(RuntimeTest, UnknownDeviceIsNamed) {
  RuntimeOptions options;
  options.device = "ABACUS";
  const auto runtime = Runtime::create(options);
  ASSERT_FALSE(runtime);
  EXPECT_THAT(runtime.error().message(), ::testing::HasSubstr("ABACUS"));
}

TEST(RuntimeTest, ErrorOfTheOptionsIsPassedOn) {
  const auto runtime = Runtime::create(fail(ErrorCode::kInvalidArgument, "no good"));
  ASSERT_FALSE(runtime);
  EXPECT_EQ(runtime.error().message(), "no good");
}

TEST(RuntimeTest, ErrorOfACompilationIsTheResultOfWhatNeedsIt) {
  auto runtime = Runtime::create(small());
  ASSERT_TRUE(runtime);
  const Future<Executable> broken = runtime->compile(Program::from_text("module {", "broken.mlir"));
  const Future<Buffers> outputs = execute(runtime->device(0), broken, {});
  const auto result = wait_blocking(fetch(runtime->device(0), outputs, 0));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), ::testing::ContainsRegex("broken.mlir: ?1:"));
}

TEST(RuntimeTest, ResultThatIsNotThereIsOutOfRange) {
  auto runtime = Runtime::create(small());
  ASSERT_TRUE(runtime);
  const Future<Buffers> one = make_ready(Buffers({Buffer()}));
  const auto picked = wait_blocking(pick(one, 1));
  ASSERT_FALSE(picked);
  EXPECT_EQ(picked.error().code(), ErrorCode::kOutOfRange);
}

TEST(RuntimeTest, StopBeforeACompilationCancelsIt) {
  auto runtime = Runtime::create(small());
  ASSERT_TRUE(runtime);
  std::stop_source stop;
  stop.request_stop();
  const auto compiled =
      wait_blocking(runtime->compile(Program::from_text(kDouble), {}, {.stop = stop.get_token()}));
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), ErrorCode::kCancelled);
  CompileOptions options;
  options.stop = stop.get_token();
  const auto by_options =
      wait_blocking(runtime->compile(Program::from_text(kDouble, "double"), options));
  ASSERT_FALSE(by_options);
  EXPECT_EQ(by_options.error().code(), ErrorCode::kCancelled);
  EXPECT_THAT(by_options.error().message(), ::testing::HasSubstr("before 'double' was compiled"));
}

}  // namespace
}  // namespace millrace
