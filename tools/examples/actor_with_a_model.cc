// An actor that owns a counter and a program: it takes one message at a time, so neither needs a
// lock, and answers later, when the device has.
#include <cstdio>
#include <utility>
#include <vector>

#include "millrace/actors/actor.h"
#include "millrace/actors/actor_ref.h"
#include "millrace/actors/system.h"
#include "millrace/millrace.h"

using namespace millrace;

constexpr const char* kProgram = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
)";

struct Double {
  std::vector<float> x;
};
struct HowMany {};

class Doubler : public actors::Actor {
 public:
  Doubler(Device device, Future<Executable> program)
      : device_(std::move(device)), program_(std::move(program)) {}

  Future<HostArray> on(Double&& request) {
    ++asked_;
    Future<Buffer> x = device_.put(std::move(request.x), {2});
    return fetch(device_, execute(device_, program_, {x}), 0);
  }
  Result<int> on(const HowMany& /*request*/) { return asked_; }

 private:
  const Device device_;
  const Future<Executable> program_;
  int asked_ = 0;
};

Status run() {
  MILLRACE_TRY(Runtime runtime, Runtime::create(RuntimeOptions::from_env()));
  Future<Executable> program = runtime.compile(Program::from_text(kProgram));
  MILLRACE_TRY(auto doubler, runtime.actors().spawn<Doubler>("doubler", actors::ActorOptions(),
                                                             runtime.device(0), program));
  for (const float value : {1.0F, 2.0F}) {
    MILLRACE_TRY(const HostArray y, wait_blocking(doubler.ask(Double{{value, 10 * value}})));
    std::printf("%g %g\n", y.as<float>()[0], y.as<float>()[1]);
  }
  MILLRACE_TRY(const int asked, wait_blocking(doubler.ask(HowMany{})));
  std::printf("%d questions\n", asked);
  return {};
}

int main() {
  const Status status = run();
  if (!status) std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
  return status ? 0 : 1;
}
