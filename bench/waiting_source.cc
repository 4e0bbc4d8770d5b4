#include "bench/waiting_source.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bench/child.h"
#include "bench/figure.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/tools/train/recovery.h"
#include "millrace/transfer/fake_source.h"

namespace millrace::bench {
namespace {

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

}  // namespace

Runtime make_training_runtime(int threads, const std::string& plugin) {
  RuntimeOptions options;
  options.devices = 1;
  if (!plugin.empty()) {
    auto entry = devices::pjrt::parse_plugin(plugin);
    if (!entry) give_up("a runtime for training", entry.error().to_string());
    options.devices = std::nullopt;
    options.device = entry->name;
    options.plugins.push_back(*std::move(entry));
  }
  options.threads = threads;
  auto runtime = Runtime::create(options);
  if (!runtime) give_up("a runtime for training", runtime.error().to_string());
  return std::move(*runtime);
}

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
  options.model = source_folder() + "/tools/models/mnist";
  options.train_data = std::make_shared<WaitingSource>(*parts.environment.timers, read);
  options.epochs = 1000;
  options.max_steps = steps;
  options.reads_in_flight = 1;
  const auto report =
      wait_blocking(spawn(*runtime.environment().compute, train::train(parts, options, nullptr)));
  if (!report) give_up("a training", report.error().to_string());
  return report->step_ms_median;
}

}  // namespace millrace::bench
