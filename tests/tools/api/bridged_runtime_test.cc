// Two runtimes and two loops of the user's, of different kinds, in one process. Real threads: each
// loop has one.
#include <event2/event.h>
#include <gtest/gtest.h>
#include <uv.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "millrace/core/loop/event_bridge.h"
#include "millrace/core/loop/uv_bridge.h"
#include "millrace/core/observe/log.h"
#include "millrace/millrace.h"

namespace millrace {
namespace {

constexpr int kSteps = 50;
constexpr const char* kProgram = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
)";

const Shape kPair(DType::kF32, {2});

// Doubles a number kSteps times, through the host each time.
Task<float> double_often(const Runtime& runtime, float first, std::thread::id* elsewhere) {
  const auto home = std::this_thread::get_id();
  const Device device = runtime.device(0);
  const Future<Executable> compiled = runtime.compile(Program::from_text(kProgram));
  const Result<Executable> twice = co_await compiled;
  if (!twice) co_return twice.error();
  float value = first;
  for (int i = 0; i < kSteps; ++i) {
    auto x = std::make_shared<std::vector<float>>(2, value);
    const HostView view{.data = x->data(), .shape = kPair, .owner = x};
    const Future<Buffer> there = device.put(view);
    const Future<Buffers> y = device.execute(*twice, {there});
    const Result<HostArray> out = co_await fetch(device, y, 0);
    if (std::this_thread::get_id() != home) *elsewhere = std::this_thread::get_id();
    if (!out) co_return out.error();
    value = out->as<float>()[1] / (i % 2 == 0 ? 1 : 4);
  }
  co_return value;
}

// Every runtime says which program it has compiled, on the thread that did.
class CompileThreads final : public LogSink {
 public:
  CompileThreads() {
    set_log_sink(this);
    EXPECT_TRUE(set_log_levels("warn,runtime=info"));
  }
  ~CompileThreads() override {
    EXPECT_TRUE(set_log_levels("warn"));
    set_log_sink(nullptr);
  }
  void write(LogLevel, std::string_view, std::string_view text) noexcept override {
    if (!text.starts_with("compiled ")) return;
    const std::lock_guard lock(mutex_);
    threads_.push_back(std::this_thread::get_id());
  }
  std::vector<std::thread::id> threads() {
    const std::lock_guard lock(mutex_);
    return threads_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread::id> threads_;
};

struct Outcome {
  std::thread::id home = std::this_thread::get_id();
  Result<float> value = 0.0F;
  std::thread::id elsewhere;
};

template <class Serve>
Outcome run_with(float first, Serve&& serve) {
  Outcome outcome;
  const Runtime runtime = Runtime::create(RuntimeOptions{.devices = 1, .threads = 1}).value();
  serve([&](const LoopBridge& bridge) {
    spawn(bridge, double_often(runtime, first, &outcome.elsewhere))
        .then(bridge, [&](Result<float> r) { outcome.value = std::move(r); })
        .ignore();
  });
  return outcome;
}

Outcome run_on_uv(float first) {
  return run_with(first, [](const auto& start) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    {
      const UvBridge bridge = UvBridge::create(&loop).value();
      start(bridge);
      uv_run(&loop, UV_RUN_DEFAULT);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop), 0);
  });
}

Outcome run_on_libevent(float first) {
  return run_with(first, [](const auto& start) {
    event_base* const base = event_base_new();
    {
      const EventBridge bridge = EventBridge::create(base).value();
      start(bridge);
      event_base_dispatch(base);
    }
    event_base_free(base);
  });
}

TEST(BridgedRuntimeTest, TwoRuntimesOnTwoLoopsDoNotKnowOfEachOther) {
  CompileThreads compiled;
  Outcome uv, libevent;
  std::thread first([&] { uv = run_on_uv(1024); });
  std::thread second([&] { libevent = run_on_libevent(3 * 1024); });
  first.join();
  second.join();
  // Every second step halves what the one before has doubled.
  EXPECT_EQ(uv.value.value(), 1024);
  EXPECT_EQ(libevent.value.value(), 3 * 1024);
  EXPECT_EQ(uv.elsewhere, std::thread::id());
  EXPECT_EQ(libevent.elsewhere, std::thread::id());
  EXPECT_EQ(compiled.threads().size(), 2U);
  for (const std::thread::id thread : compiled.threads()) {
    EXPECT_NE(thread, uv.home);
    EXPECT_NE(thread, libevent.home);
  }
}

}  // namespace
}  // namespace millrace
