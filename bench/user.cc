// user.*: what a program takes that uses the public headers alone: Runtime, Device, execute, fetch.
// On the embedded CPU device beside JAX from Python or a fixed goal, and (user.plugin_*) on a PJRT
// plugin beside the bare C calls of that plugin. dispatch: x + 1 of four floats, waited for. chain:
// a thousand of them, each on the output of the one before, waited for at the end, per step.
// put_fetch_4B: a float there and back. A value is the median over the calls of a round; the remark
// tells the 99th percentile of all rounds.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/child.h"
#include "bench/figure.h"
#include "bench/pjrt_bare.h"
#include "bench/wake_ups.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/async/graph.h"
#include "millrace/millrace.h"

namespace millrace::bench {
namespace {

constexpr int kCalls = 3000;
constexpr int kChain = 1000;
constexpr int kLargeCalls = 5;
constexpr int kThreads = 16;
constexpr int kCallsOfThread = 1000;
constexpr std::size_t kLarge = (std::size_t{64} << 20) / sizeof(float);

// Microseconds of calls, one at a time.
class Latency {
 public:
  template <class F>
  double median_us(int calls, F&& call) {
    std::vector<double> times(static_cast<std::size_t>(calls));
    for (double& time : times) {
      const TimePoint begin = steady_clock().now();
      call();
      time = std::chrono::duration<double, std::micro>(steady_clock().now() - begin).count();
    }
    all_.insert(all_.end(), times.begin(), times.end());
    return quantile(std::move(times), 0.5);
  }
  void remark(const Session& session, const std::string& of) const {
    if (!all_.empty())
      session.remark(of + ": 99 % within " + std::to_string(quantile(all_, 0.99)) + " us");
  }

 private:
  std::vector<double> all_;
};

template <class T>
T need(Result<T> result) {
  if (!result) give_up("user", result.error().to_string());
  return *std::move(result);
}
template <class T>
T wait(const Future<T>& future) {
  return need(wait_blocking(future));
}

// A runtime with x + 1 on its first device.
class User {
 public:
  explicit User(const RuntimeOptions& options)
      : runtime_(need(Runtime::create(options))),
        program_(wait(runtime_.compile(Program::from_text(kIncrement, "increment")))),
        x_(wait(device().put(std::vector<float>{1, 2, 3, 4}, {4}))) {
    for (int i = 0; i < 100; ++i) dispatch();
  }

  const Device& device() const { return runtime_.device(0); }
  const Runtime& runtime() const { return runtime_; }
  const Executable& program() const { return program_; }

  void dispatch() const {
    const Buffers y = wait(device().execute(program_, {x_}));
    if (!wait_blocking(y[0].ready())) give_up("user", "a launch failed");
  }
  // Per step; by futures of buffers, or by handles that are waited for.
  double chain_us(bool by_handles) const {
    return 1e6 / kChain * seconds_of([&] {
             if (by_handles) {
               Buffer y = x_;
               for (int i = 0; i < kChain; ++i) y = wait(device().execute(program_, {y}))[0];
               if (!wait_blocking(y.ready())) give_up("user", "a launch failed");
             } else {
               Argument y = x_;
               for (int i = 0; i < kChain; ++i) y = pick(device().execute(program_, {y}), 0);
               if (!wait_blocking(wait(y.future()).ready())) give_up("user", "a launch failed");
             }
           });
  }
  // The same, in a coroutine on the runtime's threads.
  double awaited_chain_us() const {
    return 1e6 / kChain *
           seconds_of([&] { static_cast<void>(wait(spawn(runtime_.compute(), awaited_chain()))); });
  }
  void put_fetch() const {
    const float value = 1;
    const HostArray back =
        wait(device().fetch(device().put({.data = &value, .shape = Shape(DType::kF32, {1})})));
    if (back.as<float>()[0] != 1) give_up("user", "a wrong number");
  }
  // Milliseconds.
  double put_large_ms(const std::vector<float>& values) const {
    return 1e3 / kLargeCalls * seconds_of([&] {
             for (int i = 0; i < kLargeCalls; ++i) {
               const auto there = wait(device().put_borrowed(
                   {.data = values.data(),
                    .shape = Shape(DType::kF32, {static_cast<std::int64_t>(values.size())})}));
               if (!wait_blocking(there.buffer.ready())) give_up("user", "a put failed");
             }
           });
  }
  double fetch_large_ms(const Buffer& from) const {
    return 1e3 / kLargeCalls * seconds_of([&] {
             for (int i = 0; i < kLargeCalls; ++i) static_cast<void>(wait(device().fetch(from)));
           });
  }
  // Millions of launches a second.
  double threads_rate(int threads) const {
    const double seconds = seconds_of([&] {
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t) {
        all.emplace_back([this] {
          for (int i = 0; i < kCallsOfThread; ++i) dispatch();
        });
      }
      for (std::thread& thread : all) thread.join();
    });
    return 1e-6 * threads * kCallsOfThread / seconds;
  }

