// Whose threads enter a plugin: drivers', never a loop's; a caller's for its own put, launch and
// fetch, where it has neither stop nor deadline. In this process, on a plugin that counts the calls
// of each thread.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/millrace.h"
#include "tests/support/paths.h"
#include "tests/support/plus_one.h"

namespace millrace {
namespace {

// What this thread has called, since the last time that it was asked.
class CallsHere {
 public:
  explicit CallsHere(const std::string& plugin)
      : library_(::dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  bool counts() const { return library_ != nullptr; }
  std::pair<int, std::string> take() {
    const int all = reinterpret_cast<int (*)()>(::dlsym(library_, "millrace_calls_here"))();
    const char* const last =
        reinterpret_cast<const char* (*)()>(::dlsym(library_, "millrace_last_call_here"))();
    return {all - std::exchange(seen_, all), last};
  }

 private:
  void* const library_;  // never unloaded, as no plugin is
  int seen_ = 0;
};

// A call on the thread of a loop.
template <class F>
auto in_loop(F call) {
  const BridgedThreadScope loop;
  return call();
}

TEST(CallingThreadsTest, LoopsNeverEnterAPluginAndCallersForTheirOwnCalls) {
  const std::string path = testing::build_folder() + "/lib/faulty_plugin.so";
  ASSERT_EQ(::setenv("MILLRACE_FAULT", "counts.calls", 1), 0);  // read when it is loaded
  RuntimeOptions options;
  options.plugins.push_back(
      {.name = "counting", .path = path, .origin = devices::pjrt::kGivenPlugin});
  options.device = "counting";
  auto runtime = Runtime::create(std::move(options));
  ASSERT_TRUE(runtime) << runtime.error().to_string();
  CallsHere calls(path);
  ASSERT_TRUE(calls.counts());
  const auto expect_none = [&calls](const char* after) {
    const auto [count, last] = calls.take();
    EXPECT_EQ(count, 0) << after << ": the last was " << last;
  };

  expect_none("the opening");

  const Device& device = runtime->device(0);
  const std::vector<float> values = {1, 2, 3, 4};
  const devices::HostView view{.data = values.data(), .shape = Shape(DType::kF32, {4})};
  Executable program =
      wait_blocking(runtime->compile(Program::from_text(testing::kPlusOne))).value();
  expect_none("compile");
  Buffer x = wait_blocking(in_loop([&] { return device.put(view); })).value();
  expect_none("put");
  ASSERT_TRUE(wait_blocking(x.ready()));
  EXPECT_LE(calls.take().first, 5) << "an event and its callback: neither blocks";
  Buffers y = wait_blocking(in_loop([&] { return device.execute(program, {x}); })).value();
  for (int i = 0; i < 20; ++i)
    y = wait_blocking(in_loop([&] { return device.execute(program, {y[0]}); })).value();
  expect_none("execute, and the ends of what it gave");
  ASSERT_TRUE(wait_blocking(y[0].ready()));
  calls.take();
  {
    const HostArray array = wait_blocking(in_loop([&] { return device.fetch(y[0]); })).value();
    EXPECT_EQ(array.as<float>()[0], 22);
  }
  expect_none("fetch, and the end of the array");
  ASSERT_TRUE(wait_blocking(in_loop([&] { return runtime->device(1).copy_from(x); })));
  expect_none("copy_from");
  x.remove();
  EXPECT_TRUE(x.removed());
  expect_none("remove");
  x = Buffer();
  y = Buffers();
  expect_none("the ends of buffers");
  const auto memory = std::make_shared<std::vector<float>>(1024);
  const auto there = std::as_writable_bytes(std::span(*memory));
  Result<devices::Owner> mapped =
      wait_blocking(in_loop([&] { return device.map_host_memory(there, memory); }));
  ASSERT_TRUE(mapped) << mapped.error().to_string();
  mapped = nullptr;
  expect_none("map_host_memory, and its end");
  x = wait_blocking(in_loop([&] { return device.put(view); })).value();
  ASSERT_TRUE(wait_blocking(in_loop([&] { return device.layout_of(x); })));
  ASSERT_TRUE(wait_blocking(in_loop([&] { return device.default_layout(view.shape); })));
  expect_none("layouts");
  devices::PutOptions limited;
  limited.call.deadline = steady_clock().now() + std::chrono::hours(1);
  ASSERT_TRUE(wait_blocking(device.put(view, limited)));
  expect_none("a put with a deadline");
  // Whenever it finds the device idle, which the driver may just be leaving.
  int entered = 0;
  for (int i = 0; i < 1000 && entered == 0; ++i) {
    ASSERT_TRUE(wait_blocking(device.put(view)));
    entered = calls.take().first;
  }
  EXPECT_GT(entered, 0) << "a put of a thread that is no loop's";
  const std::string bytes = wait_blocking(runtime->serialize(program)).value();
  ASSERT_TRUE(wait_blocking(runtime->load(bytes)));
  ASSERT_TRUE(wait_blocking(runtime->cost_analysis(program)));
  ASSERT_TRUE(wait_blocking(runtime->memory_stats(device.id())));
  expect_none("serialize, load, cost_analysis, memory_stats");
  program = Executable();
  expect_none("the end of a program");
  for (int i = 0; i < 3; ++i) static_cast<void>(runtime->metrics_snapshot());
  expect_none("metrics");
  Promise<std::pair<int, std::string>> promise;
  const auto of_loop = promise.future();
  post(runtime->loop(),
       [&path, promise = std::move(promise)]() mutable { promise.set(CallsHere(path).take()); });
  EXPECT_EQ(wait_blocking(of_loop)->first, 0) << wait_blocking(of_loop)->second;
  EXPECT_TRUE(runtime->client().memory_stats(device.id()));
  EXPECT_EQ(calls.take().first, 1) << "what is called here is counted";
  calls.take();
  EXPECT_TRUE(wait_blocking(runtime->close()));
  x = Buffer();
  expect_none("the end of a buffer after the close");
  runtime = Result<Runtime>(std::unexpected(Error(ErrorCode::kAborted, "the end of the test")));
  expect_none("the end of the client");
}

}  // namespace
}  // namespace millrace
