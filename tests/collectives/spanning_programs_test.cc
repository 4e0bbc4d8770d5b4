// Programs that span processes: compiled and launched by CPU clients of several processes, in
// simulation, with the links, the mesh and the network between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "millrace/collectives/program_links.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/device_actor.h"
#include "tests/core/net/mesh_job.h"

namespace millrace::collectives {
namespace {

using devices::Argument;
using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::Executable;
using testing::for_each_seed;
using ::testing::HasSubstr;
using testing::SimFaults;
using testing::Simulation;

// Each device gets a + b over all of them, and its own x.
const std::string kSum =
    "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n%r = "
    "\"stablehlo.all_reduce\"(%x) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add "
    "%a, %b : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) {replica_groups = dense<> : "
    "tensor<0x0xi64>} : (tensor<4xf32>) -> tensor<4xf32>\nreturn %r, %x : tensor<4xf32>, "
    "tensor<4xf32>\n}\n";

// A ring, three times round: each device ends with the value of the device three before it.
const std::string kRing =
    "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n%z = "
    "stablehlo.constant dense<0> : tensor<i32>\n%r:2 = \"stablehlo.while\"(%z, %x) ({\n^bb0(%i: "
    "tensor<i32>, %v: tensor<4xf32>):\n%n = stablehlo.constant dense<3> : tensor<i32>\n%p = "
    "stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %p "
    ": tensor<i1>\n}, {\n^bb0(%i: tensor<i32>, %v: tensor<4xf32>):\n%one = stablehlo.constant "
    "dense<1> : tensor<i32>\n%j = stablehlo.add %i, %one : tensor<i32>\n%w = "
    "\"stablehlo.collective_permute\"(%v) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], "
    "[3, 0]]> : tensor<4x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>\nstablehlo.return %j, %w : "
    "tensor<i32>, tensor<4xf32>\n}) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, "
    "tensor<4xf32>)\nreturn %r#1, %x : tensor<4xf32>, tensor<4xf32>\n}\n";

struct Processes {
  struct Process {
    std::unique_ptr<ProgramLinks> links;
    std::unique_ptr<devices::cpu::CpuClient> client;
    std::vector<Device> devices;
  };

  Processes(Simulation& simulation, int count, int devices_of_each,
            const SimFaults& faults = {.stalls = 0}, const devices::DeviceLimits& limits = {})
      : sim(simulation),
        of_each(devices_of_each),
        limits(limits),
        job(simulation, static_cast<std::uint32_t>(count), faults) {
    for (int p = 0; p < count; ++p) add(static_cast<std::uint32_t>(p));
  }

  Executable compile(std::size_t p, const std::string& text) {
    const auto compiled = try_compile(p, text, static_cast<int>(all.size()));
    EXPECT_TRUE(compiled) << compiled.error().to_string();
    return compiled.value_or(Executable());
  }
  Result<Executable> try_compile(std::size_t p, const std::string& text, int processes) {
    devices::CompileOptions options{.replicas = of_each * processes, .processes = processes};
    std::vector<devices::DeviceId> ids;
    for (const Device& device : all[p].devices) ids.push_back(device.id());
    options.devices = ListOf<devices::DeviceId>(ids);
    return all[p].client->compile(devices::Program::from_text(text, "sum"), options);
  }
  // The d-th device of process p puts base + p * of_each + d. late: they wait for it.
  Future<Buffers> launch(std::size_t p, const Executable& executable, float base = 0,
                         const CallOptions& call = {}, const Future<void>& late = {}) {
    std::vector<std::vector<Argument>> arguments;
    for (std::size_t d = 0; d < all[p].devices.size(); ++d) {
      const float value =
          base + static_cast<float>(p) * static_cast<float>(of_each) + static_cast<float>(d);
      auto array = devices::HostArray::make(devices::Shape(devices::DType::kF32, {4}));
      const float four[] = {value, value, value, value};
      std::memcpy(array.mutable_bytes().data(), four, sizeof four);
      const Future<Buffer> put =
          all[p].devices[d].put({array.bytes().data(), array.shape(), {}, array.owner()});
      arguments.push_back({Argument(late.valid() ? after(late, put) : put)});
    }
    const std::vector<std::span<const Argument>> lists(arguments.begin(), arguments.end());
    return launch_spanning(all[p].devices, executable, lists, {}, {.call = call});
  }
  // The buffer once both are there; an error of either.
  Future<Buffer> after(const Future<void>& late, const Future<Buffer>& put) {
    return late.then(sim.executor(), [put](const Result<void>& there) -> Future<Buffer> {
      if (!there) return there.error();
      return put;
    });
  }
  // The first number of each device's first result.
  std::vector<float> values(std::size_t p, const Future<Buffers>& launched) {
    const auto buffers = sim.run(launched);
    if (!buffers) {
      ADD_FAILURE() << buffers.error().to_string();
      return {};
    }
    std::vector<float> found;
    for (std::size_t d = 0; d < all[p].devices.size(); ++d) {
      const auto array = sim.run(all[p].devices[d].fetch((*buffers)[2 * d]));
      if (!array) ADD_FAILURE() << "process " << p << ": " << array.error().to_string();
      found.push_back(array ? array->as<float>()[0] : -1);
    }
    return found;
  }
  // With which every result of every device fails; "none" where one does not.
  std::string error_of(std::size_t p, const Future<Buffers>& launched) {
    const auto buffers = sim.run(launched);
    if (!buffers) return buffers.error().to_string();
    std::string words;
    for (std::size_t i = 0; i < buffers->size(); ++i) {
      const auto array = sim.run(all[p].devices[i / 2].fetch((*buffers)[i]));
      if (array) return "none";
      if (i == 0) words = array.error().to_string();
    }
    return words;
  }

