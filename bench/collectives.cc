// collectives.all_reduce_4B and _64MiB: a sum over two CPU devices of one process. The peer, and
// the floor, are two plain threads with a spin barrier: each adds one half of the arrays and writes
// both results. Small ones are chained, each started by the end of the one before, so that the
// group's actor and its threads are awake; the sleeping case is printed beside two raw wake-ups.
// plugin.all_reduce_64MiB: the same over two devices of XLA's CPU plugin, which reduce among
// themselves, until the results are written. The peer is the same program, launched by the client
// itself.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "bench/figure.h"
#include "bench/pjrt_bare.h"
#include "bench/wake_ups.h"
#include "millrace/collectives/collective_program.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/tools/api/runtime.h"

namespace millrace::bench {
namespace {

using collectives::ProcessGroup;
using collectives::ReduceOp;
using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::DType;
using devices::Shape;

constexpr std::size_t kSmall = 1;                            // elements, f32
constexpr std::size_t kLarge = (std::size_t{64} << 20) / 4;  // elements, f32
constexpr int kSmallCalls = 5000;
constexpr int kLargeCalls = 3;
constexpr int kSleepingCalls = 300;

// ---- the floor

class SpinBarrier {
 public:
  explicit SpinBarrier(int parties) : parties_(parties) {}
  void wait() {
    const int phase = phase_.load();
    if (arrived_.fetch_add(1) + 1 == parties_) {
      arrived_.store(0);
      phase_.store(phase + 1);
    } else {
      while (phase_.load() == phase) {
      }
    }
  }

 private:
  const int parties_;
  std::atomic<int> arrived_{0};
  std::atomic<int> phase_{0};
};

// Microseconds of one all-reduce of two arrays in place.
double floor_us(std::vector<float>& a, std::vector<float>& b, int calls) {
  SpinBarrier barrier(2);
  const std::size_t half = (a.size() + 1) / 2;
  const auto rank = [&](std::size_t begin, std::size_t end) {
    barrier.wait();
    for (int call = 0; call < calls; ++call) {
      barrier.wait();  // all inputs are written
      for (std::size_t i = begin; i < end; ++i) a[i] = b[i] = a[i] + b[i];
      barrier.wait();  // all results are
    }
  };
  std::thread other(rank, half, a.size());
  barrier.wait();
  const double seconds = seconds_of([&] {
    for (int call = 0; call < calls; ++call) {
      barrier.wait();
      for (std::size_t i = 0; i < half; ++i) a[i] = b[i] = a[i] + b[i];
      barrier.wait();
    }
  });
  other.join();
  return 1e6 * seconds / calls;
}

// ---- ours

class Ranks {
 public:
  explicit Ranks(RuntimeOptions options = {}) {
    options.devices = 2;
    auto made = Runtime::create(options);
    if (!made) give_up("collectives", made.error().to_string());
    runtime_ = std::make_unique<Runtime>(std::move(*made));
    const std::vector<Device> devices(runtime_->devices().begin(), runtime_->devices().end());
    ranks_ = ProcessGroup::create(runtime_->actors(), "bench", devices).value();
  }
  ~Ranks() { static_cast<void>(wait_blocking(ranks_[0].close())); }

  std::vector<Buffers> put(const std::vector<float>& values) const {
    std::vector<Buffers> inputs;
    for (const ProcessGroup& rank : ranks_) {
      const Buffer buffer =
          wait_blocking(
              rank.device().put(
                  {.data = values.data(),
                   .shape = Shape(DType::kF32, {static_cast<std::int64_t>(values.size())})}))
              .value();
      static_cast<void>(wait_blocking(buffer.ready()));
      inputs.push_back({buffer});
    }
    return inputs;
  }

  // Both ranks call; completes when both have their result.
  Future<void> all_reduce(const std::vector<Buffers>& inputs) const {
    const Future<Buffers> first = ranks_[0].all_reduce(inputs[0], ReduceOp::kSum);
    const Future<Buffers> second = ranks_[1].all_reduce(inputs[1], ReduceOp::kSum);
    first.ignore();
    return second.then(inline_executor(), [first](const Result<Buffers>& result) -> Status {
      if (!result) return std::unexpected(result.error());
      return {};
    });
  }

  // Milliseconds of a call until both results are written.
  double written_ms(const std::vector<Buffers>& inputs, int calls) const {
    return 1e3 / calls * seconds_of([&] {
             for (int i = 0; i < calls; ++i) {
               const Future<Buffers> results[] = {ranks_[0].all_reduce(inputs[0], ReduceOp::kSum),
                                                  ranks_[1].all_reduce(inputs[1], ReduceOp::kSum)};
               for (const Future<Buffers>& result : results) {
                 const Result<Buffers> buffers = wait_blocking(result);
                 if (!buffers) give_up("all_reduce", buffers.error().to_string());
                 need_written((*buffers)[0]);
               }
             }
           });
  }

