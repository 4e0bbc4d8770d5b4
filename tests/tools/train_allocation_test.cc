// A replayed training step asks the system for no memory: the recorded graph of the product with
// its loader and its collectives, after a warm-up, on simulated devices and on the CPU devices.
// Both run in the simulation, so that a run is the same every time; what oneDNN does on its own is
// left out.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/base/pool.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "millrace/devices/device_actor.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/train/model.h"
#include "millrace/tools/train/step_graph.h"
#include "millrace/tools/train/step_watch.h"
#include "millrace/transfer/device_loader.h"
#include "millrace/transfer/fake_source.h"
#include "tests/support/allocation_count.h"
#include "tests/support/paths.h"
#include "tests/support/simulation.h"
#include "tests/tools/train_fixture.h"

namespace millrace::train::testing {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Executable;
using devices::HostArray;
using millrace::testing::AllocationCount;
using millrace::testing::for_each_seed;
using millrace::testing::kAllocationsCountable;
using millrace::testing::Simulation;

constexpr std::size_t kDevices = 2;

struct StepParts {
  Environment environment;
  actors::ActorSystem* actors = nullptr;
  std::span<const devices::Device> devices;
  devices::Client* client = nullptr;
  std::function<void(AsyncValue&)> wait;  // until it is complete
  std::string model;
  std::shared_ptr<transfer::ItemSource> source;
  std::int64_t rows = 0;
  Duration limit = Duration::max();  // of the whole run
};

// What Training has around its recorded step, without the rest of a training.
class Steps {
 public:
  explicit Steps(const StepParts& parts)
      : parts_(parts),
        watch_(*parts.environment.clock, *parts.environment.compute, parts.devices.size()) {
    model_ = Model::load(parts.model).value();
    const std::vector<devices::Device> devices(parts.devices.begin(), parts.devices.end());
    loader_ =
        transfer::DeviceLoader::create(
            parts.environment, parts.source, devices,
            {.batch_size = parts.rows * static_cast<std::int64_t>(devices.size()), .epochs = 0})
            .value();
    ranks_ = collectives::ProcessGroup::create(*parts.actors, "train", devices).value();
    call_.stop = watch_.token();
    if (parts.limit != Duration::max())
      call_.deadline = parts.environment.clock->now() + parts.limit;

    StepGraphOptions options;
    options.model = &*model_;
    options.grad = *model_->program("grad", parts.rows);
    options.grad_program = compile(*options.grad);
    options.update_program = compile(**model_->program("update"));
    options.ranks = ranks_;
    options.loader = &*loader_;
    options.timers = parts.environment.timers;
    options.observer = &watch_;
    graph_ = StepGraph::create(std::move(options)).value();
    initialise(**model_->program("init"));
  }

  // Steps one after the other, in_flight of them at a time, to the end of the last one.
  template <std::size_t in_flight>
  void run_steps(int steps) {
    std::array<Ref<GraphRun>, in_flight> runs;
    for (int i = 0; i < steps + static_cast<int>(in_flight); ++i) {
      if (::testing::Test::HasFailure()) return;
      Ref<GraphRun>& run = runs[static_cast<std::size_t>(i) % in_flight];
      if (run) retire(*run);
      run = i < steps ? start() : nullptr;
    }
  }

  float last_loss() const { return last_loss_; }

  void close() {
    replicas_.clear();
    EXPECT_TRUE(run(loader_->close()).has_value());
    EXPECT_TRUE(run(ranks_[0].close()).has_value());
    graph_.reset();
    ranks_.clear();
    loader_.reset();
  }

 private:
  template <class T>
  Result<T> run(const Future<T>& future) {
    parts_.wait(*future.cell());
    return future.take();
  }

  Executable compile(const ProgramSpec& spec) {
    return parts_.client->compile(devices::Program::from_file(spec.path).value(), {}).value();
  }

  void initialise(const ProgramSpec& spec) {
    const Executable init = compile(spec);
    const std::uint32_t seed = 7;
    for (const auto& device : parts_.devices) {
      const auto put = device.put({.data = &seed, .shape = spec.inputs[0].shape});
      const Buffers made = run(device.execute(init, {put})).value();
      EXPECT_TRUE(run(put.result()->ready()).has_value());
      const auto part = [&](Role role) {
        std::vector<Buffer> family;
        for (const std::size_t p : ProgramSpec::of_role(spec.outputs, role))
          family.push_back(made[p]);
        return make_ready(Buffers(family));
      };
      replicas_.push_back({part(Role::kParam), part(Role::kMomentum), part(Role::kState)});
    }
  }

  Ref<GraphRun> start() {
    StepTicket ticket;
    ticket.step = step_++;
    for (const auto& rank : ranks_)
      ticket.first_collective = rank.reserve(graph_->collectives_per_step());
    Ref<GraphRun> run = graph_->start(ticket, replicas_, call_);
    for (std::size_t d = 0; d < replicas_.size(); ++d) replicas_[d] = graph_->replica(*run, d);
    if (step_ % loader_->plan().steps_per_epoch() == 0) {
      for (std::size_t d = 0; d < replicas_.size(); ++d)  // the end of the epoch, in its place
        loader_->next(static_cast<int>(d), call_).ignore();
    }
    return run;
  }

  void retire(const GraphRun& step) {
    const Status done = run(step.done());
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
    for (std::size_t d = 0; d < replicas_.size(); ++d) {
      const Result<HostArray> loss = graph_->loss(step, d).take();
      last_loss_ = loss->as<float>()[0];
    }
  }

