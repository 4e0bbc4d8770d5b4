// A prefetching loader that feeds an execution: while the device works on one batch, the next ones
// are read and put there. Prints the sum of each batch of eight numbers.
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "millrace/millrace.h"
#include "millrace/transfer/array_source.h"
#include "millrace/transfer/device_loader.h"

using namespace millrace;

constexpr const char* kProgram = R"(
func.func @main(%batch: tensor<8xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%batch init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}
)";

Task<void> sum_batches(const Runtime& runtime, const transfer::DeviceLoader& loader) {
  Device device = runtime.device(0);
  Future<Executable> sum = runtime.compile(Program::from_text(kProgram));
  for (;;) {
    auto batch = co_await loader.next(0);  // usually there already
    if (!batch) co_await end_with(batch.error());
    if (!*batch) co_return;  // the end of the epoch
    Result<HostArray> total =
        co_await fetch(device, execute(device, sum, {(*batch)->arrays[0]}), 0);
    if (!total) co_await end_with(total.error());
    std::printf("%g\n", total->as<float>()[0]);
  }
}

Status run() {
  MILLRACE_TRY(Runtime runtime, Runtime::create(RuntimeOptions::from_env()));

  // Forty numbers in memory; files are read by transfer/formats or by a source of your own.
  HostArray numbers = HostArray::make(Shape(DType::kF32, {40}));
  auto* first = reinterpret_cast<float*>(numbers.mutable_bytes().data());
  std::iota(first, first + 40, 1.0F);
  MILLRACE_TRY(auto source, transfer::ArraySource::create({{"numbers", numbers}}));

  MILLRACE_TRY(auto loader, transfer::DeviceLoader::create(runtime.environment(), source,
                                                           {runtime.device(0)}, {.batch_size = 8}));
  const Status done = wait_blocking(spawn(runtime.compute(), sum_batches(runtime, loader)));
  const Status closed = wait_blocking(loader.close());
  return done ? closed : done;
}

int main() {
  const Status status = run();
  if (!status) std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
  return status ? 0 : 1;
}
