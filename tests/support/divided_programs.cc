#include "tests/support/divided_programs.h"

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/collective_backend.h"
#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/memory_pool.h"

namespace millrace::testing {
namespace {

namespace cpu = devices::cpu;
namespace spread = devices::stablehlo::spread;
using cpu::testing::Array;

// What processes have given each other, and who has not taken it: by edge, giver and taker.
struct Gifts {
  std::map<std::vector<int>, std::deque<std::vector<std::byte>>> kept;
  std::size_t most = 0;   // that waited on one edge
  std::size_t moves = 0;  // of all
};

class LocalLaunch final : public devices::ProcessLaunch {
 public:
  LocalLaunch(Gifts& gifts, int process) : gifts_(gifts), process_(process) {}
  Result<bool> begin() override { return true; }
  Status give(int edge, int to, std::span<const std::byte> bytes) override {
    auto& line = gifts_.kept[{edge, process_, to}];
    line.emplace_back(bytes.begin(), bytes.end());
    gifts_.most = std::max(gifts_.most, line.size());
    ++gifts_.moves;
    return {};
  }
  Result<bool> take(int edge, int from, std::span<std::byte> bytes) override {
    auto& line = gifts_.kept[{edge, from, process_}];
    if (line.empty()) return false;
    if (line.front().size() != bytes.size()) {
      return fail(ErrorCode::kInternal, "edge " + std::to_string(edge) + " has " +
                                            std::to_string(line.front().size()) + " bytes, not " +
                                            std::to_string(bytes.size()));
    }
    std::ranges::copy(line.front(), bytes.begin());
    line.pop_front();
    ++gifts_.moves;
    return true;
  }
  void await(std::function<void()> /*wake*/) override {}
  void interrupt() override {}
  std::string waits_for() const override { return {}; }
  void end(const Status& /*status*/) override {}

 private:
  Gifts& gifts_;
  const int process_;
};

struct Process {
  spread::Spread part = {};
  std::unique_ptr<cpu::Plan> plan = {};
  std::unique_ptr<cpu::CompiledRun> run = {};
  std::unique_ptr<LocalLaunch> launch = {};
  std::vector<Array> arguments = {};
  std::vector<const void*> inputs = {};
  std::vector<devices::SystemMemory> memory = {};
  std::vector<void*> outputs = {};
  bool begun = false, done = false;
};

}  // namespace

Result<ArraysOfDevices> run_divided(const spread::Spread& whole,
                                    const spread::ProcessCounts& counts,
                                    const ArraysOfDevices& inputs, std::uint64_t seed) {
  Gifts gifts;
  const auto parallel = make_serial_parallel();
  std::vector<Process> processes(static_cast<std::size_t>(counts.processes));
  for (int p = 0; p < counts.processes; ++p) {
    Process& process = processes[static_cast<std::size_t>(p)];
    MILLRACE_TRY(process.part, spread::divide(whole, counts, p));
    MILLRACE_TRY(process.plan,
                 cpu::make_plan(process.part.module, {.deterministic = true, .is_divided = true}));
    MILLRACE_TRY(process.run, process.plan->make_run());
    process.launch = std::make_unique<LocalLaunch>(gifts, p);
    for (const auto& part : process.part.inputs) {
      process.arguments.push_back(inputs[static_cast<std::size_t>(p * counts.devices + part.device)]
                                        [static_cast<std::size_t>(part.argument)]);
    }
    // Where the plan wants them; a run may write over what it is given.
    for (const Array& array : process.arguments) {
      MILLRACE_TRY(devices::SystemMemory block,
                   devices::allocate_memory(array.bytes.size(), "an argument"));
      std::ranges::copy(array.bytes, block.get());
      process.inputs.push_back(process.memory.emplace_back(std::move(block)).get());
    }
    for (const devices::Shape& shape : process.plan->outputs()) {
      MILLRACE_TRY(devices::SystemMemory block,
                   devices::allocate_memory(shape.size_bytes(), "a result"));
      process.outputs.push_back(process.memory.emplace_back(std::move(block)).get());
    }
  }
  // What is donated is written over.
  for (Process& process : processes) {
    for (const auto& [output, input] : process.plan->aliases()) {
      process.outputs[static_cast<std::size_t>(output)] =
          const_cast<void*>(process.inputs[static_cast<std::size_t>(input)]);
    }
  }
  std::mt19937_64 random(seed);
  std::size_t left = processes.size();
  // True: it took or gave something, or is done.
  const auto turn = [&](Process& process) -> Result<bool> {
    const std::size_t before = gifts.moves;
    const auto ignore = [](int) {};
    const cpu::RunCall call{.inputs = process.inputs,
                            .outputs = process.outputs,
                            .parallel = *parallel,
                            .output_written = ignore,
                            .stop = {},
                            .launch = process.launch.get()};
    MILLRACE_TRY(const cpu::RunState state,
                 process.begun ? process.run->resume(call) : process.run->run(call));
    process.done = state == cpu::RunState::kDone;
    if (process.done) --left;
    return process.done || !std::exchange(process.begun, true) || gifts.moves != before;
  };
  for (int idle = 0; left > 0 && idle < 1000;) {
    Process& process = processes[random() % processes.size()];
    if (process.done) continue;
    MILLRACE_TRY(bool moved, turn(process));
    idle = moved ? 0 : idle + 1;
  }
  if (left > 0)
    return fail(ErrorCode::kInternal, std::to_string(left) + " processes wait for ever");
  for (const auto& [key, line] : gifts.kept) {
    if (line.empty()) continue;
    return fail(ErrorCode::kInternal, "edge " + std::to_string(key[0]) + " was given by " +
                                          std::to_string(key[1]) + " and not taken by " +
                                          std::to_string(key[2]));
  }
  // DV-2
  if (gifts.most > 2) {
    return fail(ErrorCode::kInternal,
                std::to_string(gifts.most) + " arrays of one edge waited to be taken");
  }
  ArraysOfDevices outputs;
  for (const Process& process : processes) {
    for (const auto& device : process.part.outputs) {
      auto& arrays = outputs.emplace_back();
      for (const int r : device) {
        const auto k = static_cast<std::size_t>(r);
        const devices::Shape& shape = process.plan->outputs()[k];
        const auto* from = static_cast<const std::byte*>(process.outputs[k]);
        arrays.push_back({shape, {from, from + shape.size_bytes()}});
      }
    }
  }
  return outputs;
}

}  // namespace millrace::testing