  Simulation& sim;
  const int of_each;
  const devices::DeviceLimits limits;
  net::testing::MeshJob job;
  std::unique_ptr<Parallel> parallel = make_serial_parallel();
  std::vector<Process> all;

 private:
  void add(std::uint32_t p) {
    auto& in_job = job.add(job.options(p));
    EXPECT_TRUE(sim.run(job.start(in_job)).has_value());
    sim.on_finish("mesh", [mesh = in_job.mesh] { return mesh->close(); });
    Process process;
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t r = 0; r < job.size; ++r) ranks.push_back(r);
    process.links = std::make_unique<ProgramLinks>(in_job.mesh, in_job.mesh->epoch(), ranks);
    sim.on_finish("links", [links = process.links.get()] { return links->drained(); });
    devices::cpu::CpuClientOptions options;
    options.threads.assign(static_cast<std::size_t>(of_each),
                           {.executor = &sim.executor(), .parallel = parallel.get()});
    options.clock = sim.environment().clock;
    options.compile = &devices::cpu::compile;
    options.processes = [links = process.links.get()] { return links; };
    process.client = std::make_unique<devices::cpu::CpuClient>(std::move(options));
    sim.on_finish("client", [client = process.client.get()] { return client->close(); });
    devices::DeviceActorOptions actors;
    actors.environment = sim.environment();
    actors.limits = limits;
    process.devices = devices::make_devices(*process.client, actors);
    for (const Device& device : process.devices)
      sim.on_finish("device", [device] { return device.close(); });
    sim.on_finish("programs", [links = process.links.get()] {
      links->close(Error(ErrorCode::kUnavailable, "the test ends"));
      return make_ready();
    });
    all.push_back(std::move(process));
  }
};

TEST(SpanningPrograms, ProcessesRunOneProgramTogether) {
  for_each_seed(20, [](Simulation& sim) {
    Processes processes(sim, 2, 2);
    const Executable sums[] = {processes.compile(0, kSum), processes.compile(1, kSum)};
    EXPECT_EQ(sums[0].body()->devices_per_launch(), 2);
    for (const float base : {0.F, 10.F}) {
      const Future<Buffers> first = processes.launch(0, sums[0], base);
      const Future<Buffers> second = processes.launch(1, sums[1], base);
      EXPECT_EQ(processes.values(0, first), (std::vector<float>{6 + 4 * base, 6 + 4 * base}));
      EXPECT_EQ(processes.values(1, second), (std::vector<float>{6 + 4 * base, 6 + 4 * base}));
    }
    sim.finish();
  });
}

// CE-3, PL-2: whatever is launched first where, and however late inputs and messages come.
TEST(SpanningPrograms, LaunchesOfSeveralProgramsMayCrossInAnyOrder) {
  for_each_seed(500, [](Simulation& sim) {
    const int count = sim.chance(0.5) ? 2 : 4;
    Processes processes(sim, count, 4 / count, {.stalls = 0.05});
    constexpr int kLaunches = 4;
    std::vector<std::vector<Future<Buffers>>> sums, rings;
    for (std::size_t p = 0; p < processes.all.size(); ++p) {
      const Executable sum = processes.compile(p, kSum), ring = processes.compile(p, kRing);
      auto& here = sums.emplace_back();
      auto& round = rings.emplace_back();
      while (here.size() < kLaunches || round.size() < kLaunches) {
        const bool is_sum =
            round.size() == kLaunches || (here.size() < kLaunches && sim.chance(0.5));
        auto& list = is_sum ? here : round;
        list.push_back(
            processes.launch(p, is_sum ? sum : ring, 10 * static_cast<float>(list.size())));
        if (sim.chance(0.3)) sim.run_for(std::chrono::milliseconds(sim.below(20)));
      }
    }
    const auto of_each = static_cast<std::size_t>(processes.of_each);
    for (std::size_t p = 0; p < processes.all.size(); ++p) {
      for (std::size_t k = 0; k < kLaunches; ++k) {
        const float base = 10 * static_cast<float>(k);
        EXPECT_EQ(processes.values(p, sums[p][k]), std::vector<float>(of_each, 6 + 4 * base));
        std::vector<float> expected;
        for (std::size_t d = 0; d < of_each; ++d)
          expected.push_back(base + static_cast<float>((p * of_each + d + 1) % 4));
        EXPECT_EQ(processes.values(p, rings[p][k]), expected);
      }
    }
    sim.finish();
  });
}

// LO-1: whose arguments are late takes part in its own launch all the same.
TEST(SpanningPrograms, LaunchesMeetInTheOrderOfTheirCallsHoweverLateArgumentsAre) {
  for_each_seed(50, [](Simulation& sim) {
    const int of_each = sim.chance(0.5) ? 1 : 2;
    Processes processes(sim, 2, of_each);
    const Executable sums[] = {processes.compile(0, kSum), processes.compile(1, kSum)};
    Promise<void> late;
    const Future<Buffers> first = processes.launch(0, sums[0], 0, {}, late.future());
    const Future<Buffers> second = processes.launch(0, sums[0], 10);
    const Future<Buffers> far[] = {processes.launch(1, sums[1]), processes.launch(1, sums[1], 10)};
    sim.run_for(std::chrono::milliseconds(sim.below(20)));
    late.set_value();
    const float sum = of_each == 1 ? 1 : 6;
    const auto all = static_cast<std::size_t>(of_each);
    EXPECT_EQ(processes.values(0, first), std::vector<float>(all, sum));
    EXPECT_EQ(processes.values(1, far[0]), std::vector<float>(all, sum));
    const float next = sum + static_cast<float>(20 * of_each);
    EXPECT_EQ(processes.values(0, second), std::vector<float>(all, next));
    EXPECT_EQ(processes.values(1, far[1]), std::vector<float>(all, next));
    sim.finish();
  });
}

// LO-1, CE-2: an argument that fails, a deadline while it is late, a device that has failed before.
TEST(SpanningPrograms, ALaunchThatFailsBeforeItBeginsFailsInAllProcesses) {
  for_each_seed(60, [](Simulation& sim) {
    const int of_each = sim.chance(0.5) ? 1 : 2;
    Processes processes(sim, 2, of_each);
    const Executable sums[] = {processes.compile(0, kSum), processes.compile(1, kSum)};
    Promise<void> late;
    const Future<void> never = late.future();
    std::string words = "the loader has failed";
    Future<Buffers> first;
    const auto kind = sim.below(3);
    if (kind == 0) {
      first = processes.launch(0, sums[0], 0, {}, never);
      sim.run_for(std::chrono::milliseconds(sim.below(5)));
      late.set_error(Error(ErrorCode::kDataLoss, words));
    } else if (kind == 1) {
      words = "before its deadline";
      first = processes.launch(0, sums[0], 0,
                               {.deadline = sim.now() + std::chrono::milliseconds(5)}, never);
    } else {
      words = "it burns";
      ASSERT_TRUE(
          processes.all[0].client->kill(devices::DeviceId{0}, Error(ErrorCode::kInternal, words)));
      first = processes.launch(0, sums[0]);
    }
    EXPECT_THAT(processes.error_of(0, first), HasSubstr(words));
    const std::string seen = processes.error_of(1, processes.launch(1, sums[1]));
    EXPECT_THAT(seen, HasSubstr(words));
    EXPECT_THAT(seen, HasSubstr("process 0 (rank 0"));
    if (kind != 0) late.set_value();
    if (kind == 2) {
      ASSERT_TRUE(sim.run(processes.all[0].devices[0].restart()));
    }
    const Future<Buffers> next = processes.launch(0, sums[0], 10);
    const float sum = of_each == 1 ? 21 : 46;
    const auto all = static_cast<std::size_t>(of_each);
    EXPECT_EQ(processes.values(1, processes.launch(1, sums[1], 10)), std::vector<float>(all, sum));
    EXPECT_EQ(processes.values(0, next), std::vector<float>(all, sum));
    sim.finish();
  });
}

// DS-4: limits count no launch that waits for other processes.
TEST(SpanningPrograms, LimitsHoldUpNoLaunchThatAnotherProcessNeeds) {
  for_each_seed(50, [](Simulation& sim) {
    Processes processes(sim, 2, 2, {.stalls = 0}, {.launches = 1, .bytes = 1});
    const Executable sums[] = {processes.compile(0, kSum), processes.compile(1, kSum)};
    const Executable rings[] = {processes.compile(0, kRing), processes.compile(1, kRing)};
    std::vector<Future<Buffers>> first, second;
    for (int i = 0; i < 20; ++i) first.push_back(processes.launch(0, sums[0]));
    first.push_back(processes.launch(0, rings[0]));
    second.push_back(processes.launch(1, rings[1]));
    for (int i = 0; i < 20; ++i) second.push_back(processes.launch(1, sums[1]));
    EXPECT_EQ(processes.values(1, second[0]), (std::vector<float>{3, 0}));
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(processes.values(0, first[i]), (std::vector<float>{6, 6}));
      EXPECT_EQ(processes.values(1, second[i + 1]), (std::vector<float>{6, 6}));
    }
    EXPECT_EQ(processes.values(0, first[20]), (std::vector<float>{1, 2}));
    sim.finish();
  });
}

