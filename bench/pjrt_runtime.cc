// The same plugin through a whole runtime: Future, device actor, driver thread.
// pjrt.in_flight: x + 1, all submitted before the first is awaited, per execution; the limit is a
// bare loop of C calls, on a thread of its own as a driver thread is (the C library's allocator
// serves it otherwise than the main thread), and 2 us. pjrt.wait: the same, each awaited by a
// thread that is not the driver's; the limit is the bare call and two raw wake-ups.
// pjrt.threads_16: 16 threads that submit and await through our client, against the best rate that
// the plugin itself gives to 1, 2, 4 or 16 threads, from when all of them are under way: the first
// calls of a thread, on which the C library makes it a heap, are nobody's rate. Remarks tell the
// rate of each number: on few cores that of 16 bare threads is well below the best, which ours
// reach because they do not crowd into the plugin (launch_crowd.h).
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/figure.h"
#include "bench/pjrt_bare.h"
#include "bench/wake_ups.h"
#include "millrace/core/blocking.h"
#include "millrace/core/clock.h"
#include "millrace/core/make_executor.h"
#include "millrace/devices/pjrt/client.h"
#include "millrace/tools/api/runtime.h"

namespace millrace::bench {
namespace {

using namespace devices;  // NOLINT(google-build-using-namespace)

constexpr int kCalls = 5000;
constexpr int kWaits = 1000;
constexpr int kThreads = 16;
constexpr int kCallsOfAll = 32'000;  // threads together
constexpr int kCallsAtOnce = 100;
constexpr int kFirstCalls = 100;  // of each
constexpr std::array<float, 4> kValues = {1, 2, 3, 4};

// A runtime over the plugin, with x + 1 on its first device.
class Whole {
 public:
  explicit Whole(const std::string& path) {
    RuntimeOptions options;
    options.plugins.push_back({.name = "bench",
                               .path = path,
                               .settings = plugin_settings(),
                               .origin = pjrt::kGivenPlugin});
    options.device = "bench";
    auto made = Runtime::create(options);
    if (!made) give_up("pjrt", made.error().to_string());
    runtime_ = std::make_unique<Runtime>(std::move(*made));
    program_ =
        wait_blocking(runtime_->compile(Program::from_text(kIncrement, "increment"))).value();
    x_ = wait_blocking(device().put({.data = kValues.data(), .shape = Shape(DType::kF32, {4})}))
             .value();
  }

  // All are submitted, then all are awaited.
  double in_flight_us() const {
    return 1e6 / kCalls * seconds_of([&] {
             std::vector<Future<Buffers>> started;
             for (int i = 0; i < kCalls; ++i) started.push_back(device().execute(program_, {x_}));
             for (const Future<Buffers>& one : started) {
               const Buffers y = wait_blocking(one).value();
               static_cast<void>(wait_blocking(y[0].ready()));
             }
           });
  }
  double wait_us() const {
    return 1e6 / kWaits * seconds_of([&] {
             for (int i = 0; i < kWaits; ++i) {
               const Buffers y = wait_blocking(device().execute(program_, {x_})).value();
               static_cast<void>(wait_blocking(y[0].ready()));
             }
           });
  }

 private:
  Device device() const { return runtime_->device(0); }
  std::unique_ptr<Runtime> runtime_;
  Executable program_;
  Buffer x_;
};

// Executions per second, in millions, of so many threads; work(n) makes n of them. They take them
// from one heap, so that all are at work until the end.
template <class F>
double rate(int threads, F&& work) {
  TimePoint begin;
  std::barrier start(threads, [&begin]() noexcept { begin = steady_clock().now(); });
  std::atomic<int> left = kCallsOfAll / kCallsAtOnce;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      work(kFirstCalls);
      start.arrive_and_wait();
      while (left.fetch_sub(1) > 0) work(kCallsAtOnce);
    });
  }
  for (std::thread& thread : all) thread.join();
  const std::chrono::duration<double> seconds = steady_clock().now() - begin;
  return 1e-6 * kCallsOfAll / seconds.count();
}

