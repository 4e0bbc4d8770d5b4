#include "millrace/devices/pjrt/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/pjrt/abi/extensions.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"

namespace millrace::devices::pjrt {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakePlugin;
using ::testing::HasSubstr;

// Protocol buffers by hand: a number, and bytes.
std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 128; value >>= 7) text.push_back(static_cast<char>(value | 128));
  text.push_back(static_cast<char>(value));
  return text;
}
std::string field(int number, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(number) << 3) + varint(value);
}
std::string field(int number, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
}

// One plane with one line that begins at 1000 ns, and two events on it.
std::string xspace() {
  const std::string multiply = field(1, 7) + field(2, std::string("multiply"));
  const std::string entry = field(1, 7) + field(2, multiply);
  const std::string known = field(1, 7) + field(2, 500'000) + field(3, 2'000'000);
  const std::string unknown = field(1, 9) + field(2, 4'000'000) + field(3, 0);
  const std::string line =
      field(2, std::string("Stream #1")) + field(3, 1000) + field(4, known) + field(4, unknown);
  return field(1, field(2, std::string("/device:NPU:0")) + field(3, line) + field(4, entry));
}

std::vector<std::string> calls;
std::string under_way;  // of whom start() finds in calls
const Plugin* asked = nullptr;
bool start_fails = false;
std::function<void()> at_stop;
// Never looked into.
int something;
auto* const handle = reinterpret_cast<abi::ProfilerHandle*>(&something);
auto* const in_use = reinterpret_cast<abi::ProfilerError*>(&something);

template <int kCall>
abi::ProfilerError* note(abi::ProfilerArgs* args) {
  static constexpr const char* kNames[] = {"destroy", "start", "stop"};
  EXPECT_EQ(args->profiler, handle);
  calls.emplace_back(kNames[kCall]);
  if (kCall == 1) under_way = asked->calls_under_way();
  if (kCall == 2 && at_stop) at_stop();
  return kCall == 1 && start_fails ? in_use : nullptr;
}

const abi::ProfilerApi kApi = {
    .struct_size = sizeof(abi::ProfilerApi),
    .unused = nullptr,
    .error_destroy = [](abi::ProfilerErrorDestroyArgs*) { calls.emplace_back("error_destroy"); },
    .error_message =
        [](abi::ProfilerErrorMessageArgs* args) {
          args->message = "in use";
          args->message_size = 6;
        },
    .error_get_code = nullptr,
    .create = [](abi::ProfilerCreateArgs* args) -> abi::ProfilerError* {
      calls.emplace_back("create");
      args->profiler = handle;
      return nullptr;
    },
    .destroy = &note<0>,
    .start = &note<1>,
    .stop = &note<2>,
    .collect_data = [](abi::ProfilerCollectDataArgs* args) -> abi::ProfilerError* {
      const std::string bytes = xspace();
      calls.emplace_back(args->buffer == nullptr ? "size" : "collect");
      args->buffer_size = bytes.size();
      if (args->buffer != nullptr) std::memcpy(args->buffer, bytes.data(), bytes.size());
      return nullptr;
    }};

class ProfilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    calls.clear();
    start_fails = false;
    at_stop = nullptr;
    asked = plugin_;
    extension_.struct_size = other_.struct_size = sizeof extension_;
    extension_.type = abi::kProfilerExtension;
    extension_.api = &kApi;
    other_.type = 4;  // before it in the chain
    other_.next = &extension_;
    fake_.api()->extension_start = &other_;
  }

  abi::ProfilerExtension extension_{}, other_{};
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
};

TEST_F(ProfilerTest, SessionIsStartedStoppedAndCollected) {
  {
    auto profiler = Profiler::create(*plugin_);
    ASSERT_TRUE(profiler) << profiler.error().to_string();
    EXPECT_EQ(under_way, "start of the profiler");
    EXPECT_EQ((*profiler)->finish().value(), xspace());
  }
  EXPECT_EQ(plugin_->calls_under_way(), "");
  EXPECT_THAT(calls, ElementsAre("create", "start", "stop", "size", "collect", "destroy"));
}

