// Milliseconds of one training step of the demo's network (grad on 128 rows, then update) on the
// CPU device's compiled programs, without the runtime around them: mnist_step [--threads N]
// [--steps N] [--ops] [folder]. Prints one JSON line; --ops adds the time of each step of the grad
// program.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "millrace/devices/cpu/read/read_text.h"
#include "millrace/devices/cpu/run/run.h"

namespace {

using namespace millrace;  // NOLINT(google-build-using-namespace): a program, not a library
using namespace millrace::devices;  // NOLINT(google-build-using-namespace)

// Threads that spin for a while and then sleep; the caller takes part.
class ThreadParallel final : public Parallel {
 public:
  explicit ThreadParallel(int width) : width_(width) {
    for (int i = 1; i < width; ++i)
      threads_.emplace_back([this](std::stop_token stop) { work(stop); });
  }
  ~ThreadParallel() override {
    for (auto& t : threads_) t.request_stop();
    generation_.fetch_add(1);
    generation_.notify_all();
  }
  int width() const override { return width_; }
  void run(int parts, FunctionRef<void(int)> body) override {
    if (width_ == 1 || parts == 1) {
      for (int i = 0; i < parts; ++i) body(i);
      return;
    }
    body_ = &body;
    parts_ = parts;
    next_ = 0;
    done_ = 0;
    generation_.fetch_add(1);
    generation_.notify_all();
    take();
    while (done_.load() != parts) {
    }
    // No thread may still look at body_ when this returns.
    while (busy_.load() != 0) {
    }
  }

 private:
  void take() {
    for (int i = next_.fetch_add(1); i < parts_; i = next_.fetch_add(1)) {
      (*body_)(i);
      done_.fetch_add(1);
    }
  }
  void work(const std::stop_token& stop) {
    unsigned seen = 0;
    while (!stop.stop_requested()) {
      for (int spin = 0; spin < 20000 && generation_.load() == seen; ++spin) __builtin_ia32_pause();
      generation_.wait(seen);
      seen = generation_.load();
      busy_.fetch_add(1);
      if (done_.load() != parts_) take();
      busy_.fetch_sub(1);
    }
  }

  int width_;
  FunctionRef<void(int)>* body_ = nullptr;
  std::atomic<int> parts_{0}, next_{1 << 30}, done_{0}, busy_{0};
  std::atomic<unsigned> generation_{0};
  std::vector<std::jthread> threads_;
};

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
    auto module = cpu::read::read_text(text.str());
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
    const Status s = cpu::run(*plan, *context, in, out, parallel, [](int) {}, {});
    if (!s) die("run", s.error());
  }
};

}  // namespace

int main(int argc, char** argv) {
  int threads = 1, steps = 50;
  bool ops = false;
  std::string folder = "tools/models/mnist";
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--threads" && i + 1 < argc)
      threads = std::atoi(argv[++i]);
    else if (a == "--steps" && i + 1 < argc)
      steps = std::atoi(argv[++i]);
    else if (a == "--ops")
      ops = true;
    else
      folder = a;
  }
  ThreadParallel parallel(threads);
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
  for (const cpu::PlanAlias& a : update.plan->aliases())
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
      threads, times.front(), times[times.size() / 2], grad.compile_ms, grad.plan->arena_bytes(),
      first, last);
  if (ops) {
    std::vector<double> one(grad.plan->steps().steps.size()), best(one.size(), 1e9);
    for (int i = 0; i < 20; ++i) {
      (void)cpu::run_timed(*grad.plan, *grad.context, grad.in, grad.out, parallel, one);
      for (std::size_t k = 0; k < one.size(); ++k) best[k] = std::min(best[k], one[k]);
    }
    double total = 0;
    for (std::size_t k = 0; k < one.size(); ++k) {
      const auto& step = grad.plan->steps().steps[k];
      std::printf("%8.3f ms  line %3u  %s", best[k], step.info.line, step.info.name.c_str());
      for (int o : step.outputs_written) std::printf(" -> output %d", o);
      std::printf("\n");
      total += best[k];
    }
    std::printf("%8.3f ms in all\n", total);
  }
}
