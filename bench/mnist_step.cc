// Milliseconds of one training step of the demo's network (grad on 128 rows, then update) on the
// CPU device's compiled programs, without the runtime around them: mnist_step [--threads N]
// [--steps N] [--ops] [--plain-threads] [folder]. Prints one JSON line; --ops adds the time of each
// step of the grad program.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/compile/run_context.h"
#include "millrace/devices/stablehlo/text/read_text.h"

namespace {

using namespace millrace;  // NOLINT(google-build-using-namespace): a program, not a library
using namespace millrace::devices;  // NOLINT(google-build-using-namespace)

struct Memory {
  explicit Memory(std::size_t bytes)
      : data(std::aligned_alloc(64, (std::max<std::size_t>(bytes, 1) + 63) & ~std::size_t{63}),
             &std::free) {
    std::memset(data.get(), 0, bytes);
  }
  std::unique_ptr<void, decltype(&std::free)> data;
};

struct Loaded {
  std::unique_ptr<cpu::Plan> plan;
  std::unique_ptr<cpu::RunContext> context;
  std::vector<Memory> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  double compile_ms = 0;

  explicit Loaded(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const auto begin = std::chrono::steady_clock::now();
    auto module = stablehlo::text::read_text(text.str());
    if (!module) die(path, module.error());
    auto made = cpu::Plan::create(*module, {});
    if (!made) die(path, made.error());
    plan = std::move(*made);
    auto c = cpu::RunContext::create(*plan);
    if (!c) die(path, c.error());
    context = std::move(*c);
    compile_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    for (const Shape& s : plan->inputs())
      in.push_back(inputs.emplace_back(s.size_bytes()).data.get());
    for (const Shape& s : plan->outputs())
      out.push_back(outputs.emplace_back(s.size_bytes()).data.get());
  }
  [[noreturn]] static void die(const std::string& path, const Error& e) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), e.to_string().c_str());
    std::exit(1);
  }
  void run(Parallel& parallel) {
    const Status s = context->run(in, out, parallel);
    if (!s) die("run", s.error());
  }
};

}  // namespace

int main(int argc, char** argv) {
  int threads = 1, steps = 50;
  bool ops = false;
  ExecutorBackend backend = ExecutorBackend::kTbb;
  std::string folder = "tools/models/mnist";
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--threads" && i + 1 < argc)
      threads = std::atoi(argv[++i]);
    else if (a == "--steps" && i + 1 < argc)
      steps = std::atoi(argv[++i]);
    else if (a == "--ops")
      ops = true;
    else if (a == "--plain-threads")
      backend = ExecutorBackend::kThreads;
    else
      folder = a;
  }
  // The caller is one of the threads.
  const auto executor = threads > 1 ? make_executor(backend, threads - 1, "bench") : nullptr;
  const auto shared =
      executor != nullptr ? make_parallel_on(*executor, threads) : make_serial_parallel();
  Parallel& parallel = *shared;
  Loaded init(folder + "/init.mlir"), grad(folder + "/grad_128.mlir"),
      update(folder + "/update.mlir");
  init.run(parallel);
  // init gives parameters, momentum, state; grad takes parameters, state, images, labels.
  constexpr std::size_t kParams = 12, kState = 4;
  for (std::size_t i = 0; i < kParams; ++i) {
    std::memcpy(grad.inputs[i].data.get(), init.out[i], grad.plan->inputs()[i].size_bytes());
    std::memcpy(update.inputs[i].data.get(), init.out[i], grad.plan->inputs()[i].size_bytes());
  }
  for (std::size_t i = 0; i < kState; ++i) {
    std::memcpy(grad.inputs[kParams + i].data.get(), init.out[2 * kParams + i],
                grad.plan->inputs()[kParams + i].size_bytes());
  }
  auto* images = static_cast<unsigned char*>(grad.inputs[kParams + kState].data.get());
  auto* labels = static_cast<unsigned char*>(grad.inputs[kParams + kState + 1].data.get());
  unsigned random = 1;
  for (int i = 0; i < 128 * 784; ++i)
    images[i] = static_cast<unsigned char>((random = random * 1664525u + 1013904223u) >> 24);
  for (int i = 0; i < 128; ++i) labels[i] = static_cast<unsigned char>(i % 10);
  // Parameters and momentum are updated in place where the plan says so; the gradients pass by
  // address.
  for (const cpu::OutputAlias& a : update.plan->aliases())
    update.out[static_cast<std::size_t>(a.output)] =
        update.inputs[static_cast<std::size_t>(a.input)].data.get();
  for (std::size_t i = 0; i < kParams; ++i) {
    grad.in[i] = update.out[i];
    update.in[2 * kParams + i] = grad.out[1 + i];
  }
  for (std::size_t i = 0; i < kParams; ++i) {
    if (update.out[i] != update.in[i])
      std::fprintf(stderr, "parameter %zu is not updated in place\n", i);
  }
  std::vector<double> times;
  float first = 0, last = 0;
  for (int i = 0; i < steps + 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    grad.run(parallel);
    update.run(parallel);
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    if (i >= 3) times.push_back(ms);
    last = *static_cast<float*>(grad.out[0]);
    if (i == 0) first = last;
  }
  std::sort(times.begin(), times.end());
  std::printf(
      "{\"bench\":\"mnist_step\",\"threads\":%d,\"step_ms_min\":%.3f,\"step_ms_median\":%.3f,"
      "\"compile_ms\":%.1f,"
      "\"arena_bytes\":%zu,\"first_loss\":%.5f,\"last_loss\":%.5f}\n",
      threads, times.front(), times[times.size() / 2], grad.compile_ms,
      grad.plan->temporary_bytes(), first, last);
  if (ops) {
    const std::vector<cpu::Step>& steps = grad.plan->steps();  // none has others inside
    std::vector<double> best(steps.size(), 1e9);
    const auto note = [&](const cpu::Step& step, double ms) {
      double& least = best[static_cast<std::size_t>(&step - steps.data())];
      least = std::min(least, ms);
    };
    const cpu::RunContext::Timed timed = note;
    for (int i = 0; i < 20; ++i)
      (void)grad.context->run(grad.in, grad.out, parallel, [](int) {}, {}, &timed);
    double total = 0;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const auto& step = steps[k];
      std::printf("%8.3f ms  line %3u  %s", best[k], step.info.line, step.info.name.c_str());
      for (int o : step.outputs_written) std::printf(" -> output %d", o);
      std::printf("\n");
      total += best[k];
    }
    std::printf("%8.3f ms in all\n", total);
  }
}
