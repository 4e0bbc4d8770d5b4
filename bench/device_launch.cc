// What a launch costs when the program does nothing: microseconds from execute() to the output's
// ready(), and per launch of a chain that nobody waits for, on the simulated and the CPU device:
// device_launch [--inputs N]. Prints one JSON line per case, with the median of rounds and the
// quartiles.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/blocking.h"
#include "millrace/core/make_executor.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/sim/sim_client.h"

namespace {

using namespace millrace;  // NOLINT(google-build-using-namespace): a program, not a library
using namespace millrace::devices;  // NOLINT(google-build-using-namespace)

constexpr int kRounds = 21;
constexpr int kLaunches = 2000;
const Shape kScalar(DType::kF32, {});

// A program of N scalars in and out that writes nothing but the news that it has.
class EmptyProgram final : public cpu::Compiled {
 public:
  explicit EmptyProgram(std::size_t arrays) : shapes_(arrays, kScalar) {}
  std::span<const Shape> inputs() const override { return shapes_; }
  std::span<const Shape> outputs() const override { return shapes_; }
  std::span<const int> donated() const override { return {}; }
  std::span<const cpu::OutputAlias> aliases() const override { return {}; }
  std::size_t temporary_bytes() const override { return 0; }
  Result<std::unique_ptr<cpu::CompiledRun>> make_run() const override {
    struct Run final : cpu::CompiledRun {
      Status run(const cpu::RunCall& call) override {
        for (std::size_t o = 0; o < call.outputs.size(); ++o)
          call.output_written(static_cast<int>(o));
        return {};
      }
    };
    return std::make_unique<Run>();
  }

 private:
  const std::vector<Shape> shapes_;
};

double microseconds_since(std::chrono::steady_clock::time_point begin, int launches) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
             .count() /
         launches;
}

template <class F>
void report(const char* name, std::size_t arrays, F&& round) {
  std::vector<double> times;
  round();
  for (int i = 0; i < kRounds; ++i) times.push_back(round());
  std::ranges::sort(times);
  std::printf("{\"case\":\"%s\",\"arrays\":%zu,\"us_median\":%.2f,\"us_quartiles\":[%.2f,%.2f]}\n",
              name, arrays, times[kRounds / 2], times[kRounds / 4], times[kRounds * 3 / 4]);
}

Buffer put_scalar(const Device& device) {
  const float one = 1;
  return wait_blocking(device.put({.data = &one, .shape = kScalar},
                                  {.semantics = HostBufferSemantics::kImmutableOnlyDuringCall}))
      .value();
}

void bench_device(const std::string& name, const Device& device, const Executable& program) {
  const std::vector<Buffer> inputs(program.input_shapes().size(), put_scalar(device));
  const std::span<const Buffer> arguments(inputs);
  report((name + " one at a time").c_str(), inputs.size(), [&] {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) {
      const Buffers out = wait_blocking(device.execute(program, arguments)).value();
      static_cast<void>(wait_blocking(out[0].ready()));
    }
    return microseconds_since(begin, kLaunches);
  });
  report((name + " chain").c_str(), inputs.size(), [&] {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Buffer> x = inputs;
    for (int i = 0; i < kLaunches; ++i) {
      const Buffers out =
          wait_blocking(device.execute(program, std::span<const Buffer>(x))).value();
      x.assign(out.begin(), out.end());
    }
    static_cast<void>(wait_blocking(x[0].ready()));
    return microseconds_since(begin, kLaunches);
  });
}

void run(std::size_t arrays, bool inline_when_idle) {
  const std::string suffix = inline_when_idle ? ", inline" : "";
  const auto actors = make_executor(ExecutorBackend::kTbb, 1, "actors");
  const auto threads = make_executor(ExecutorBackend::kTbb, 1, "device");
  TimerQueue timers(steady_clock());
  const DeviceActorOptions options{.environment = {.clock = &steady_clock(),
                                                   .timers = &timers,
                                                   .compute = actors.get(),
                                                   .blocking = actors.get()},
                                   .inline_when_idle = inline_when_idle};
  {
    sim::SimClient client({.timers = &timers, .keep_bytes = false, .record_events = false});
    client.add_program({.name = "empty",
                        .inputs = std::vector(arrays, kScalar),
                        .outputs = std::vector(arrays, kScalar)});
    {
      const std::vector<Device> devices = make_devices(client, options);
      bench_device("sim" + suffix, devices[0], client.load("sim:empty").value());
      static_cast<void>(wait_blocking(devices[0].close()));
    }
    static_cast<void>(wait_blocking(client.close()));
  }
  auto program = std::make_shared<const EmptyProgram>(arrays);
  cpu::CpuClient client({.threads = {{.executor = threads.get(), .parallel = &threads->parallel()}},
                         .inline_time = std::chrono::microseconds(inline_when_idle ? 20 : 0),
                         .compile = [&](const Program&, const CompileOptions&)
                             -> Result<std::shared_ptr<const cpu::Compiled>> { return program; }});
  {
    const std::vector<Device> devices = make_devices(client, options);
    const Executable executable = client.compile(Program::from_text("empty"), {}).value();
    bench_device("cpu" + suffix, devices[0], executable);
    static_cast<void>(wait_blocking(devices[0].close()));
  }
  static_cast<void>(wait_blocking(client.close()));
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t arrays = 1;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--inputs") == 0)
      arrays = static_cast<std::size_t>(std::atoi(argv[i + 1]));
  }
  run(arrays, false);
  run(arrays, true);
  return 0;
}
