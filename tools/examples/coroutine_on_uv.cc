// A coroutine on a libuv loop that belongs to the program. Whatever is awaited, the coroutine goes
// on where uv_run runs; the loop is never blocked and ends when no continuation waits. The program
// links libuv itself, beside Millrace: `pkg-config --libs millrace libuv`, or in CMake
// pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv) and PkgConfig::UV.
#include <uv.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "millrace/core/loop/uv_bridge.h"
#include "millrace/millrace.h"

using namespace millrace;

constexpr const char* kProgram = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
)";

Task<HostArray> squares(const Runtime& runtime, std::vector<float> x) {
  Device device = runtime.device(0);
  Result<Executable> square = co_await runtime.compile(Program::from_text(kProgram));
  if (!square) co_return square.error();
  Result<Buffer> there = co_await device.put(std::move(x), {4});
  if (!there) co_return there.error();
  co_return co_await fetch(device, device.execute(*square, {*there}), 0);
}

int failed(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  return 1;
}

int main() {
  auto runtime = Runtime::create(RuntimeOptions::from_env());
  if (!runtime) return failed(runtime.error());
  uv_loop_t loop;
  uv_loop_init(&loop);
  {
    auto bridge = UvBridge::create(&loop);
    if (!bridge) return failed(bridge.error());
    spawn(*bridge, squares(*runtime, {1, 2, 3, 4}))
        .then(*bridge,
              [](const Result<HostArray>& y) {
                if (!y) {
                  failed(y.error());
                  return;
                }
                for (float value : y->as<float>()) std::printf("%g ", value);
                std::printf("\n");
              })
        .ignore();
    uv_run(&loop, UV_RUN_DEFAULT);
  }
  uv_run(&loop, UV_RUN_DEFAULT);  // frees the bridge's handle
  return uv_loop_close(&loop);
}