// CE-2, PL-3. The ring's second round needs what a process gives after its first: one that fails in
// between leaves the others without it.
TEST(SpanningPrograms, AKilledDeviceFailsTheLaunchInAllProcessesByItsName) {
  for_each_seed(50, [](Simulation& sim) {
    Processes processes(sim, 2, 2);
    const Executable rings[] = {processes.compile(0, kRing), processes.compile(1, kRing)};
    const Future<Buffers> first = processes.launch(0, rings[0]);
    sim.run_for(std::chrono::milliseconds(1 + sim.below(20)));  // it waits for process 1
    ASSERT_TRUE(processes.all[0].client->kill(devices::DeviceId{1},
                                              Error(ErrorCode::kInternal, "it burns")));
    EXPECT_THAT(processes.error_of(0, first), HasSubstr("it burns"));
    const std::string seen = processes.error_of(1, processes.launch(1, rings[1]));
    EXPECT_THAT(seen, HasSubstr("it burns"));
    EXPECT_THAT(seen, HasSubstr("process 0 (rank 0"));
    // The next one runs.
    ASSERT_TRUE(sim.run(processes.all[0].devices[1].restart()));
    const Future<Buffers> third = processes.launch(0, rings[0]);
    EXPECT_EQ(processes.values(1, processes.launch(1, rings[1])), (std::vector<float>{3, 0}));
    EXPECT_EQ(processes.values(0, third), (std::vector<float>{1, 2}));
    sim.finish();
  });
}

