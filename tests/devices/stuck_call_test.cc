// A call of a client that does not return, and the end of a device all the same. On real threads,
// since one of them is what is stuck; nothing is timed.
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <optional>
#include <semaphore>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/device_actor.h"
#include "tests/support/stub_client.h"

namespace millrace::devices {
namespace {

// Its puts do not return before they are unblocked. Two devices.
class StuckClient final : public testing::StubClient {
 public:
  StuckClient() : StubClient(2) {}
  std::latch entered{1}, unblock{1}, left{1};

  Result<PutResult> put(const HostView&, HostBufferSemantics, DeviceId, int) override {
    entered.count_down();
    unblock.wait();
    left.count_down();
    return none();
  }
  std::optional<Duration> busy_time(DeviceId) const override { return kBusy; }
  static constexpr Duration kBusy = std::chrono::seconds(7);
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
                            .inline_when_idle = true,
                            .drivers = {drivers[0].get(), drivers[1].get()}});
};
Kept& kept() {
  static std::vector<Kept*>* const all = new std::vector<Kept*>;
  all->push_back(new Kept);
  return *all->back();
}

// As on the thread of a loop: the driver makes the call, and may be stuck in it.
Future<Buffer> put(const Device& device, const HostView& view) {
  const BridgedThreadScope loop;
  return device.put(view);
}

const float kValues[] = {1, 2};
const HostView kView{.data = kValues, .shape = Shape(DType::kF32, {2})};
const Error kLate(ErrorCode::kDeadlineExceeded, "a test has waited long enough");

