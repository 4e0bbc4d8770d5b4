// Arrays, buffers and programs that are held longer than their runtime, on a plugin's devices. On
// real threads: which of them are left is what is asked.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/millrace.h"
#include "tests/support/paths.h"
#include "tests/support/plus_one.h"

namespace millrace {
namespace {

RuntimeOptions on_plugin() {
  RuntimeOptions options;
  options.plugins.push_back({.name = "memory",
                             .path = testing::build_folder() + "/lib/memory_plugin.so",
                             .origin = devices::pjrt::kGivenPlugin});
  options.device = "memory";
  options.threads = 1;
  options.blocking_threads = 1;
  return options;
}

// Threads of runtimes that free what plugins have made, as the system lists them.
int freeing_threads() {
  int count = 0;
  std::error_code gone;  // a thread may end meanwhile
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    if (name.starts_with("millrace-free")) ++count;
  }
  return count;
}

// A thread names itself a moment after it was made, and is listed a moment after it was joined.
bool freeing_threads_become(int count) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (freeing_threads() != count) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

struct Held {
  std::optional<Executable> program;
  Buffer buffer;
  HostArray array;
};

Held compute() {
  const Runtime runtime = Runtime::create(on_plugin()).value();
  const std::vector<float> values = {1, 2, 3, 4};
  const Device& device = runtime.device(0);
  Held held;
  held.program = wait_blocking(runtime.compile(Program::from_text(testing::kPlusOne))).value();
  const Future<Buffer> x = device.put({.data = values.data(), .shape = Shape(DType::kF32, {4})});
  held.buffer = wait_blocking(device.execute(*held.program, {x})).value()[0];
  held.array = wait_blocking(device.fetch(held.buffer)).value();
  return held;
}

TEST(OutlivingTest, ArraysStayReadableAndWhatFreesThemEndsWithTheNextRuntime) {
  EXPECT_TRUE(freeing_threads_become(0));
  {
    const Held held = compute();
    EXPECT_TRUE(freeing_threads_become(1));
    EXPECT_EQ(held.array.as<float>()[3], 5);
    EXPECT_TRUE(held.buffer.ready().valid());
    EXPECT_EQ(held.program->output_shapes().size(), 1U);
    std::optional<Runtime> other = Runtime::create(on_plugin()).value();
    EXPECT_TRUE(freeing_threads_become(2));
    other.reset();
    EXPECT_TRUE(freeing_threads_become(1)) << "it is still held";
    EXPECT_EQ(held.array.as<float>()[0], 2);
  }
  std::optional<Runtime> other = Runtime::create(on_plugin()).value();
  other.reset();
  EXPECT_TRUE(freeing_threads_become(0));
}

TEST(OutlivingTest, NothingIsKeptWhereNothingIsHeld) {
  {
    const Runtime runtime = Runtime::create(on_plugin()).value();
    const std::vector<float> values = {1, 2, 3, 4};
    const Device device = runtime.device(0);
    const Future<Buffer> x = device.put({.data = values.data(), .shape = Shape(DType::kF32, {4})});
    EXPECT_EQ(wait_blocking(device.fetch(x)).value().as<float>()[3], 4);
  }
  EXPECT_TRUE(freeing_threads_become(0));
}

}  // namespace
}  // namespace millrace
