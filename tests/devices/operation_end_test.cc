// What an operation holds of its client is gone when close() of its devices completes: an owner of
// the client destroys it next.
#include "millrace/devices/operation.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/combinators.h"
#include "millrace/devices/device_actor.h"
#include "tests/support/simulation.h"
#include "tests/support/stub_client.h"
#include "tests/support/stub_executable.h"

namespace millrace::devices {
namespace {

using testing::Simulation;

class NonBlockingClient final : public testing::StubClient {
 public:
  explicit NonBlockingClient(int devices) : StubClient(devices) {}
  bool calls_may_block() const override { return false; }
};

// A program without arrays whose launches end when the test says so.
class TestProgram final : public testing::StubExecutable {
 public:
  explicit TestProgram(Client& client)
      : StubExecutable(client, "test", static_cast<int>(client.devices().size())) {}
  Status launch(const LaunchArguments&, std::span<LaunchResult> results) override {
    in_launch();
    for (LaunchResult& result : results) result.done = done;
    return {};
  }

  std::function<void()> in_launch = [] {};
  Future<void> done = make_ready();
};

struct Devices {
  explicit Devices(Simulation& sim, int count)
      : client(count),
        devices(make_devices(client, {.environment = sim.environment(),
                                      .limits = {},
                                      .inline_when_idle = true,
                                      .drivers = {}})),
        body(make_ref<TestProgram>(client)) {}

  // As on the thread of a loop: another one makes the call, and holds nothing of this one.
  Future<Buffers> launch() {
    const BridgedThreadScope loop;
    const std::vector<std::span<const Argument>> none(devices.size());
    return launch_spanning(devices, Executable(body), none);
  }
  // When all devices have closed, only this may hold the program.
  void close() {
    std::vector<Future<void>> closed;
    for (const Device& device : devices) closed.push_back(device.close());
    ended = when_all(std::move(closed)).then(inline_executor(), [this](const auto&) {
      EXPECT_TRUE(body->unique());
    });
  }

  NonBlockingClient client;
  std::vector<Device> devices;
  const Ref<TestProgram> body;
  Future<void> ended;
};

class OperationEndTest : public ::testing::TestWithParam<int> {};

// OP-2
TEST_P(OperationEndTest, ACallThatIsOverAtOnceHoldsNothingAfterTheClose) {
  Simulation sim(1);
  Devices all(sim, GetParam());
  all.body->in_launch = [&] { all.close(); };
  EXPECT_TRUE(sim.run(all.launch()));
  EXPECT_TRUE(sim.run(all.ended));
}

// OP-2
TEST_P(OperationEndTest, ACallThatEndsLaterHoldsNothingAfterTheClose) {
  Simulation sim(2);
  Devices all(sim, GetParam());
  Promise<void> done;
  all.body->done = done.future();
  EXPECT_TRUE(sim.run(all.launch()));
  all.close();
  sim.run_until_idle();
  EXPECT_FALSE(all.ended.ready());
  done.set_value();
  EXPECT_TRUE(sim.run(all.ended));
}

// Keeps what is submitted until it is run, and calls back for each.
class HookedExecutor final : public Executor {
 public:
  void submit(Work* work) noexcept override {
    kept_.push(work);
    on_submit();
  }
  void run_all() {
    while (Work* const work = kept_.pop()) work->run();
  }
  std::function<void()> on_submit = [] {};

 private:
  WorkQueue kept_;
};

// Launches that span devices enter under the lock of their order: nothing may run there.
TEST(OperationEnterTest, ArgumentsThatComeWhileALaunchEntersRunNothingUnderTheLock) {
  Simulation sim(3);
  NonBlockingClient client(2);
  HookedExecutor compute;
  Environment environment = sim.environment();
  environment.compute = &compute;
  const std::vector<Device> devices =
      make_devices(client, {.environment = environment, .inline_when_idle = true});
  compute.run_all();
  const auto program = make_ref<TestProgram>(client);
  Promise<Buffer> argument;
  const std::vector<Argument> first = {argument.future()};
  const std::vector<std::span<const Argument>> arguments = {first, {}};
  // The last device's turn is on its way: another thread makes both, and has the argument.
  int entered = 0;
  compute.on_submit = [&] {
    if (++entered != 2) return;
    std::thread([&] {
      compute.run_all();
      argument.set(Buffer());
    }).join();
  };
  bool inside = true;
  program->in_launch = [&] { EXPECT_FALSE(inside); };

  const Future<Buffers> launched = launch_spanning(devices, Executable(program), arguments);
  inside = false;
  compute.run_all();

  EXPECT_TRUE(launched.ready());
  for (const Device& device : devices) {
    const Future<void> closed = device.close();
    compute.run_all();
    EXPECT_TRUE(closed.ready());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, OperationEndTest, ::testing::Values(1, 2));

}  // namespace
}  // namespace millrace::devices
