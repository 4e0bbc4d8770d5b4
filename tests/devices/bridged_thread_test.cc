// On the thread of a loop that a user owns, a device runs nothing and copies nothing: neither a
// program that is short enough to be run by its caller elsewhere, nor what put_borrowed copies
// during the call. Real threads, because which one works is what is tested.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/core/loop/completion_fd.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/operation.h"
#include "tests/support/cpu_programs.h"
#include "tests/support/stub_client.h"

namespace millrace::devices {
namespace {

constexpr std::int64_t kElements = 100000;  // far above what a caller copies
constexpr int kSteps = 50;
const Shape kArray(DType::kF32, {kElements});

class BridgedThreadTest : public ::testing::Test {
 protected:
  BridgedThreadTest() {
    testing::ScriptedProgram program{.inputs = {kArray}, .outputs = {kArray}, .body = {}};
    program.body = [this](const cpu::RunCall& call) {
      if (before_program) before_program();
      if (std::this_thread::get_id() == here) ++ran_here;
      return testing::increment_sum(call, kElements);
    };
    client.emplace(cpu::CpuClientOptions{
        .threads = {{.executor = device_pool.get(), .parallel = &device_pool->parallel()}},
        .inline_time = std::chrono::hours(1),
        .compile = testing::scripted(std::move(program))});
    device = make_devices(*client, {.environment = {.clock = &steady_clock(),
                                                    .timers = &timers,
                                                    .compute = actor_pool.get(),
                                                    .blocking = actor_pool.get()},
                                    .inline_when_idle = true})[0];
    executable = client->compile(Program::from_text("any"), {}).value();
  }
  ~BridgedThreadTest() override {
    static_cast<void>(wait_blocking(device.close()));
    device = {};
    executable = {};
    static_cast<void>(wait_blocking(client->close()));
  }

  // An owner whose deleter records the thread that released the last reference: the copying one.
  Owner noted(std::vector<float>& values) {
    return {values.data(), [this](const void*) {
              if (std::this_thread::get_id() == here) ++copied_here;
            }};
  }
  Future<HostArray> step(std::vector<float>& values) {
    const Future<PutResult> put =
        device.put_borrowed({.data = values.data(), .shape = kArray, .owner = noted(values)},
                            HostBufferSemantics::kImmutableOnlyDuringCall);
    const Argument argument(put.then(inline_executor(), [](Result<PutResult> r) -> Result<Buffer> {
      if (!r) return std::unexpected(r.error());
      return std::move(r->buffer);
    }));
    const Future<Buffers> y = device.execute(executable, {argument});
    return y.then(inline_executor(), [d = device](Result<Buffers> r) -> Future<HostArray> {
      if (!r) return r.error();
      return d.fetch(Argument((*r)[0]));
    });
  }

  // Tells whether this thread makes the handle of the copy. The thread that should do it is held up
  // until the continuation is in its place, where it runs on the thread that completes.
  void copy(const Buffer& source) {
    const auto placed = std::make_shared<std::binary_semaphore>(0);
    post(*actor_pool, [placed] { placed->acquire(); });
    device.copy_from(Argument(source))
        .then(inline_executor(),
              [this](const Result<Buffer>& copied) {
                EXPECT_TRUE(copied);
                if (std::this_thread::get_id() == here) ++copied_from_here;
              })
        .ignore();
    placed->release();
  }