 private:
  Task<Buffer> awaited_chain() const {
    Buffer y = x_;
    for (int i = 0; i < kChain; ++i) {
      const Result<Buffers> out = co_await device().execute(program_, {y});
      if (!out) co_return out.error();
      y = (*out)[0];
    }
    const Future<void> ready = y.ready();
    co_await ready;
    co_return y;
  }

  Runtime runtime_;
  Executable program_;
  Buffer x_;
};

// What JAX takes in its own process (peers_user.py).
class Jax {
 public:
  Jax() {
    const PythonPeers peers = python_peers();
    why_not_ = peers.why_not;
    if (!peers.python.empty()) {
      child_ = std::make_unique<Child>(
          std::vector<std::string>{peers.python, source_folder() + "/bench/peers_user.py"});
      static_cast<void>(child_->ask("dispatch_jax"));  // it has started, and leaves us the cores
    }
  }
  // nullptr: none is here.
  void measure(Session& session, const Figure& figure, const std::function<double()>& ours) {
    if (!session.wants(figure.name)) return;
    if (!child_) return session.skip(figure.name, why_not_);
    const std::string what = figure.name.substr(figure.name.find('.') + 1);
    session.measure(figure, ours, [&] { return child_->ask(what); });
  }

 private:
  std::unique_ptr<Child> child_;
  std::string why_not_;
};

void measure_cpu(Session& session) {
  const User user{RuntimeOptions{}};
  Jax jax;
  Latency dispatch, put_fetch, replay;
  const auto fixed = [&](const char* name, double goal, const std::function<double()>& ours) {
    session.measure({.name = name, .unit = "us", .peer = "the goal"}, ours,
                    [goal] { return goal; });
  };
  const auto dispatch_us = [&] { return dispatch.median_us(kCalls, [&] { user.dispatch(); }); };
  fixed("user.dispatch", 1.5, dispatch_us);
  dispatch.remark(session, "dispatch");
  jax.measure(session,
              {.name = "user.dispatch_jax", .unit = "us", .peer = "JAX from Python", .limit = 0.4},
              dispatch_us);
  fixed("user.chain", 0.9, [&] { return user.chain_us(false); });
  fixed("user.chain_handles", 0.9, [&] { return user.chain_us(true); });
  jax.measure(
      session,
      {.name = "user.chain_co_await", .unit = "us", .peer = "JAX from Python", .limit = 0.4},
      [&] { return user.awaited_chain_us(); });
  fixed("user.put_fetch_4B", 0.5,
        [&] { return put_fetch.median_us(kCalls, [&] { user.put_fetch(); }); });
  put_fetch.remark(session, "put and fetch");

  const std::vector<float> large(kLarge, 1);
  const auto copied_ms = [&] {
    std::vector<float> to(kLarge);
    return 1e3 / kLargeCalls * seconds_of([&] {
             for (int i = 0; i < kLargeCalls; ++i)
               std::memcpy(to.data(), large.data(), large.size() * sizeof(float));
           });
  };
  session.measure(
      {.name = "user.put_64MiB", .unit = "ms", .peer = "memcpy", .limit = 1.1},
      [&] { return user.put_large_ms(large); }, copied_ms);
  jax.measure(session,
              {.name = "user.fetch_64MiB", .unit = "ms", .peer = "JAX from Python", .limit = 1.1},
              [&] {
                const Buffer there = wait(user.device().put(std::vector<float>(large), {kLarge}));
                return user.fetch_large_ms(there);
              });
  session.measure(
      {.name = "user.threads_16",
       .unit = "M/s",
       .peer = "one thread of ours",
       .goal = Goal::kAtLeast,
       .limit = 0.8},
      [&] { return user.threads_rate(kThreads); }, [&] { return user.threads_rate(1); });

  // A graph of put, execute and fetch beside the three calls.
  GraphBuilder builder;
  const Device device = user.device();
  const Executable program = user.program();
  const auto x = builder.input<float>("x");
  const auto there = builder.node(
      "put", inline_executor(),
      [device](float value) {
        const float values[] = {value, value, value, value};
        return device.put({.data = values, .shape = Shape(DType::kF32, {4})});
      },
      x);
  const auto y = builder.node(
      "execute", inline_executor(),
      [device, program](const Buffer& b) { return device.execute(program, {b}); }, there);
  const auto back = builder.node(
      "fetch", inline_executor(), [device](const Buffers& b) { return device.fetch(b[0]); }, y);
  builder.output(back);
  const Graph graph = need(builder.build());
  session.measure(
      {.name = "user.graph_replay", .unit = "us", .peer = "its three calls", .limit = 1.2},
      [&] {
        return replay.median_us(kCalls, [&] {
          const auto run = graph.start({make_ready(1.0F)});
          static_cast<void>(wait(run->output(back)));
        });
      },
      [&] {
        Latency parts;
        return parts.median_us(kCalls, [&] {
          const float values[] = {1, 1, 1, 1};
          const auto put = device.put({.data = values, .shape = Shape(DType::kF32, {4})});
          static_cast<void>(wait(fetch(device, device.execute(program, {put}), 0)));
        });
      });
}

void measure_all_reduce(Session& session) {
  if (!session.wants("user.all_reduce_4B")) return;
  RuntimeOptions options;
  options.devices = 2;
  const Runtime runtime = need(Runtime::create(options));
  const auto ranks =
      need(collectives::ProcessGroup::create(runtime.actors(), "user", runtime.devices()));
  std::vector<Buffers> inputs;
  for (const Device& device : runtime.devices())
    inputs.push_back({wait(device.put(std::vector<float>{1}, {1}))});
  Latency latency;
  double wake_ups = 0;
  session.measure(
      {.name = "user.all_reduce_4B", .unit = "us", .peer = "two raw wake-ups and 5 us", .limit = 1},
      [&] {
        return latency.median_us(kCalls, [&] {
          const auto other = ranks[1].all_reduce(inputs[1], collectives::ReduceOp::kSum);
          static_cast<void>(wait(ranks[0].all_reduce(inputs[0], collectives::ReduceOp::kSum)));
          static_cast<void>(wait(other));
        });
      },
      [&] { return 5 + (wake_ups = two_wake_ups_us(Before::kBusy)); });
  static_cast<void>(wait_blocking(ranks[0].close()));
}

void measure_plugin(Session& session) {
  const char* const names[] = {"user.plugin_dispatch", "user.plugin_chain",
                               "user.plugin_chain_handles", "user.plugin_put_fetch_4B",
                               "user.plugin_threads_16"};
  if (std::ranges::none_of(names, [&](const char* name) { return session.wants(name); })) return;
  const std::string path = plugin_path();
  if (path.empty()) {
    for (const char* name : names) session.skip(name, kNoPlugin);
    return;
  }
  RuntimeOptions options;
  options.plugins.push_back({.name = "bench",
                             .path = path,
                             .settings = plugin_settings(),
                             .origin = devices::pjrt::kGivenPlugin});
  options.device = "bench";
  const Bare bare(path);
  const User user(options);
  const float four[] = {1, 2, 3, 4};
  devices::pjrt::abi::Buffer* const bare_x = bare.put(four, 4);
  Latency dispatch, put_fetch, bare_dispatch, bare_put_fetch;
  session.measure(
      {.name = "user.plugin_dispatch", .unit = "us", .peer = "bare C calls and 3 us"},
      [&] { return dispatch.median_us(kCalls, [&] { user.dispatch(); }); },
      [&] { return 3 + bare_dispatch.median_us(kCalls, [&] { bare.dispatch(bare_x, 1); }); });
  dispatch.remark(session, "dispatch");
  bare_dispatch.remark(session, "bare");
  const auto bare_chain = [&] {
    return 1e6 / kChain * seconds_of([&] {
             devices::pjrt::abi::Buffer* y = bare_x;
             for (int i = 0; i < kChain; ++i) {
               auto* const next = bare.execute(y, nullptr);
               if (y != bare_x) bare.destroy(y);
               y = next;
             }
             bare.await_ready(y);
             bare.destroy(y);
           });
  };
  for (const bool by_handles : {false, true}) {
    session.measure(
        {.name = by_handles ? "user.plugin_chain_handles" : "user.plugin_chain",
         .unit = "us",
         .peer = "bare C calls",
         .limit = 1.3},
        [&] { return user.chain_us(by_handles); }, bare_chain);
  }
  session.measure(
      {.name = "user.plugin_put_fetch_4B", .unit = "us", .peer = "bare C calls and 4 us"},
      [&] { return put_fetch.median_us(kCalls, [&] { user.put_fetch(); }); },
      [&] {
        return 4 + bare_put_fetch.median_us(kCalls, [&] {
          float back = 0;
          auto* const there = bare.put(four, 1);
          bare.fetch(there, &back, sizeof(back));
          bare.destroy(there);
        });
      });
  put_fetch.remark(session, "put and fetch");
  session.measure(
      {.name = "user.plugin_threads_16",
       .unit = "M/s",
       .peer = "bare C calls of one thread",
       .goal = Goal::kAtLeast,
       .limit = 0.8},
      [&] { return user.threads_rate(kThreads); },
      [&] { return 1e-6 * kCalls / seconds_of([&] { bare.dispatch(bare_x, kCalls); }); });
  bare.destroy(bare_x);
}

void measure(Session& session) {
  measure_cpu(session);
  measure_all_reduce(session);
  measure_plugin(session);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
