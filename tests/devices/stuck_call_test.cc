// A call of a client that does not return, and the end of a device all the same. On real threads,
// since one of them is what is stuck; nothing is timed.
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string_view>
#include <vector>

#include "millrace/core/make_executor.h"
#include "millrace/core/timer_queue.h"
#include "millrace/devices/device_actor.h"
#include "tests/support/stub_client.h"

namespace millrace::devices {
namespace {

// Its puts do not return before they are let go. Two devices.
class StuckClient final : public testing::StubClient {
 public:
  StuckClient() : StubClient(2) {}
  std::latch entered{1}, let_go{1}, left{1};

  Result<PutResult> put(const HostView&, HostBufferSemantics, DeviceId, int) override {
    entered.count_down();
    let_go.wait();
    left.count_down();
    return none();
  }
};

// Whatever a stuck thread may use; never destroyed.
struct Kept {
  StuckClient client;
  TimerQueue timers{steady_clock()};
  std::unique_ptr<PoolExecutor> drivers[2] = {
      make_executor(ExecutorBackend::kThreads, 1, "driver-0"),
      make_executor(ExecutorBackend::kThreads, 1, "driver-1")};
  std::unique_ptr<PoolExecutor> compute = make_executor(ExecutorBackend::kThreads, 1, "compute");
  std::vector<Device> devices =
      make_devices(client, {.environment = {.clock = &steady_clock(),
                                            .timers = &timers,
                                            .compute = compute.get(),
                                            .blocking = compute.get(),
                                            .parallel = nullptr},
                            .limits = {},
                            .drivers = {drivers[0].get(), drivers[1].get()}});
};
Kept& kept() {
  static std::vector<Kept*>* const all = new std::vector<Kept*>;
  all->push_back(new Kept);
  return *all->back();
}

const float kValues[] = {1, 2};
const HostView kView{.data = kValues, .shape = Shape(DType::kF32, {2})};
const Error kLate(ErrorCode::kDeadlineExceeded, "a test has waited long enough");

TEST(StuckCallTest, EverythingThatWaitsEndsOnceWhenTheDeviceIsGivenUp) {
  Kept& all = kept();
  const Device& device = all.devices[0];
  const Future<Buffer> first = device.put(kView);
  all.client.entered.wait();
  const Future<Buffer> second = device.put(kView);
  const Future<HostArray> fetched = device.fetch(second);
  const Future<void> closed = device.close();
  EXPECT_FALSE(first.ready());
  EXPECT_FALSE(closed.ready());

  device.actor()->give_up(kLate);
  ASSERT_TRUE(first.ready());
  EXPECT_EQ(first.result().error().message(), kLate.message());
  ASSERT_TRUE(second.ready());
  EXPECT_FALSE(second.result());
  ASSERT_TRUE(fetched.ready());
  EXPECT_FALSE(fetched.result());
  ASSERT_TRUE(closed.ready());
  EXPECT_EQ(closed.result().error().code(), ErrorCode::kDeadlineExceeded);
  // Its thread comes back, with a result that nobody waits for any more, and touches nothing.
  all.client.let_go.count_down();
  all.client.left.wait();
  static_cast<void>(all.drivers[0]->close());
  const Future<Buffer> later = device.put(kView);
  ASSERT_TRUE(later.ready());
  EXPECT_FALSE(later.result());
}

}  // namespace
}  // namespace millrace::devices