// CE-3
TEST(SpanningPrograms, ADeadlineNamesTheProcessThatDoesNotLaunch) {
  for_each_seed(50, [](Simulation& sim) {
    Processes processes(sim, 2, 2);
    const Executable rings[] = {processes.compile(0, kRing), processes.compile(1, kRing)};
    const Future<Buffers> first =
        processes.launch(0, rings[0], 0, {.deadline = sim.now() + std::chrono::milliseconds(100)});
    const std::string seen = processes.error_of(0, first);
    EXPECT_THAT(seen, HasSubstr("DEADLINE_EXCEEDED"));
    EXPECT_THAT(seen, HasSubstr("it waited for process 1 (rank 1"));
    EXPECT_THAT(processes.error_of(1, processes.launch(1, rings[1])),
                HasSubstr("process 0 (rank 0"));
    sim.finish();
  });
}

// CE-3
TEST(SpanningPrograms, OthersRunOnADeviceWhoseLaunchWaitsForAProcess) {
  for_each_seed(50, [](Simulation& sim) {
    Processes processes(sim, 2, 1);
    const Executable sums[] = {processes.compile(0, kSum), processes.compile(1, kSum)};
    const Future<Buffers> first = processes.launch(0, sums[0]);
    const auto alone = processes.all[0].client->compile(
        devices::Program::from_text("func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, "
                                    "tensor<4xf32>) {\n%y = stablehlo.negate %x : "
                                    "tensor<4xf32>\nreturn %y, %x : tensor<4xf32>, "
                                    "tensor<4xf32>\n}\n",
                                    "alone"),
        {});
    ASSERT_TRUE(alone) << alone.error().to_string();
    EXPECT_EQ(processes.values(0, processes.launch(0, *alone, 7)), (std::vector<float>{-7}));
    EXPECT_EQ(processes.values(1, processes.launch(1, sums[1])), (std::vector<float>{1}));
    EXPECT_EQ(processes.values(0, first), (std::vector<float>{1}));
    sim.finish();
  });
}

