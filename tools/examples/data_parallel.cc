// Training on four devices: each computes the gradient of its rows, all get the mean of the
// gradients, and take the same step. Prints what was learnt: y = 2 x + 1.
#include <cstdio>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/millrace.h"

using namespace millrace;
using collectives::ProcessGroup;
using collectives::ReduceOp;

// The gradient of the squared error of x w - y; a row of x is (x, 1).
constexpr const char* kGradient = R"(
func.func @main(%w: tensor<2xf32>, %x: tensor<8x2xf32>, %y: tensor<8xf32>) -> tensor<2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8xf32>
  %1 = stablehlo.subtract %0, %y : tensor<8xf32>
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [0] x [0]
      : (tensor<8xf32>, tensor<8x2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
)";
constexpr const char* kStep = R"(
func.func @main(%w: tensor<2xf32>, %gradient: tensor<2xf32>) -> tensor<2xf32> {
  %rate = stablehlo.constant dense<0.05> : tensor<2xf32>
  %0 = stablehlo.multiply %rate, %gradient : tensor<2xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
)";

Task<HostArray> train(const Runtime& runtime, ProcessGroup rank) {
  Device device = rank.device();
  Future<Executable> gradient = runtime.compile(Program::from_text(kGradient));
  Future<Executable> step = runtime.compile(Program::from_text(kStep));

  std::vector<float> x, y;  // the rows of this rank
  for (int i = 0; i < 8; ++i) {
    const float value = static_cast<float>(8 * index(rank.rank()) + i) / 16 - 1;
    x.insert(x.end(), {value, 1});
    y.push_back(2 * value + 1);
  }
  Future<Buffer> rows = device.put(std::move(x), {8, 2});
  Future<Buffer> wanted = device.put(std::move(y), {8});
  Future<Buffer> w = device.put(std::vector<float>{0, 0}, {2});
  for (int i = 0; i < 200; ++i) {
    Result<Buffers> own = co_await execute(device, gradient, {w, rows, wanted});
    if (!own) co_return own.error();
    Future<Buffers> mean = rank.all_reduce(*own, ReduceOp::kMean);
    w = pick(execute(device, step, {w, pick(mean, 0)}), 0);
  }
  co_return co_await device.fetch(w);
}

int main() {
  auto options = RuntimeOptions::from_env();
  if (options) options->devices = 4;
  auto runtime = Runtime::create(std::move(options));
  if (!runtime) {
    std::fprintf(stderr, "%s\n", runtime.error().to_string().c_str());
    return 1;
  }
  auto ranks = ProcessGroup::create(runtime->actors(), "train", runtime->devices());
  if (!ranks) {
    std::fprintf(stderr, "%s\n", ranks.error().to_string().c_str());
    return 1;
  }
  std::vector<Future<HostArray>> learnt;
  for (const ProcessGroup& rank : *ranks)
    learnt.push_back(spawn(runtime->compute(), train(*runtime, rank)));
  for (Future<HostArray>& one : learnt) {
    const Result<HostArray> w = wait_blocking(one);
    if (!w) {
      std::fprintf(stderr, "%s\n", w.error().to_string().c_str());
      return 1;
    }
    std::printf("y = %.2f x + %.2f\n", w->as<float>()[0], w->as<float>()[1]);
  }
  return wait_blocking((*ranks)[0].close()) ? 0 : 1;
}