// DA-2
TEST(StuckCallTest, EverythingThatWaitsEndsOnceWhenTheDeviceIsGivenUp) {
  Kept& all = kept();
  const Device& device = all.devices[0];
  const Future<Buffer> first = put(device, kView);
  all.client.entered.wait();
  const Future<Buffer> second = put(device, kView);
  const Future<HostArray> fetched = device.fetch(second);
  const Future<void> closed = device.close();
  EXPECT_FALSE(first.ready());
  EXPECT_FALSE(closed.ready());

  device.body()->give_up(kLate);
  ASSERT_TRUE(first.ready());
  EXPECT_EQ(first.result().error().message(), kLate.message());
  ASSERT_TRUE(second.ready());
  EXPECT_FALSE(second.result());
  ASSERT_TRUE(fetched.ready());
  EXPECT_FALSE(fetched.result());
  ASSERT_TRUE(closed.ready());
  EXPECT_EQ(closed.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(device.stats().busy, StuckClient::kBusy) << "what the client had measured";
  // Its thread comes back, with a result that no future waits for any more, and touches nothing.
  all.client.unblock.count_down();
  all.client.left.wait();
  all.drivers[0].reset();  // it ends like any other
  const Future<Buffer> later = put(device, kView);
  ASSERT_TRUE(later.ready());
  EXPECT_FALSE(later.result());
}

// Each of its puts waits to be unblocked. It can be killed.
class KillableClient final : public testing::StubClient {
 public:
  KillableClient() : StubClient(1) {}
  std::counting_semaphore<> entered{0}, unblock{0};

  Result<PutResult> put(const HostView&, HostBufferSemantics, DeviceId, int) override {
    if (failed_.ready()) return fail(ErrorCode::kUnavailable, "it was killed before");
    entered.release();
    unblock.acquire();
    return none();
  }
  Future<void> failed(DeviceId) const override { return failed_; }
  Status kill(DeviceId, const Error& cause) override {
    if (promise_.valid()) std::exchange(promise_, {}).set_error(cause);
    return {};
  }

 private:
  Promise<void> promise_;
  const Future<void> failed_ = promise_.future();
};

class KilledInACallTest : public ::testing::Test {
 protected:
  ~KilledInACallTest() override {
    device_ = Device();
    EXPECT_TRUE(wait_blocking(driver_->close()));
    EXPECT_TRUE(wait_blocking(compute_->close()));
  }
  static ErrorCode code_of(const Future<Buffer>& future) {
    EXPECT_TRUE(future.ready());
    if (!future.ready() || future.result()) return {};
    return future.result().error().code();
  }

  KillableClient client_;
  TimerQueue timers_{steady_clock()};
  std::unique_ptr<PoolExecutor> driver_ = make_executor(ExecutorBackend::kThreads, 1, "driver");
  std::unique_ptr<PoolExecutor> compute_ = make_executor(ExecutorBackend::kThreads, 1, "compute");
  Device device_ = make_devices(client_, {.environment = {.clock = &steady_clock(),
                                                          .timers = &timers_,
                                                          .compute = compute_.get(),
                                                          .blocking = compute_.get(),
                                                          .parallel = nullptr},
                                          .limits = {},
                                          .inline_when_idle = true,
                                          .drivers = {driver_.get()}})[0];
  const Error power_cut_{ErrorCode::kDataLoss, "power cut"};
};

// It lets a call pass that another thread makes for itself, but not for as long as that takes.
TEST_F(KilledInACallTest, CallerBehindALongCallOfAnotherThreadQueues) {
  Future<Buffer> first;
  std::thread caller([&] { first = device_.put(kView); });
  client_.entered.acquire();
  const Future<Buffer> second = device_.put(kView);
  EXPECT_FALSE(second.ready());
  EXPECT_EQ(device_.stats().queued, 1U);
  client_.unblock.release(2);
  caller.join();
  EXPECT_FALSE(wait_blocking(first));
  EXPECT_FALSE(wait_blocking(second));
  EXPECT_TRUE(wait_blocking(device_.close()));
}

TEST_F(KilledInACallTest, EverythingEndsAtOnceAndTheThreadThatComesBackRunsOn) {
  const auto owner = std::make_shared<int>();
  HostView owned = kView;
  owned.owner = owner;
  const Future<Buffer> first = put(device_, owned);
  owned.owner = nullptr;
  client_.entered.acquire();
  const Future<Buffer> second = put(device_, kView);
  ASSERT_TRUE(device_.kill(power_cut_));
  EXPECT_EQ(code_of(first), ErrorCode::kDataLoss);
  EXPECT_EQ(first.result().error().message(),
            "the put of " + kView.shape.to_string() + " has not ended: power cut");
  EXPECT_EQ(code_of(second), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(put(device_, kView)), ErrorCode::kUnavailable);
  const Future<HostArray> fetched = device_.fetch(second);
  ASSERT_TRUE(fetched.ready());
  EXPECT_FALSE(fetched.result());
  const Future<void> failed = device_.failed();
  ASSERT_TRUE(failed.ready());
  EXPECT_FALSE(failed.result());
  const Future<void> closed = device_.close();
  EXPECT_FALSE(closed.ready()) << "its thread is still in there";
  EXPECT_GT(owner.use_count(), 1) << "it may still read there";
  client_.unblock.release();
  EXPECT_TRUE(wait_blocking(closed));
  EXPECT_EQ(code_of(first), ErrorCode::kDataLoss) << "it has ended once";
  EXPECT_EQ(device_.stats().puts, 1U);
  EXPECT_EQ(owner.use_count(), 1);
}

// What waited behind the call is gone when its thread comes back and looks for it.
TEST_F(KilledInACallTest, ThreadThatComesBackFindsAnotherQueue) {
  const Future<Buffer> before = put(device_, kView);
  client_.entered.acquire();
  std::vector<Future<Buffer>> puts(5);
  for (Future<Buffer>& one : puts) one = put(device_, kView);
  client_.unblock.release();
  client_.entered.acquire();  // the first of them; the others are in the queue now
  EXPECT_FALSE(wait_blocking(before));
  ASSERT_TRUE(device_.kill(power_cut_));
  EXPECT_EQ(code_of(puts[0]), ErrorCode::kDataLoss);
  for (std::size_t i = 1; i < puts.size(); ++i)
    EXPECT_EQ(code_of(puts[i]), ErrorCode::kUnavailable);
  client_.unblock.release();
  EXPECT_TRUE(wait_blocking(device_.close()));
  EXPECT_EQ(device_.stats().puts, 2U);
}

// Many threads call, and one kills, while calls come and go.
TEST_F(KilledInACallTest, NothingIsLostOfWhatComesMeanwhile) {
  client_.unblock.release(1000);
  std::vector<std::vector<Future<Buffer>>> puts(4);
  std::latch begin(5);
  std::vector<std::thread> threads;
  for (auto& mine : puts) {
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      for (int i = 0; i < 400; ++i) mine.push_back(put(device_, kView));
    });
  }
  begin.arrive_and_wait();
  for (int i = 0; i < 100; ++i) client_.entered.acquire();
  ASSERT_TRUE(device_.kill(power_cut_));
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : puts) {
    for (const Future<Buffer>& one : mine) EXPECT_FALSE(wait_blocking(one));
  }
  client_.unblock.release(1000);
  EXPECT_TRUE(wait_blocking(device_.close()));
}

}  // namespace
}  // namespace millrace::devices