// PL-4
TEST(SpanningPrograms, ALostProcessIsNamed) {
  for_each_seed(50, [](Simulation& sim) {
    Processes processes(sim, 3, 1);
    std::vector<Executable> sums;
    for (std::size_t p = 0; p < 3; ++p) sums.push_back(processes.compile(p, kSum));
    const Future<Buffers> before[] = {processes.launch(0, sums[0]), processes.launch(1, sums[1]),
                                      processes.launch(2, sums[2])};
    EXPECT_EQ(processes.values(0, before[0]), (std::vector<float>{3}));
    const Future<Buffers> first = processes.launch(0, sums[0]),
                          second = processes.launch(1, sums[1]);
    sim.run_for(std::chrono::milliseconds(sim.below(5)));
    processes.job.network.kill(102);  // the third
    EXPECT_THAT(processes.error_of(0, first), HasSubstr("rank 2"));
    EXPECT_THAT(processes.error_of(1, second), HasSubstr("rank 2"));
    sim.finish();
  });
}

// PL-6
TEST(SpanningPrograms, CloseEndsWhatWaitsForOthers) {
  for_each_seed(50, [](Simulation& sim) {
    Processes processes(sim, 2, 2);
    const Executable rings[] = {processes.compile(0, kRing), processes.compile(1, kRing)};
    const Future<Buffers> first = processes.launch(0, rings[0]);
    sim.run_for(std::chrono::milliseconds(sim.below(5)));
    processes.all[0].links->close(Error(ErrorCode::kUnavailable, "the runtime was closed"));
    EXPECT_THAT(processes.error_of(0, first), HasSubstr("the runtime was closed"));
    EXPECT_THAT(processes.error_of(1, processes.launch(1, rings[1])),
                HasSubstr("process 0 (rank 0"));
    sim.finish();
  });
}

TEST(SpanningPrograms, MoreProcessesOrDevicesThanThereAreAreRefusedWithBothNumbers) {
  for_each_seed(1, [](Simulation& sim) {
    Processes processes(sim, 2, 1);
    const devices::CompileOptions options{.replicas = 4, .processes = 2};
    const auto more =
        processes.all[0].client->compile(devices::Program::from_text(kSum, "sum"), options);
    ASSERT_FALSE(more);
    EXPECT_THAT(more.error().message(),
                HasSubstr("which takes 2 devices of each; the CPU client has 1"));
    const auto compiled = processes.try_compile(0, kSum, 3);
    ASSERT_FALSE(compiled);
    EXPECT_EQ(compiled.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(compiled.error().message(), HasSubstr("spans 3 processes; the job has 2"));
    sim.finish();
  });
}

}  // namespace
}  // namespace millrace::collectives
