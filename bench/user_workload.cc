#include "bench/user_workload.h"

#include <barrier>
#include <thread>

#include "bench/pjrt_bare.h"

namespace millrace::bench {
namespace {

Measured per_step_us(const std::function<void()>& chain) {
  return latency_us(kChains, chain).value / kChain;
}

RuntimeOptions with_two_devices(RuntimeOptions options) {
  options.devices = 2;
  return options;
}

}  // namespace

double calls_rate(int threads, const std::function<void()>& call) {
  constexpr int kCallsOfThread = 1000;
  std::vector<TimePoint> passed;  // the barrier, by the last thread
  std::barrier all(threads, [&]() noexcept { passed.push_back(steady_clock().now()); });
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < threads; ++t) {
      callers.emplace_back([&] {
        call();
        all.arrive_and_wait();
        for (int i = 0; i < kCallsOfThread; ++i) call();
        all.arrive_and_wait();
      });
    }
  }
  const std::chrono::duration<double, std::micro> time = passed[1] - passed[0];
  return threads * kCallsOfThread / time.count();
}

User::User(const RuntimeOptions& options)
    : runtime_(need(Runtime::create(options))),
      program_(wait(runtime_.compile(Program::from_text(kIncrement, "increment")))),
      x_(wait(device().put(std::vector<float>{1, 2, 3, 4}, {4}))),
      replay_(make_replay(device(), program_)) {
  for (int i = 0; i < 100; ++i) dispatch_once();
}

void User::dispatch_once(const CallOptions& call) const {
  wait(wait(device().execute(program_, {x_}, {.call = call}))[0].ready());
}

Measured User::dispatch(const CallOptions& call) const {
  return latency_us(kCalls, [&] { dispatch_once(call); });
}

Measured User::chain() const {
  return per_step_us([&] {
    Argument y = x_;
    for (int i = 0; i < kChain; ++i) y = pick(device().execute(program_, {y}), 0);
    wait(wait(y.future()).ready());
  });
}

Measured User::chain_behind() const {
  const auto chain = [&] {
    Promise<Buffer> first;
    Argument y = first.future();
    for (int i = 0; i < kDeepChain; ++i) y = pick(device().execute(program_, {y}), 0);
    first.set(x_);
    wait(wait(y.future()).ready());
  };
  return latency_us(kChains, chain).value / kDeepChain;
}

Measured User::chain_by_handles() const {
  return per_step_us([&] {
    Buffer y = x_;
    for (int i = 0; i < kChain; ++i) y = wait(device().execute(program_, {y}))[0];
    wait(y.ready());
  });
}

Task<Buffer> User::awaited_chain() const {
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

Measured User::chain_by_co_await() const {
  return per_step_us([&] { static_cast<void>(wait(spawn(runtime_.compute(), awaited_chain()))); });
}

Measured User::put_fetch() const {
  return latency_us(kCalls, [&] {
    const float value = 1;
    const HostArray back =
        wait(device().fetch(device().put({.data = &value, .shape = Shape(DType::kF32, {1})})));
    if (back.as<float>()[0] != 1) give_up("user", "a wrong number");
  });
}

Measured User::put_large() const {
  static const std::vector<float> values(kLarge, 1);
  const Measured us = latency_us(kLargeCalls, [&] {
    wait(wait(device().put_borrowed({.data = values.data(), .shape = Shape(DType::kF32, {kLarge})}))
             .buffer.ready());
  });
  return us.value / 1e3;
}

Measured User::fetch_large() const {
  const Buffer there = wait(device().put(std::vector<float>(kLarge, 1), {kLarge}));
  wait(there.ready());
  return latency_us(kLargeCalls, [&] { static_cast<void>(wait(device().fetch(there))); });
}

Measured User::dispatches(int threads) const {
  return calls_rate(threads, [&] { dispatch_once(); });
}

User::Replay User::make_replay(const Device& device, const Executable& program) {
  GraphBuilder builder;
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
  return {need(builder.build()), back};
}

Measured User::graph_replay() const {
  return latency_us(kCalls, [&] {
    const auto run = replay_.graph.start({make_ready(1.0F)});
    static_cast<void>(wait(run->output(replay_.back)));
  });
}

Measured User::graph_parts() const {
  return latency_us(kCalls, [&] {
    const float values[] = {1, 1, 1, 1};
    const Buffer there = wait(device().put({.data = values, .shape = Shape(DType::kF32, {4})}));
    const Buffers y = wait(device().execute(program_, {there}));
    static_cast<void>(wait(device().fetch(y[0])));
  });
}

Pair::Pair(RuntimeOptions options)
    : runtime_(need(Runtime::create(with_two_devices(std::move(options))))),
      ranks_(
          need(collectives::ProcessGroup::create(runtime_.actors(), "user", runtime_.devices()))) {
  for (const Device& device : runtime_.devices())
    inputs_.push_back({wait(device.put(std::vector<float>{1}, {1}))});
}

Pair::~Pair() { wait(ranks_[0].close()); }

Measured Pair::all_reduce() const {
  return latency_us(kCalls, [&] {
    const auto other = ranks_[1].all_reduce(inputs_[1], collectives::ReduceOp::kSum);
    static_cast<void>(wait(ranks_[0].all_reduce(inputs_[0], collectives::ReduceOp::kSum)));
    static_cast<void>(wait(other));
  });
}

}  // namespace millrace::bench
