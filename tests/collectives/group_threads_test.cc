// A group of two processes on real sockets and threads: which thread an answer comes on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/group_wire.h"
#include "millrace/collectives/parcels.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/host_transport.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/device_actor.h"
#include "tests/support/temp_folder.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;

// What a process of the job has.
struct Process {
  explicit Process(int rank) : loop(create_uv_event_loop().value(), "mesh" + std::to_string(rank)) {
    device =
        devices::make_devices(client, {.environment = environment(), .inline_when_idle = true})[0];
  }
  Environment environment() {
    return {&steady_clock(), &loop.loop().timers(), pool.get(), pool.get()};
  }
  Buffer put(std::vector<float> values) const {
    const auto count = static_cast<std::int64_t>(values.size());
    return wait_blocking(device.put(std::move(values), {count})).value();
  }

  EventLoopThread loop;
  std::unique_ptr<PoolExecutor> pool = make_executor(ExecutorBackend::kThreads, 1, "p");
  std::unique_ptr<net::Transport> transport = net::make_host_transport(loop.loop());
  Ref<net::Mesh> mesh;
  devices::cpu::CpuClient client{
      {.threads = {{.executor = pool.get(), .parallel = &pool->parallel()}}}};
  devices::Device device;
  std::optional<actors::ActorSystem> system;
  std::optional<ProcessGroup> member;
};

class GroupThreadsTest : public ::testing::Test {
 protected:
  GroupThreadsTest() {
    std::vector<Future<std::vector<ProcessGroup>>> met;
    for (std::uint32_t p = 0; p < 2; ++p) {
      Process& process = *processes[p];
      net::MeshOptions options{.rank = p,
                               .size = 2,
                               .job = "job",
                               .host = "here",
                               .pid = static_cast<std::int32_t>(::getpid())};
      net::draw_random(options.incarnation);
      process.mesh = net::Mesh::make(*process.transport, store, options).value();
      EXPECT_TRUE(wait_blocking(process.mesh->start("unix:" + folder.file(std::to_string(p)))));
      process.system.emplace(process.environment());
      met.push_back(
          ProcessGroup::meet(*process.system, process.mesh, {"g"}, {&process.device, 1}, {}));
    }
    for (std::uint32_t p = 0; p < 2; ++p)
      processes[p]->member.emplace(wait_blocking(met[p]).value()[0]);
  }
  ~GroupThreadsTest() override {
    const Future<void> closed[] = {member(0).close(), member(1).close()};
    EXPECT_TRUE(wait_blocking(when_all(closed)));
    for (const auto& process : processes) {
      EXPECT_TRUE(wait_blocking(process->mesh->close()));
      EXPECT_TRUE(wait_blocking(process->device.close()));
      EXPECT_TRUE(wait_blocking(process->system->close()));
      process->member.reset();
      process->device = {};
      EXPECT_TRUE(wait_blocking(process->client.close()));
      EXPECT_TRUE(wait_blocking(process->pool->close()));
    }
    for (const auto& process : processes) EXPECT_TRUE(wait_blocking(process->loop.close()));
  }

  const ProcessGroup& member(std::size_t process) const { return *processes[process]->member; }
  // The second process has not called yet. Whether what waits for the call runs on a loop's thread.
  template <class T>
  static Future<bool> runs_on_loop(const Future<T>& call) {
    return call.then(inline_executor(), [](const Result<T>&) { return running_loop() != nullptr; });
  }

  testing::TempFolder folder;
  std::array<std::unique_ptr<Process>, 2> processes = {std::make_unique<Process>(0),
                                                       std::make_unique<Process>(1)};
  LocalKeyValueStore store{processes[0]->loop.loop().timers()};
};

TEST_F(GroupThreadsTest, WhatWaitsForACallRunsOnNoLoopsThread) {
  for (const std::size_t elements : {std::size_t{4}, std::size_t{100'000}}) {
    const Buffer mine = processes[0]->put(std::vector<float>(elements, 1));
    const Buffer theirs = processes[1]->put(std::vector<float>(elements, 2));
    for (int round = 0; round < 50; ++round) {
      const Future<Buffers> sum = member(0).all_reduce({mine}, ReduceOp::kSum);
      const Future<bool> on_loop = runs_on_loop(sum);
      EXPECT_TRUE(wait_blocking(member(1).all_reduce({theirs}, ReduceOp::kSum)));
      ASSERT_FALSE(wait_blocking(on_loop).value());
      const auto array = wait_blocking(processes[0]->device.fetch((*sum.result())[0])).value();
      ASSERT_EQ(array.as<float>()[elements - 1], 3);

      const Future<bool> after_barrier = runs_on_loop(member(0).barrier());
      EXPECT_TRUE(wait_blocking(member(1).barrier()));
      ASSERT_FALSE(wait_blocking(after_barrier).value());

      const Future<bool> agreed = runs_on_loop(member(0).agree(AgreeOp::kMax, round));
      EXPECT_EQ(wait_blocking(member(1).agree(AgreeOp::kMax, -1)).value(), round);
      ASSERT_FALSE(wait_blocking(agreed).value());
    }
  }
}

TEST_F(GroupThreadsTest, NorWhatWaitsForOneThatFails) {
  const Buffer mine = processes[0]->put({1}), theirs = processes[1]->put({1, 2});
  const Future<Buffers> sum = member(0).all_reduce({mine}, ReduceOp::kSum);
  const Future<bool> on_loop = runs_on_loop(sum);
  EXPECT_FALSE(wait_blocking(member(1).all_reduce({theirs}, ReduceOp::kSum)));
  EXPECT_FALSE(wait_blocking(on_loop).value());
  EXPECT_FALSE(sum.result());
}

// GW-1: what hears that a call has ended may end the process.
TEST_F(GroupThreadsTest, WhatACallHasToSendGoesBeforeItsEndIsHeard) {
  std::vector<Ref<GroupWire>> wires;
  for (std::uint32_t p = 0; p < 2; ++p) {
    wires.push_back(GroupWire::make(processes[p]->mesh, {"wire"}, {{.process = 0}, {.process = 1}},
                                    static_cast<int>(p)));
    wires[p]->start({});
  }
  const CollectiveCall barrier{CollectiveCall::Kind::kBarrier, ReduceOp::kSum, Rank{0}, {}};
  const auto run = [&](std::size_t p, std::uint64_t sequence) {
    auto parcels = make_parcels(barrier, wires[p]->spread(), static_cast<int>(p), {});
    return wires[p]->run({sequence, barrier, std::move(parcels.value().runs)});
  };
  for (std::uint64_t round = 0; round < 50; ++round) {
    const Future<void> first = run(0, round);
    const Future<void> there[] = {member(0).barrier(), member(1).barrier()};  // behind its message
    ASSERT_TRUE(wait_blocking(when_all(there)));
    // On the thread of the second process's loop, which does nothing else meanwhile.
    const Future<bool> both = run(1, round).then(inline_executor(), [first](const Status&) {
      return wait_until(first, std::chrono::seconds(10));
    });
    ASSERT_TRUE(wait_blocking(both).value()) << round;
  }
  const Future<void> closed[] = {wires[0]->close(), wires[1]->close()};
  EXPECT_TRUE(wait_blocking(when_all(closed)));
}

}  // namespace
}  // namespace millrace::collectives
