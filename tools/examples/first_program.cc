// A first program: one matrix product on device 0. Nothing waits before the last step.
#include <cstdio>
#include <vector>

#include "millrace/millrace.h"

using namespace millrace;

constexpr const char* kProgram = R"(
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
)";

int main() {
  auto runtime = Runtime::create(RuntimeOptions::from_env());  // PJRT_DEVICE, CPU_NUM_DEVICES, ...
  if (!runtime) {
    std::fprintf(stderr, "%s\n", runtime.error().to_string().c_str());
    return 1;
  }
  Device device = runtime->device(0);
  Future<Executable> product = runtime->compile(Program::from_text(kProgram));
  Future<Buffer> x = device.put(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  Future<Buffer> w = device.put(std::vector<float>{1, 0, 0, 1, 1, 1}, {3, 2});
  Future<Buffers> y = execute(device, product, {x, w});
  Future<HostArray> out = fetch(device, y, 0);

  Result<HostArray> result =
      wait_blocking(out);  // or co_await out, or out.then(your_executor, ...)
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
    return 1;
  }
  for (float value : result->as<float>()) std::printf("%g ", value);
  std::printf("\n");
}
