// How long a Runtime's end may take where calls of its devices do not return, on a clock that the
// test moves; only the thread that is stuck is a real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/device_actor.h"
#include "millrace/tools/api/runtime_core.h"
#include "tests/support/stub_client.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr Duration kTimeout = 8s;
constexpr Duration kMoment = 1ms;

// Its puts return when they are unblocked; its own close takes as long as it may, or none once it
// was given up.
class SlowClient final : public testing::StubClient {
 public:
  SlowClient(TimerQueue& timers, const Clock& clock)
      : StubClient(1), timers_(timers), clock_(clock) {}
  Duration closing{};
  std::latch entered{1}, unblock{1};

  Result<devices::PutResult> put(const devices::HostView&, devices::HostBufferSemantics,
                                 devices::DeviceId, int) override {
    entered.count_down();
    unblock.wait();
    return none();
  }
  Future<void> close() override {
    if (given_up_ || closing == Duration{}) return make_ready();
    Promise<void> promise;
    Future<void> closed = promise.future();
    timers_.schedule(clock_.now() + closing,
                     [promise = std::move(promise)]() mutable { promise.set_value(); });
    return closed;
  }
  std::function<std::string()> call_report() const override {
    return [] { return std::string("PJRT_Client_Compile"); };
  }
  void give_up(const Error&) override { given_up_ = true; }
  bool given_up() const override { return given_up_; }

 private:
  TimerQueue& timers_;
  const Clock& clock_;
  std::atomic<bool> given_up_{false};
};

// All that a test has.
struct Parts {
  static RuntimeOptions options() {
    RuntimeOptions options;
    options.close_timeout = kTimeout;
    return options;
  }
  std::latch unblock{1};
  SerialExecutor compute{SerialExecutor::InOrder{}};
  ManualClock clock;
  TimerQueue timers{clock};
  Runtime::Core core{options()};
  Future<void> closed;
};

class CloseTimeTest : public ::testing::Test {
 protected:
  CloseTimeTest() {
    core_.environment = {
        .clock = &parts_.clock, .timers = &parts_.timers, .compute = &parts_.compute};
    auto client = std::make_unique<SlowClient>(parts_.timers, parts_.clock);
    client_ = client.get();
    core_.kinds.push_back(std::make_unique<Runtime::Core::Kind>());
    core_.kinds.back()->client = std::move(client);
  }
  void TearDown() override {
    parts_.unblock.count_down();
    client_->unblock.count_down();
    core_.device_pools.clear();  // joins their threads, which come back now
    run();
  }
  Executor& add_thread() {
    core_.device_pools.push_back(make_executor(ExecutorBackend::kThreads, 1, "stuck"));
    return *core_.device_pools.back();
  }
  // A thread of a device that is in a call which does not return.
  void stick_a_thread() {
    std::latch entered(1);
    post(add_thread(), [&entered, &unblock = parts_.unblock] {
      entered.count_down();
      unblock.wait();
    });
    entered.wait();
  }
  void begin_close() { parts_.closed = spawn(inline_executor(), core_.close_all({})); }
  // At this time after its begin, and not before, the close ends.
  void expect_end_after(Duration time) {
    advance_to(time - kMoment);
    EXPECT_FALSE(parts_.closed.ready());
    advance_to(time + kMoment);
    ASSERT_TRUE(parts_.closed.ready());
    EXPECT_LE(time, 2 * kTimeout);
  }
  // Timer by timer, so that what one of them starts begins then.
  void advance_to(Duration time) {
    for (; parts_.clock.now().time_since_epoch() < time; parts_.clock.advance(kMoment)) run();
    run();
  }
  void run() {
    parts_.timers.run_due();
    parts_.compute.run_until_idle();
  }

  std::unique_ptr<Parts> owned_ = std::make_unique<Parts>();
  Parts& parts_ = *owned_;
  Runtime::Core& core_ = parts_.core;
  SlowClient* client_ = nullptr;
};

TEST_F(CloseTimeTest, NothingIsWaitedForWhereNothingIsStuck) {
  begin_close();
  ASSERT_TRUE(parts_.closed.ready());
  EXPECT_TRUE(parts_.closed.result());
  EXPECT_EQ(parts_.timers.pending(), 0U);
}

TEST_F(CloseTimeTest, CompilationThatDoesNotReturnIsGivenUp) {
  const Scope::Hold compiling = core_.compilations.hold();
  begin_close();
  expect_end_after(kTimeout);
  EXPECT_EQ(parts_.closed.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(parts_.closed.result().error().message(),
              HasSubstr("closing has waited more than 8.000000 s for what has not returned: "
                        "PJRT_Client_Compile"));
  EXPECT_TRUE(client_->given_up());
}

TEST_F(CloseTimeTest, ThreadThatDoesNotReturnIsGivenUp) {
  stick_a_thread();
  begin_close();
  expect_end_after(kTimeout / 4);
  EXPECT_THAT(parts_.closed.result().error().message(), HasSubstr("what has not returned"));
}

// It gets a quarter more than its events; then its thread is waited for, in vain.
TEST_F(CloseTimeTest, DeviceInACallThatDoesNotReturnIsGivenUp) {
  core_.devices = devices::make_devices(*client_, {.environment = core_.environment,
                                                   .limits = {},
                                                   .inline_when_idle = true,
                                                   .drivers = {&add_thread()}});
  const float values[] = {1, 2};
  const auto put_in_loop = [&] {
    const BridgedThreadScope loop;  // the driver makes the call
    return core_.devices[0].put(
        {.data = values, .shape = devices::Shape(devices::DType::kF32, {2})});
  };
  const Future<devices::Buffer> put = put_in_loop();
  client_->entered.wait();
  begin_close();
  advance_to(kTimeout + kTimeout / 4 - kMoment);
  EXPECT_FALSE(client_->given_up());
  EXPECT_FALSE(put.ready());
  expect_end_after(kTimeout + kTimeout / 4 + kTimeout / 4);
  EXPECT_TRUE(client_->given_up());
  ASSERT_TRUE(put.ready());
  EXPECT_FALSE(put.result());
}

// Each part takes all that it may: the last moment before the devices are given up, then the
// client's own limit, then a thread that is stuck; what is left is for what frees.
TEST_F(CloseTimeTest, AllOfItTakesTwiceTheTimeoutAtMost) {
  std::optional<Scope::Hold> compiling = core_.compilations.hold();
  stick_a_thread();
  client_->closing = kTimeout / 4;
  begin_close();
  advance_to(kTimeout - kMoment);
  compiling.reset();
  const Duration client_ends = kTimeout - kMoment + client_->closing;
  expect_end_after(client_ends + kTimeout / 4);
  EXPECT_LE(core_.closing_took + core_.time_for_frees(), 2 * kTimeout);
  EXPECT_GE(core_.time_for_frees(), kTimeout / 4);
}

}  // namespace
}  // namespace millrace