TEST_F(ProfilerTest, ErrorsAreThePluginsAndWithoutAnExtensionThereIsNone) {
  start_fails = true;
  const auto refused = Profiler::create(*plugin_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "start of the profiler of fake.so: in use");
  EXPECT_THAT(calls, ElementsAre("create", "start", "error_destroy", "destroy"));
  fake_.api()->extension_start = nullptr;
  EXPECT_EQ(Profiler::create(*plugin_).error().code(), ErrorCode::kUnimplemented);
}

TEST_F(ProfilerTest, ProfilerThatIsNotGivenIsNeverCalled) {
  abi::ProfilerApi gives_none = kApi;
  gives_none.create = [](abi::ProfilerCreateArgs*) -> abi::ProfilerError* { return nullptr; };
  extension_.api = &gives_none;
  const auto refused = Profiler::create(*plugin_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "create of the profiler of fake.so gives no profiler and no error");
  EXPECT_TRUE(calls.empty());
}

TEST_F(ProfilerTest, EventsLieOnTheTimelineWhereTheirLineBegins) {
  ManualClock clock;
  TraceRecorder trace(clock);
  EXPECT_EQ(record_xspace(xspace(), 10us, trace).value(), 2u);
  const std::vector<TraceEvent> events = trace.events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(trace.lane_text(events[0].lane), "/device:NPU:0 Stream #1");
  EXPECT_EQ(trace.name_text(events[0].name), "multiply");
  EXPECT_EQ(events[0].begin, TimePoint(11us + 500ns));
  EXPECT_EQ(events[0].end, TimePoint(13us + 500ns));
  EXPECT_EQ(trace.name_text(events[1].name), "event 9");
  EXPECT_EQ(events[1].begin, TimePoint(15us));
  const auto bad = record_xspace("\x08", 0us, trace);
  EXPECT_EQ(bad.error().code(), ErrorCode::kDataLoss);
}

TEST_F(ProfilerTest, ClientProfilesFromItsBeginToItsClose) {
  TraceRecorder trace(steady_clock());
  const auto threads = make_executor(ExecutorBackend::kThreads, 1, "events");
  auto client =
      PjrtClient::create(*plugin_, {.completions = threads.get(), .trace = &trace, .profile = true})
          .value();
  EXPECT_THAT(calls, ElementsAre("create", "start"));
  EXPECT_TRUE(wait_blocking(client->close()));
  EXPECT_THAT(calls, ElementsAre("create", "start", "stop", "size", "collect", "destroy"));
  EXPECT_EQ(trace.events().size(), 2u);
  client.reset();
  // One that cannot profile is used all the same.
  start_fails = true;
  client =
      PjrtClient::create(*plugin_, {.completions = threads.get(), .trace = &trace, .profile = true})
          .value();
  EXPECT_TRUE(wait_blocking(client->close()));
  client.reset();
  EXPECT_TRUE(wait_blocking(threads->close()));
}

// On a thread of its own, which is what is stuck.
TEST_F(ProfilerTest, CloseEndsInTimeAndNamesTheProfilerThatDoesNotStop) {
  std::latch entered(1), unblock(1);
  at_stop = [&] {
    entered.count_down();
    unblock.wait();
  };
  ManualClock clock;
  TimerQueue timers(clock);
  TraceRecorder trace(clock);
  SerialExecutor executor{SerialExecutor::InOrder{}}, frees{SerialExecutor::InOrder{}};
  PjrtClientOptions options{.completions = &executor,
                            .frees = &frees,
                            .clock = &clock,
                            .trace = &trace,
                            .profile = true,
                            .timers = &timers};
  options.close_timeout = 5s;
  auto client = PjrtClient::create(*plugin_, std::move(options)).value();
  const Future<void> closed = client->close();
  std::thread profiling([&] { frees.run_until_idle(); });
  entered.wait();
  clock.advance(8s);
  timers.run_due();
  EXPECT_TRUE(closed.ready());
  if (closed.ready()) {
    EXPECT_THAT(closed.result().error().message(),
                HasSubstr("not returned: stop of the profiler of the plugin fake.so"));
  }
  unblock.count_down();
  profiling.join();
  client.reset();
}

}  // namespace
}  // namespace millrace::devices::pjrt
