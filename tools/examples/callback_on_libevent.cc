// A callback on a libevent base that belongs to the program, beside a timer of its own. Every step
// is started at once; the callback runs where event_base_dispatch runs. The program links libevent
// itself, beside Millrace: `pkg-config --libs millrace libevent_core`.
#include <event2/event.h>

#include <cstdio>
#include <vector>

#include "millrace/core/loop/event_bridge.h"
#include "millrace/millrace.h"

using namespace millrace;

constexpr const char* kProgram = R"(
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}
)";

int failed(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  return 1;
}

int main() {
  auto runtime = Runtime::create(RuntimeOptions::from_env());
  if (!runtime) return failed(runtime.error());
  event_base* base = event_base_new();  // evthread_use_pthreads() is not needed
  {
    auto bridge = EventBridge::create(base);
    if (!bridge) return failed(bridge.error());
    const timeval soon{.tv_sec = 0, .tv_usec = 1000};
    event_base_once(
        base, -1, EV_TIMEOUT, [](evutil_socket_t, short, void*) { std::puts("tick"); }, nullptr,
        &soon);

    Device device = runtime->device(0);
    Future<Executable> add = runtime->compile(Program::from_text(kProgram));
    Future<Buffer> x = device.put(std::vector<float>{1, 2, 3}, {3});
    Future<Buffers> sum = execute(device, add, {x, x});
    fetch(device, sum, 0)
        .then(*bridge,
              [](const Result<HostArray>& result) {
                if (!result) return static_cast<void>(failed(result.error()));
                for (float value : result->as<float>()) std::printf("%g ", value);
                std::printf("\n");
              })
        .ignore();
    event_base_dispatch(base);  // until the timer has come and the callback has run
  }
  event_base_free(base);
  return 0;
}