  const std::unique_ptr<PoolExecutor> actor_pool = make_executor(ExecutorBackend::kThreads, 1, "a");
  const std::unique_ptr<PoolExecutor> device_pool =
      make_executor(ExecutorBackend::kThreads, 1, "d");
  TimerQueue timers{steady_clock()};
  std::optional<cpu::CpuClient> client;
  Device device;
  Executable executable;
  std::function<void()> before_program;
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<int> ran_here{0}, copied_here{0}, copied_from_here{0};
};

// DA-1
TEST_F(BridgedThreadTest, ProgramsAndCopiesRunElsewhereWhereThisThreadIsALoops) {
  std::vector<float> x(kElements, 1), y(kElements, 2);
  const Buffer source = wait_blocking(device.put({.data = x.data(), .shape = kArray})).value();
  // An ordinary caller does it itself, whenever it finds the device idle.
  for (int i = 0; i < 1000 && (ran_here == 0 || copied_here == 0 || copied_from_here == 0); ++i) {
    copy(source);
    ASSERT_TRUE(wait_blocking(step(x)));
  }
  EXPECT_GT(ran_here, 0);
  EXPECT_GT(copied_here, 0);
  EXPECT_GT(copied_from_here, 0);

  const CompletionFd bridge = CompletionFd::create().value();
  ran_here = copied_here = copied_from_here = 0;
  int done = 0;
  std::function<void()> next = [&] {
    copy(source);
    step(y)
        .then(bridge,
              [&](const Result<HostArray>& r) {
                EXPECT_EQ(r->as<float>()[0], 3);
                if (++done < kSteps) next();
              })
        .ignore();
  };
  post(bridge.executor(), next);
  pollfd waited{.fd = bridge.completion_fd(), .events = POLLIN, .revents = 0};
  while (done < kSteps && ::poll(&waited, 1, -1) > 0) static_cast<void>(bridge.drain());
  EXPECT_EQ(ran_here, 0);
  EXPECT_EQ(copied_here, 0);
  EXPECT_EQ(copied_from_here, 0);
}

// DA-1
TEST_F(BridgedThreadTest, ALoopsThreadPutsWhatIsShortAndNothingElse) {
  EventLoopThread loop(create_uv_event_loop().value(), "loop");
  const auto put_on_loop = [&](std::vector<float>& values) {
    Promise<bool> copied;
    const Future<bool> on_loop = copied.future();
    post(loop.loop(), [&, copied = std::move(copied)]() mutable {
      const auto told = std::make_shared<Promise<bool>>(std::move(copied));
      device
          .put_borrowed({.data = values.data(),
                         .shape = Shape(DType::kF32, {static_cast<std::int64_t>(values.size())}),
                         .byte_strides = {},
                         .owner = Owner(values.data(),
                                        [&loop, told](const void*) {
                                          told->set(running_loop() == &loop.loop());
                                        })},
                        HostBufferSemantics::kImmutableOnlyDuringCall)
          .ignore();
    });
    return wait_blocking(on_loop).value();
  };
  std::vector<float> few(4, 1), many(Operation::kShortBytes / sizeof(float) + 1, 1);
  EXPECT_TRUE(put_on_loop(few));
  EXPECT_FALSE(put_on_loop(many));
  EXPECT_TRUE(wait_blocking(loop.close()));
}

// DA-1: the end of a program, told by the device's own thread, lets a put go on, whose copy would
// keep that thread from the next program.
TEST_F(BridgedThreadTest, DevicesOwnThreadMakesNoCallsForWhatWaited) {
  const Device limited =
      make_devices(*client, {.environment = {.clock = &steady_clock(),
                                             .timers = &timers,
                                             .compute = actor_pool.get(),
                                             .blocking = actor_pool.get()},
                             .limits = {.launches = 1, .bytes = kElements * sizeof(float)},
                             .inline_when_idle = true})[0];
  std::vector<float> x(kElements, 1), y(kElements, 2);
  std::binary_semaphore unblock(0);
  before_program = [&unblock] { unblock.acquire(); };
  const Buffer there = wait_blocking(device.put({.data = x.data(), .shape = kArray})).value();
  const Future<Buffers> first = limited.execute(executable, {there});
  std::atomic<bool> by_device{false};
  // The thread that has copied releases it.
  const Future<PutResult> put =
      limited.put_borrowed({.data = y.data(),
                            .shape = kArray,
                            .byte_strides = {},
                            .owner = Owner(y.data(),
                                           [&](const void*) {
                                             if (device_pool->on_own_thread()) by_device = true;
                                           })},
                           HostBufferSemantics::kImmutableOnlyDuringCall);
  EXPECT_FALSE(put.ready()) << "the program has all of the bytes";
  unblock.release();
  EXPECT_TRUE(wait_blocking(put));
  EXPECT_FALSE(by_device);
  EXPECT_TRUE(wait_blocking(limited.close()));
}

// An array of another client, which tells when it is written.
class PendingBuffer final : public BufferBody {
 public:
  explicit PendingBuffer(Client& client) : client_(client) {}
  const Shape& shape() const override { return kArray; }
  Client& client() const override { return client_; }
  DeviceId device() const override { return DeviceId{0}; }
  std::size_t size_bytes() const override { return kArray.size_bytes(); }
  Future<void> ready() const override { return ready_; }
  Future<void> copy_to_host(std::span<std::byte>, Owner) override {
    return fail(ErrorCode::kUnimplemented, "no");
  }
  Result<HostAccess> host_access() override {
    looked = std::this_thread::get_id();
    return HostAccess{std::as_bytes(std::span(values_)), nullptr};
  }
  void remove() override {}
  bool removed() const override { return false; }

  Promise<void> written;
  std::atomic<std::thread::id> looked;

 private:
  Client& client_;
  const Future<void> ready_ = written.future();
  const std::vector<float> values_ = std::vector<float>(kElements, 1);
};

// DA-1: a plugin calls back, may hold locks, and a device waits for what has come.
TEST_F(BridgedThreadTest, PluginsThreadMakesNoCallsForWhatWaited) {
  testing::StubClient other(1);
  auto body = make_ref<PendingBuffer>(other);
  const Future<Buffer> copied = device.copy_from(Argument(Buffer(body)));
  {
    const ForeignThreadScope scope(*actor_pool);
    body->written.set_value();
  }
  EXPECT_TRUE(wait_blocking(copied));
  EXPECT_NE(body->looked.load(), std::thread::id()) << "nothing was read";
  EXPECT_NE(body->looked.load(), here);
}

}  // namespace
}  // namespace millrace::devices
