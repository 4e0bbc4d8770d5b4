// Launches that span CPU devices, submitted in crossed orders, with inputs that come in any order
// and with faults: every call ends. In simulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "millrace/devices/cpu/client.h"
#include "millrace/devices/device_actor.h"
#include "tests/support/simulation.h"
#include "tests/support/sum_program.h"

namespace millrace::devices::cpu {
namespace {

using testing::for_each_seed;
using testing::ScriptedProgram;
using testing::Simulation;

constexpr std::size_t kDevices = 4;
constexpr std::size_t kElements = 2;
const Shape kVector(DType::kF32, {kElements});

// Four devices with their actors; closed when it goes.
class Devices {
 public:
  explicit Devices(Simulation& sim) : sim_(sim) {
    CpuClientOptions options;
    options.threads.assign(kDevices, {.executor = &sim.executor(), .parallel = parallel_.get()});
    options.clock = sim.environment().clock;
    options.inline_time = sim.chance(0.3) ? std::chrono::milliseconds(1) : Duration(0);
    options.compile = [this](const Program& program, const CompileOptions& how,
                             const CompileContext& context) {
      ScriptedProgram sum =
          testing::sum_over_devices(static_cast<std::size_t>(how.replicas), kElements);
      sum.body = [this, add = sum.body](const RunCall& call) -> Status {
        if (in_the_middle) std::exchange(in_the_middle, nullptr)();
        return add(call);
      };
      return testing::scripted(std::move(sum))(program, how, context);
    };
    client_.emplace(std::move(options));
    all_ = make_devices(*client_,
                        {.environment = sim.environment(),
                         .limits = {.launches = 1 + static_cast<int>(sim.below(3)), .bytes = 64}});
  }
  ~Devices() {
    for (const Device& device : all_) EXPECT_TRUE(sim_.run(device.close()).has_value());
    EXPECT_TRUE(sim_.run(client_->close()).has_value());
    programs_.clear();
    all_.clear();
    sim_.run_until_idle();
  }

  const Device& operator[](std::size_t d) const { return all_[d]; }
  // The program for these devices, in this order.
  const Executable& program(const std::vector<std::size_t>& on) {
    Executable& program = programs_[on];
    if (program) return program;
    CompileOptions options{.replicas = static_cast<int>(on.size())};
    std::vector<DeviceId> ids;
    for (const std::size_t d : on) ids.push_back(all_[d].id());
    options.devices = ListOf<DeviceId>(ids);
    options.portable = false;
    program = client_->compile(Program::from_text("sum"), options).value();
    return program;
  }
  Buffer put(std::size_t d) {
    const std::vector<float> values(kElements, value(d));
    return sim_.run(all_[d].put({.data = values.data(), .shape = kVector})).value();
  }
  static float value(std::size_t d) { return static_cast<float>(1 << d); }

  std::function<void()> in_the_middle;  // of the next program, once

 private:
  Simulation& sim_;
  std::unique_ptr<Parallel> parallel_ = make_serial_parallel();
  std::optional<CpuClient> client_;
  std::vector<Device> all_;
  std::map<std::vector<std::size_t>, Executable> programs_;
};

// One launch and what should come of it.
struct Crossed {
  std::vector<std::size_t> on;
  float sum = 0;
  Future<Buffers> outputs;
};

void check(Simulation& sim, Devices& devices, const Crossed& launch, bool faulty) {
  const Result<Buffers> outputs = sim.run(launch.outputs);
  ASSERT_TRUE(outputs || faulty) << outputs.error().to_string();
  if (!outputs) return;
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    const std::size_t d = launch.on[i / 2];
    const Result<HostArray> array = sim.run(devices[d].fetch((*outputs)[i]));
    ASSERT_TRUE(array || faulty) << array.error().to_string();
    if (!array) continue;
    EXPECT_EQ(array->as<float>()[1], i % 2 == 0 ? launch.sum : Devices::value(d) + 1);
  }
}

// CE-1
TEST(CrossedLaunchesTest, AllOfThemEndInWhateverOrderTheyAndTheirInputsCome) {
  for_each_seed(500, [](Simulation& sim) {
    Devices devices(sim);
    const bool faulty = sim.chance(0.6);
    std::vector<Buffer> values;
    for (std::size_t d = 0; d < kDevices; ++d) values.push_back(devices.put(d));
    std::vector<std::pair<Promise<Buffer>, std::size_t>> later;
    std::vector<Crossed> launches;
    std::stop_source stop;
    for (int i = 0; i < 16; ++i) {
      Crossed launch{.on = std::vector<std::size_t>(kDevices)};
      std::iota(launch.on.begin(), launch.on.end(), 0U);
      std::ranges::shuffle(launch.on, sim.random());
      launch.on.resize(2 + sim.below(kDevices - 1));
      std::vector<Device> on;
      std::vector<Argument> arguments;
      for (const std::size_t d : launch.on) {
        launch.sum += Devices::value(d);
        on.push_back(devices[d]);
        if (sim.chance(0.4)) {
          arguments.emplace_back(later.emplace_back(Promise<Buffer>(), d).first.future());
        } else {
          arguments.emplace_back(values[d]);
        }
      }
      std::vector<std::span<const Argument>> lists;
      for (const Argument& argument : arguments) lists.emplace_back(&argument, 1);
      ExecuteOptions options;
      if (faulty && sim.chance(0.1)) options.call.stop = stop.get_token();
      launch.outputs = launch_spanning(on, devices.program(launch.on), lists, {}, options);
      launches.push_back(std::move(launch));
      if (sim.chance(0.3)) sim.run_until_idle();
      if (!faulty || !sim.chance(0.15)) continue;
      const std::size_t victim = sim.below(kDevices);
      const auto kill = [&devices, victim] {
        static_cast<void>(devices[victim].kill(Error(ErrorCode::kInternal, "scripted")));
      };
      if (sim.chance(0.5)) devices.in_the_middle = kill;
      if (sim.chance(0.5)) kill();
    }
    if (faulty) stop.request_stop();
    std::ranges::shuffle(later, sim.random());
    for (auto& [promise, device] : later) {
      if (faulty && sim.chance(0.1)) {
        promise.set_error(Error(ErrorCode::kDataLoss, "scripted"));
      } else {
        promise.set(values[device]);
      }
      if (sim.chance(0.3)) sim.run_until_idle();
    }
    for (const Crossed& launch : launches) check(sim, devices, launch, faulty);
    launches.clear();
    devices.in_the_middle = nullptr;
  });
}

}  // namespace
}  // namespace millrace::devices::cpu