void measure_threads(Session& session, const std::string& path, const Bare& bare) {
  const auto events = make_executor(ExecutorBackend::kThreads, 1, "events");
  const pjrt::Plugin* const plugin = pjrt::Plugin::load(path).value();
  auto client = pjrt::PjrtClient::create(
                    *plugin, {.completions = events.get(), .settings = plugin_settings()})
                    .value();
  {
    const Executable program =
        client->compile(Program::from_text(kIncrement, "increment"), {}).value();
    const Buffer x = client
                         ->put({.data = kValues.data(), .shape = Shape(DType::kF32, {4})},
                               HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
                         .value()
                         .buffer;
    devices::pjrt::abi::Buffer* const bare_x = bare.put(kValues.data(), 4);
    const auto ours = [&](int calls) {
      const std::span<const Buffer> inputs[] = {{&x, 1}};
      const DeviceId devices[] = {DeviceId{0}};
      for (int i = 0; i < calls; ++i) {
        LaunchResult result;
        if (!program.body()->launch({.devices = devices, .arguments = inputs}, {&result, 1}))
          give_up("pjrt", "a launch failed");
        static_cast<void>(wait_blocking(result.done));
      }
    };
    const auto theirs = [&](int calls) { bare.dispatch(bare_x, calls); };
    std::map<int, std::vector<double>> of_theirs = {{1, {}}, {2, {}}, {4, {}}, {kThreads, {}}};
    session.measure(
        {.name = "pjrt.threads_16",
         .unit = "M/s",
         .peer = "bare C calls, the best of 1, 2, 4 and 16 threads",
         .goal = Goal::kAtLeast,
         .limit = 0.9},
        [&] { return rate(kThreads, ours); },
        [&] {
          double best = 0;
          for (auto& [threads, rates] : of_theirs) {
            rates.push_back(rate(threads, theirs));
            best = std::max(best, rates.back());
          }
          return best;
        });
    for (auto& [threads, rates] : of_theirs) {
      std::ranges::nth_element(rates, rates.begin() + std::ssize(rates) / 2);
      session.remark("bare C calls, threads: " + std::to_string(threads) + ", median " +
                     std::to_string(rates[rates.size() / 2]) + " M/s");
    }
    bare.destroy(bare_x);
  }
  static_cast<void>(wait_blocking(client->close()));
  client.reset();
  static_cast<void>(wait_blocking(events->close()));
}

void measure(Session& session) {
  const std::string path = plugin_path();
  if (path.empty()) {
    for (const char* name : {"pjrt.in_flight", "pjrt.wait", "pjrt.threads_16"})
      session.skip(name, kNoPlugin);
    return;
  }
  const Bare bare(path);
  if (session.wants("pjrt.in_flight") || session.wants("pjrt.wait")) {
    const Whole whole(path);
    const auto driver = make_executor(ExecutorBackend::kThreads, 1, "driver");
    devices::pjrt::abi::Buffer* const bare_x = bare.put(kValues.data(), 4);
    const auto bare_us = [&](int calls) {
      return 1e6 / calls * seconds_of([&] { bare.dispatch(bare_x, calls); });
    };
    session.measure(
        {.name = "pjrt.in_flight",
         .unit = "us",
         .peer = "bare C calls and 2 us",
         .goal = Goal::kAtMost,
         .limit = 1},
        [&] { return whole.in_flight_us(); },
        [&] {
          const Future<double> seconds =
              make_ready().then(*driver, [&](const Status&) -> Result<double> {
                return seconds_of([&] { bare.dispatch_all(bare_x, kCalls); });
              });
          return 2 + 1e6 / kCalls * wait_blocking(seconds).value();
        });
    double wake_ups = 0;
    session.measure(
        {.name = "pjrt.wait",
         .unit = "us",
         .peer = "bare C calls and two raw wake-ups",
         .goal = Goal::kAtMost,
         .limit = 1},
        [&] { return whole.wait_us(); },
        [&] {
          wake_ups = two_wake_ups_us(Before::kBusy);
          return bare_us(kWaits) + wake_ups;
        });
    if (session.wants("pjrt.wait"))
      session.remark("two raw wake-ups: " + std::to_string(wake_ups) + " us");
    bare.destroy(bare_x);
    static_cast<void>(wait_blocking(driver->close()));
  }
  if (session.wants("pjrt.threads_16")) measure_threads(session, path, bare);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