  // The same by launches of the program itself.
  double launched_ms(const std::vector<Buffers>& inputs, int calls) const {
    const Shape& shape = inputs[0][0].shape();
    const auto program = collectives::collective_program(
        {.kind = collectives::CollectiveCall::Kind::kAllReduce, .shapes = {shape}}, 2);
    const devices::DeviceId ids[] = {ranks_[0].device().id(), ranks_[1].device().id()};
    devices::CompileOptions options{.replicas = 2, .portable = false};
    options.devices = ListOf<devices::DeviceId>(std::span(ids));
    const auto compiled = wait_blocking(runtime_->compile(*program, options));
    if (!compiled) give_up("all_reduce", compiled.error().to_string());
    const std::span<const Buffer> arguments[] = {{inputs[0].begin(), 1}, {inputs[1].begin(), 1}};
    const auto once = [&] {
      devices::LaunchResult results[2];
      const Status launched =
          compiled->body()->launch({.devices = ids, .arguments = arguments}, results);
      if (!launched) give_up("all_reduce", launched.error().to_string());
      for (const devices::LaunchResult& result : results) need_written(result.outputs[0]);
    };
    once();
    return 1e3 / calls * seconds_of([&] {
             for (int i = 0; i < calls; ++i) once();
           });
  }

  // Microseconds of a call; each is started where the one before ends.
  double chained_us(const std::vector<Buffers>& inputs, int calls) const {
    std::promise<void> done;
    struct Loop {
      const Ranks& ranks;
      const std::vector<Buffers>& inputs;
      std::promise<void>& done;
      int left;
      void next() {
        ranks.all_reduce(inputs)
            .then(inline_executor(),
                  [this](const Status& status) {
                    if (!status) give_up("all_reduce", status.error().to_string());
                    if (--left == 0) {
                      done.set_value();
                    } else {
                      next();
                    }
                  })
            .ignore();
      }
    } loop{*this, inputs, done, calls};
    return 1e6 / calls * seconds_of([&] {
             loop.next();
             done.get_future().wait();
           });
  }

  // Microseconds of a call whose actor and caller sleep before it.
  double sleeping_us(const std::vector<Buffers>& inputs) const {
    std::vector<double> times;
    for (int i = 0; i < kSleepingCalls; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      times.push_back(1e6 * seconds_of([&] {
                        if (!wait_blocking(all_reduce(inputs))) give_up("all_reduce", "it failed");
                      }));
    }
    return quantile(times, 0.5);
  }

 private:
  static void need_written(const Buffer& buffer) {
    const Status written = wait_blocking(buffer.ready());
    if (!written) give_up("all_reduce", written.error().to_string());
  }

  std::unique_ptr<Runtime> runtime_;
  std::vector<ProcessGroup> ranks_;
};

void measure_plugin(Session& session) {
  constexpr const char* kName = "plugin.all_reduce_64MiB";
  if (!session.wants(kName)) return;
  if (plugin_path().empty()) return session.skip(kName, kNoPlugin);
  RuntimeOptions options = plugin_options();
  options.plugins[0].settings["cpu_device_count"] = std::int64_t{2};
  const Ranks ranks(std::move(options));
  const std::vector<Buffers> inputs = ranks.put(std::vector<float>(kLarge, 1));
  static_cast<void>(ranks.written_ms(inputs, 1));  // compiles
  session.measure(
      {.name = kName,
       .unit = "ms",
       .peer = "the same program, launched by the client",
       .goal = Goal::kAtMost,
       .limit = 1.1},
      [&] { return ranks.written_ms(inputs, kLargeCalls); },
      [&] { return ranks.launched_ms(inputs, kLargeCalls); });
}

void measure(Session& session) {
  measure_plugin(session);
  if (!session.wants("collectives.all_reduce_4B") && !session.wants("collectives.all_reduce_64MiB"))
    return;
  const Ranks ranks;
  if (session.wants("collectives.all_reduce_4B")) {
    std::vector<float> a(kSmall, 1), b(kSmall, 1);
    const std::vector<Buffers> inputs = ranks.put(a);
    session.measure(
        {.name = "collectives.all_reduce_4B",
         .unit = "us",
         .peer = "the limit",
         .goal = Goal::kAtMost,
         .limit = 1},
        [&] { return ranks.chained_us(inputs, kSmallCalls); }, [] { return 5.0; });
    session.remark("two plain threads with a spin barrier: " +
                   std::to_string(floor_us(a, b, kSmallCalls)) + " us");
    const auto sleeping = ranks.sleeping_us(inputs);
    session.remark("asleep before the call: " + std::to_string(sleeping) +
                   " us; two raw wake-ups: " + std::to_string(two_wake_ups_us(Before::kAsleep)) +
                   " us");
  }
  if (session.wants("collectives.all_reduce_64MiB")) {
    std::vector<float> a(kLarge, 1), b(kLarge, 1);
    const std::vector<Buffers> inputs = ranks.put(a);
    session.measure(
        {.name = "collectives.all_reduce_64MiB",
         .unit = "ms",
         .peer = "two plain threads with a spin barrier",
         .goal = Goal::kAtMost,
         .limit = 1.3},
        [&] { return ranks.chained_us(inputs, kLargeCalls) / 1e3; },
        [&] { return floor_us(a, b, kLargeCalls) / 1e3; });
  }
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
