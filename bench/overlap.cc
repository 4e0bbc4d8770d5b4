// bench_overlap [STEPS]: does the step take the slower of loading and execution, or their sum? The
// real training step of the demo's network on the CPU device, fed by a source whose reads wait on
// the clock and use no CPU. The peers are the machine's own limits in the same run: execution
// alone, and loading alone. Prints a table and one JSON line per figure.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/blocking.h"
#include "millrace/core/coroutine.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/train/training.h"
#include "millrace/transfer/fake_source.h"

namespace millrace {
namespace {

// A FakeSource whose images lie in memory, and whose reads take a time of their own.
class WaitingSource final : public transfer::ItemSource {
 public:
  WaitingSource(TimerQueue& timers, Duration read)
      : timers_(timers), read_(read), images_(transfer::FakeSourceOptions{}) {
    pixels_.resize(kItems * 28 * 28);
    for (std::uint64_t i = 0; i < kItems; ++i) {
      images_.generate(i, std::as_writable_bytes(std::span(pixels_)).subspan(i * 28 * 28, 28 * 28));
    }
  }
  std::uint64_t items() const override { return kItems; }
  std::span<const transfer::Field> fields() const override { return images_.fields(); }
  Future<void> read(const Ref<transfer::SourceBatch>& batch, std::stop_token stop) override {
    for (std::size_t row = 0; row < batch->items.size(); ++row) {
      const std::uint64_t item = batch->items[row];
      std::copy_n(reinterpret_cast<const std::byte*>(pixels_.data()) + item * 28 * 28, 28 * 28,
                  batch->fields[0].begin() + static_cast<std::ptrdiff_t>(row * 28 * 28));
      batch->fields[1][row] = std::byte{images_.label(item)};
    }
    return read_ == Duration()
               ? make_ready()
               : sleep_until(timers_.clock().now() + read_, timers_, std::move(stop));
  }

 private:
  static constexpr std::uint64_t kItems = 8192;
  TimerQueue& timers_;
  const Duration read_;
  transfer::FakeSource images_;
  std::vector<unsigned char> pixels_;
};

double median_step_ms(const Runtime& runtime, Duration read, std::uint64_t steps) {
  train::TrainingParts parts;
  parts.environment = runtime.environment();
  parts.system = &runtime.actors();
  parts.devices = {runtime.device(0)};
  parts.compile = [&runtime](devices::Program program, const devices::CompileOptions& options) {
    return runtime.compile(std::move(program), options);
  };
  parts.trace = runtime.trace();
  train::TrainingOptions options;
  options.model = "tools/models/mnist";
  options.train_data = std::make_shared<WaitingSource>(*parts.environment.timers, read);
  options.epochs = 1000;
  options.max_steps = steps;
  options.reads_in_flight = 1;  // so that loading has the rate of one read
  const auto report =
      wait_blocking(spawn(*runtime.environment().compute, train::train(parts, options, nullptr)));
  if (!report) {
    std::fprintf(stderr, "bench_overlap: %s\n", report.error().to_string().c_str());
    std::exit(1);
  }
  return report->step_ms_median;
}

int main_program(std::uint64_t steps) {
  RuntimeOptions options;
  options.devices = 1;
  options.threads = 1;
  auto runtime = Runtime::create(options);
  if (!runtime) {
    std::fprintf(stderr, "bench_overlap: %s\n", runtime.error().to_string().c_str());
    return 1;
  }
  std::printf("%10s %10s %10s %10s %10s\n", "read ms", "execute ms", "step ms", "/ slower",
              "sum ms");
  bool all_met = true;
  for (const double share : {0.5, 0.9, 1.5, 2.5}) {
    // Execution alone is measured beside each case: the machine may be busier a minute later.
    const double execute = median_step_ms(*runtime, Duration(), steps);
    const auto read = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double, std::milli>(share * execute));
    const double read_ms = share * execute;
    const double step = median_step_ms(*runtime, read, steps);
    const double slower = std::max(read_ms, execute);
    all_met = all_met && step <= 1.05 * slower;
    std::printf("%10.2f %10.2f %10.2f %10.3f %10.2f\n", read_ms, execute, step, step / slower,
                read_ms + execute);
    std::printf(
        "{\"figure\":\"overlap.%.1f\",\"unit\":\"ms\",\"ours\":%.3f,\"peer\":\"slower of loading "
        "and execution\","
        "\"peer_value\":%.3f,\"ratio\":%.3f,\"goal\":1.05,\"met\":%s}\n",
        share, step, slower, step / slower, step <= 1.05 * slower ? "true" : "false");
  }
  return all_met ? 0 : 1;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  const auto steps = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 150;
  return millrace::main_program(std::max<std::uint64_t>(steps, 20));
}