  const StepParts parts_;
  StepWatch watch_;
  CallOptions call_;
  std::optional<Model> model_;
  std::optional<transfer::DeviceLoader> loader_;
  std::vector<collectives::ProcessGroup> ranks_;
  std::optional<StepGraph> graph_;
  std::vector<Replica> replicas_;
  std::uint64_t step_ = 0;
  float last_loss_ = 0;
};

// The pool's blocks may grow in number with every new coincidence; here it has more than enough.
void fill_pool() {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t size = 64; size <= 64 * 1024; size += size < 1024 ? 64 : size) {
    for (int i = 0; i < (size <= 1024 ? 1000 : 100); ++i) {
      blocks.emplace_back(pool_allocate(size), size);
    }
  }
  for (const auto& [block, size] : blocks) pool_free(block, size);
}

// More steps in flight while it warms up than when it counts, so that every list has been longer
// than it will be.
std::int64_t count_allocations(Steps& steps, int warm_up, int counted, bool (*ignored)(),
                               std::string* stacks) {
  fill_pool();
  steps.run_steps<6>(warm_up);
  steps.run_steps<3>(warm_up);
  const float before = steps.last_loss();
  AllocationCount allocations(ignored);
  steps.run_steps<3>(counted);
  *stacks = allocations.stacks();
  EXPECT_NE(steps.last_loss(), before) << "the steps did something";
  return allocations.count();
}

void expect_no_allocations(Simulation& sim, devices::Client& client, StepParts parts, int warm_up,
                           int counted, bool (*ignored)() = nullptr) {
  std::vector<devices::Device> devices =
      devices::make_devices(client, {.environment = sim.environment()});
  sim.on_finish("the client", [&client] { return client.close(); });
  for (const auto& device : devices) {
    sim.on_finish("a device", [device] { return device.close(); });
  }
  parts.environment = sim.environment();
  parts.actors = &sim.actors();
  parts.devices = devices;
  parts.client = &client;
  parts.wait = [&sim](AsyncValue& value) { sim.run_until_complete(value); };
  Steps steps(parts);
  std::string stacks;
  const std::int64_t count = count_allocations(steps, warm_up, counted, ignored, &stacks);
  EXPECT_EQ(count, 0) << "in " << counted << " steps\n" << stacks;
  steps.close();
  sim.finish();
}

TEST(TrainAllocationTest, ReplayedStepOnSimulatedDevicesAllocatesNothing) {
  if (!kAllocationsCountable) GTEST_SKIP() << "a sanitizer sees every pooled block";
  constexpr std::int64_t kRows = 8;
  for_each_seed(6, [&](Simulation& sim) {
    const ModelFolder model(kRows);
    devices::sim::SimClient client({.timers = &sim.timers(),
                                    .devices = static_cast<int>(kDevices),
                                    .transfer_latency = std::chrono::microseconds(50),
                                    .record_events = false});
    add_programs(client, kRows);
    auto source = std::make_shared<ClockSource>(sim.timers(), 160, std::chrono::milliseconds(2),
                                                std::chrono::milliseconds(1));
    StepParts parts{.model = model.path(), .source = std::move(source), .rows = kRows};
    if (sim.seed() % 2 == 0) parts.limit = std::chrono::hours(1);  // every call has a deadline then
    expect_no_allocations(sim, client, std::move(parts), 30, 100);
  });
}

constexpr std::int64_t kCpuRows = 64;

StepParts mnist() {
  return {
      .model = millrace::testing::source_folder() + "/tools/models/mnist",
      .source = std::make_shared<transfer::FakeSource>(transfer::FakeSourceOptions{.items = 1280}),
      .rows = kCpuRows};
}

TEST(TrainAllocationTest, ReplayedStepOnCpuDevicesAllocatesNothing) {
  if (!kAllocationsCountable) GTEST_SKIP() << "a sanitizer sees every pooled block";
  for_each_seed(2, [&](Simulation& sim) {
    const auto serial = make_serial_parallel();
    const devices::DeviceThreads threads{.executor = &sim.executor(), .parallel = serial.get()};
    devices::cpu::CpuClient client({.threads = {kDevices, threads},
                                    .clock = sim.environment().clock,
                                    .compile = &devices::cpu::compile});
    expect_no_allocations(sim, client, mnist(), 20, 30, &devices::cpu::inside_onednn);
  });
}

// The same on real threads, with their executors and their event loop, because the simulation has
// none of these. Device memory and the loader's lists may still grow a little with a new
// coincidence, so it asks only that a step does not allocate; anything that it did would count in
// each of them.
TEST(TrainAllocationTest, StepsOnRealThreadsAllocateLessThanOnceEach) {
  if (!kAllocationsCountable) GTEST_SKIP() << "a sanitizer sees every pooled block";
  const Runtime runtime =
      Runtime::create(RuntimeOptions{.devices = static_cast<int>(kDevices), .threads = 2}).value();
  StepParts parts = mnist();
  parts.environment = runtime.environment();
  parts.actors = &runtime.actors();
  parts.devices = runtime.devices();
  parts.client = &runtime.client();
  parts.wait = [](AsyncValue& value) { wait_blocking(value); };
  Steps steps(parts);
  std::string stacks;
  constexpr int kCounted = 100;
  const std::int64_t count =
      count_allocations(steps, 30, kCounted, &devices::cpu::inside_onednn, &stacks);
  EXPECT_LT(count, kCounted) << stacks;
  steps.close();
}

}  // namespace
}  // namespace millrace::train::testing
