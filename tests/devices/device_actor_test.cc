#include "millrace/devices/device_actor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/allocation_count.h"
#include "tests/support/sim_devices.h"
#include "tests/support/stub_executable.h"

namespace millrace::devices {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::elementwise;
using testing::for_each_seed;
using ::testing::HasSubstr;
using testing::SimDevices;
using testing::Simulation;

float sum(std::span<const float> values) {
  float total = 0;
  for (const float v : values) total += v;
  return total;
}

sim::SimProgram add(Duration duration) { return elementwise("add", 2, 2, duration, &sum); }

std::vector<std::string> names_begun(const sim::SimClient& client, DeviceId device) {
  std::vector<std::string> names;
  for (const sim::SimEvent& event : client.events()) {
    if (event.kind == sim::SimEvent::Kind::kLaunchBegin && event.device == device)
      names.push_back(event.name);
  }
  return names;
}

ErrorCode code_of(const Status& status) { return status ? ErrorCode{} : status.error().code(); }
template <class T>
ErrorCode code_of(const Result<T>& result) {
  return result ? ErrorCode{} : result.error().code();
}

TEST(DeviceActorTest, ResultOfALaunchIsThereBeforeItsBytes) {
  Simulation sim(1);
  SimDevices devices(sim);
  const Executable program = devices.program(add(5ms));
  const Buffer a = devices.put(0, {1, 2});
  const Buffer b = devices.put(0, {10, 20});

  const Buffers out = sim.run(devices[0].execute(program, {a, b})).value();

  EXPECT_EQ(sim.now().time_since_epoch(), 0ms);
  EXPECT_FALSE(out[0].ready().ready());
  EXPECT_THAT(devices.fetch(0, out[0]), ElementsAre(11, 22));
  EXPECT_EQ(sim.now().time_since_epoch(), 5ms);
}

TEST(DeviceActorTest, LaunchLimitHoldsTheNextLaunchBack) {
  Simulation sim(2);
  SimDevices devices(sim, {}, {.launches = 2});
  const Executable program = devices.program(add(10ms));
  const Buffer a = devices.put(0, {1, 2});
  std::vector<Future<Buffers>> results;
  for (int i = 0; i < 5; ++i) results.push_back(devices[0].execute(program, {a, a}));

  sim.run_until_idle();
  EXPECT_EQ(devices[0].stats().launches_in_flight, 2);
  EXPECT_EQ(devices[0].stats().queued, 3u);
  EXPECT_TRUE(results[1].ready());
  EXPECT_FALSE(results[2].ready());

  sim.run_for(10ms);
  EXPECT_TRUE(results[2].ready());
  EXPECT_FALSE(results[3].ready());
  for (const Future<Buffers>& result : results) EXPECT_TRUE(sim.run(result).has_value());
}

TEST(DeviceActorTest, ByteLimitHoldsPutsBackAndIsNeverExceeded) {
  const std::vector<float> values(10);  // 40 bytes; read until the transfers end
  Simulation sim(3);
  SimDevices devices(sim, {.transfer_latency = 1ms}, {.bytes = 100});
  std::vector<Future<Buffer>> puts;
  for (int i = 0; i < 7; ++i) {
    puts.push_back(devices[0].put({.data = values.data(), .shape = Shape(DType::kF32, {10})}));
  }
  for (const Future<Buffer>& put : puts) ASSERT_TRUE(sim.run(put).has_value());
  EXPECT_EQ(devices[0].stats().peak_bytes_in_flight, 80u);
}

TEST(DeviceActorTest, OperationBeyondTheByteLimitRunsAlone) {
  Simulation sim(4);
  SimDevices devices(sim, {}, {.bytes = 8});
  EXPECT_THAT(devices.fetch(0, devices.put(0, {1, 2, 3, 4})), ElementsAre(1, 2, 3, 4));
}

TEST(DeviceActorTest, LaunchTakesAFutureBufferAndIsOvertakenWhileItWaits) {
  Simulation sim(5);
  SimDevices devices(sim);
  const Executable program = devices.program(add(1ms));
  const Buffer a = devices.put(0, {1, 2});
  Promise<Buffer> later;
  const Future<Buffers> waits = devices[0].execute(program, {a, later.future()});
  const Future<Buffers> overtakes = devices[0].execute(program, {a, a});
  sim.run_until_idle();
  EXPECT_FALSE(waits.ready());
  EXPECT_TRUE(overtakes.ready());

  later.set(devices.put(0, {5, 6}));
  EXPECT_THAT(devices.fetch(0, (*sim.run(waits))[0]), ElementsAre(6, 8));
}

TEST(DeviceActorTest, FailedArgumentSkipsTheLaunchAndIsItsResult) {
  Simulation sim(6);
  SimDevices devices(sim);
  const Executable program = devices.program(add(1ms));
  const Buffer a = devices.put(0, {1, 2});
  Promise<Buffer> early;
  Promise<Buffer> never;
  const Future<Buffers> result = devices[0].execute(program, {early.future(), never.future()});
  early.set_error(Error(ErrorCode::kDataLoss, "no such row"));

  EXPECT_EQ(code_of(sim.run(result)), ErrorCode::kDataLoss);
  never.set(a);
  EXPECT_EQ(code_of(sim.run(devices[0].execute(
                program, {a, Future<Buffer>(Error(ErrorCode::kDataLoss, "x"))}))),
            ErrorCode::kDataLoss);
  EXPECT_THAT(names_begun(devices.client(), DeviceId{0}), ElementsAre());
}

TEST(DeviceActorTest, WrongCallsFailWithWhatIsWrong) {
  Simulation sim(7);
  SimDevices devices(sim, {.devices = 2});
  const Executable program = devices.program(add(1ms));
  const Buffer a = devices.put(0, {1, 2});
  const Buffer elsewhere = devices.put(1, {1, 2});
  EXPECT_THAT(sim.run(devices[0].execute(program, {a})).error().message(),
              HasSubstr("takes 2 arguments, not 1"));
  EXPECT_THAT(sim.run(devices[0].execute(program, {a, Buffer()})).error().message(),
              HasSubstr("argument 1 of add is an empty Buffer"));
  EXPECT_THAT(sim.run(devices[0].execute(program, {a, elsewhere})).error().message(),
              HasSubstr("argument 1 of add, a tensor<2xf32>, is on device 1"));
  EXPECT_EQ(code_of(sim.run(Device().fetch(a))), ErrorCode::kInvalidArgument);
}

TEST(DeviceActorTest, StopTakesAWaitingLaunchOutOfTheQueueAtOnce) {
  Simulation sim(8);
  SimDevices devices(sim, {}, {.launches = 1});
  const Executable program = devices.program(add(10ms));
  const Buffer a = devices.put(0, {1, 2});
  const Future<Buffers> first = devices[0].execute(program, {a, a});
  std::stop_source stop;
  const Future<Buffers> second =
      devices[0].execute(program, {a, a}, {.call = {.stop = stop.get_token()}});
  sim.run_until_idle();

  stop.request_stop();

  EXPECT_TRUE(second.ready());
  EXPECT_EQ(code_of(second.result()), ErrorCode::kCancelled);
  sim.run_until_idle();
  EXPECT_EQ(devices[0].stats().queued, 0u);
  EXPECT_TRUE(first.ready());
  EXPECT_EQ(
      code_of(sim.run(devices[0].execute(program, {a, a}, {.call = {.stop = stop.get_token()}}))),
      ErrorCode::kCancelled);
}

TEST(DeviceActorTest, DeadlineTakesAWaitingLaunchOutOfTheQueue) {
  Simulation sim(9);
  SimDevices devices(sim, {}, {.launches = 1});
  const Executable program = devices.program(add(10ms));
  const Buffer a = devices.put(0, {1, 2});
  const Future<Buffers> first = devices[0].execute(program, {a, a});
  const Future<Buffers> late =
      devices[0].execute(program, {a, a}, {.call = {.deadline = sim.now() + 3ms}});
  const Future<Buffers> in_time =
      devices[0].execute(program, {a, a}, {.call = {.deadline = sim.now() + 30ms}});

  const Result<Buffers> result = sim.run(late);

  EXPECT_EQ(code_of(result), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(result.error().message(), HasSubstr("the launch of add"));
  EXPECT_EQ(sim.now().time_since_epoch(), 3ms);
  EXPECT_TRUE(sim.run(in_time).has_value());
  EXPECT_EQ(sim.now().time_since_epoch(), 10ms);
}

TEST(DeviceActorTest, DeadlineOrStopCutsOffWhatARunningProgramHasNotWritten) {
  Simulation sim(16);
  SimDevices devices(sim);
  const Buffer a = devices.put(0, {1, 2});
  sim::SimProgram slow = add(10ms);
  slow.outputs.push_back(slow.outputs[0]);
  slow.written_at = {2ms, 8ms};
  slow.compute = {};
  const Executable program = devices.program(slow);
  std::stop_source stop;
  for (const bool by_deadline : {true, false}) {
    SCOPED_TRACE(by_deadline);
    const TimePoint begin = sim.now();
    const CallOptions call =
        by_deadline ? CallOptions{.deadline = begin + 5ms} : CallOptions{.stop = stop.get_token()};
    const Buffers out = sim.run(devices[0].execute(program, {a, a}, {.call = call})).value();
    sim.run_for(5ms);
    if (!by_deadline) stop.request_stop();

    EXPECT_TRUE(sim.run(out[0].ready()).has_value());
    const Result<void> cut = sim.run(out[1].ready());

    EXPECT_EQ(code_of(cut), by_deadline ? ErrorCode::kDeadlineExceeded : ErrorCode::kCancelled);
    EXPECT_THAT(cut.error().message(), HasSubstr("add was stopped"));
    EXPECT_EQ(sim.now() - begin, 8ms) << "it ends where it would have written more";
  }
}

// A program over two devices that end when the test says so.
class TwoEnds final : public testing::StubExecutable {
 public:
  explicit TwoEnds(Client& client) : StubExecutable(client, "two_ends", 2) {}
  Status launch(const LaunchArguments& call, std::span<LaunchResult> results) override {
    stop = call.stop;
    for (std::size_t d = 0; d < 2; ++d) results[d].done = done[d].future();
    return {};
  }

  std::stop_token stop;
  Promise<void> done[2];
};

TEST(DeviceActorTest, DeadlineOfALaunchOverDevicesHoldsUntilTheLastHasEnded) {
  Simulation sim(17);
  SimDevices devices(sim, {.devices = 2});
  const std::span<const Argument> none[] = {{}, {}};
  for (const int last : {0, 1}) {
    SCOPED_TRACE(last);
    const auto late = make_ref<TwoEnds>(devices.client());
    ASSERT_TRUE(sim.run(launch_spanning(devices.all(), Executable(late), none, {},
                                        {.call = {.deadline = sim.now() + 5ms}})));
    late->done[1 - last].set_value();
    sim.run_for(4ms);
    EXPECT_FALSE(late->stop.stop_requested());
    sim.run_for(1ms);
    EXPECT_TRUE(late->stop.stop_requested());
    late->done[last].set_value();
    sim.run_until_idle();

    const auto in_time = make_ref<TwoEnds>(devices.client());
    ASSERT_TRUE(sim.run(launch_spanning(devices.all(), Executable(in_time), none, {},
                                        {.call = {.deadline = sim.now() + 5ms}})));
    for (Promise<void>& done : in_time->done) done.set_value();
    sim.run_for(6ms);
    EXPECT_FALSE(in_time->stop.stop_requested());
  }
}

TEST(DeviceActorTest, StoppedFetchEndsAtOnceAndItsMemoryCountsAsAbandoned) {
  Simulation sim(10);
  SimDevices devices(sim, {.transfer_latency = 10ms});
  const Buffer a = devices.put(0, {1, 2});
  std::stop_source stop;
  const Future<HostArray> fetch = devices[0].fetch(a, {.stop = stop.get_token()});
  sim.run_for(1ms);

  stop.request_stop();
  ASSERT_TRUE(fetch.ready());
  EXPECT_EQ(code_of(fetch.result()), ErrorCode::kCancelled);
  sim.run_until_idle();
  EXPECT_EQ(devices[0].stats().abandoned_bytes, 8u);

  sim.run_for(10ms);
  EXPECT_EQ(devices[0].stats().abandoned_bytes, 0u);
}

TEST(DeviceActorTest, CloseRefusesCancelsAndWaitsForWhatIsInFlight) {
  Simulation sim(11);
  SimDevices devices(sim, {}, {.launches = 1});
  const Executable program = devices.program(add(10ms));
  const Buffer a = devices.put(0, {1, 2});
  const Future<Buffers> running = devices[0].execute(program, {a, a});
  const Future<Buffers> queued = devices[0].execute(program, {a, a});
  sim.run_until_idle();

  const Future<void> closed = devices[0].close();
  sim.run_until_idle();
  EXPECT_EQ(code_of(queued.result()), ErrorCode::kUnavailable);
  EXPECT_FALSE(closed.ready());
  const Result<Buffer> refused = sim.run(devices[0].copy_from(a));
  EXPECT_EQ(refused.error().message(), "device 0 (sim) is closed");

  ASSERT_TRUE(sim.run(closed).has_value());
  EXPECT_EQ(sim.now().time_since_epoch(), 10ms);
  EXPECT_TRUE((*running.result())[0].ready().ready());
}

TEST(DeviceActorTest, FailedDeviceRefusesEverythingWithItsCause) {
  Simulation sim(12);
  SimDevices devices(sim, {.devices = 2}, {.launches = 1});
  const Executable program = devices.program(add(10ms));
  const Buffer a = devices.put(0, {1, 2});
  devices.client().fail_device(DeviceId{0}, sim.now() + 5ms, "fell off the bus");
  const Buffers running = sim.run(devices[0].execute(program, {a, a})).value();
  const Future<Buffers> queued = devices[0].execute(program, {a, a});

  const Result<void> failed = sim.run(devices[0].failed());

  EXPECT_EQ(sim.now().time_since_epoch(), 5ms);
  EXPECT_THAT(failed.error().message(), HasSubstr("device 0 (sim) has failed: "));
  EXPECT_THAT(failed.error().message(), HasSubstr("fell off the bus"));
  EXPECT_EQ(failed.error().detail<DeviceFailure>()->device, DeviceId{0});
  for (const Result<Buffers>& refused :
       {sim.run(queued), sim.run(devices[0].execute(program, {a, a}))}) {
    EXPECT_EQ(code_of(refused), ErrorCode::kUnavailable);
    EXPECT_EQ(refused.error().message(), failed.error().message());
  }
  EXPECT_EQ(code_of(sim.run(running[0].ready())), ErrorCode::kUnavailable);
  EXPECT_THAT(devices.fetch(1, devices.put(1, {3})), ElementsAre(3));
}

TEST(DeviceActorTest, CopyGoesToADeviceOfAnotherClientThroughTheHost) {
  Simulation sim(13);
  SimDevices here(sim, {.transfer_latency = 2ms});
  SimDevices there(sim, {.transfer_latency = 3ms});
  const Buffer a = here.put(0, {7, 8});
  const TimePoint begin = sim.now();

  const Buffer copy = sim.run(there[0].copy_from(a)).value();

  EXPECT_THAT(there.fetch(0, copy), ElementsAre(7, 8));
  EXPECT_EQ(&copy.body()->client(), &there.client());
  EXPECT_EQ(sim.now() - begin, 2ms + 3ms + 3ms);
}

TEST(DeviceActorTest, CopyWithinAClientGoesFromDeviceToDevice) {
  Simulation sim(14);
  SimDevices devices(sim, {.devices = 2});
  const Buffer copy = sim.run(devices[1].copy_from(devices.put(0, {7, 8}))).value();
  EXPECT_EQ(copy.device(), DeviceId{1});
  EXPECT_THAT(devices.fetch(1, copy), ElementsAre(7, 8));
  EXPECT_EQ(devices[1].stats().copies, 1u);
}

TEST(DeviceActorTest, PutsOverlapWithExecution) {
  Simulation sim(15);
  SimDevices devices(sim, {.transfer_latency = 8ms});
  const Executable program = devices.program(add(10ms));
  const Buffer a = devices.put(0, {1, 2});
  const TimePoint begin = sim.now();
  const Buffers out = sim.run(devices[0].execute(program, {a, a})).value();
  const Buffer next = devices.put(0, {3, 4});
  EXPECT_EQ(sim.now() - begin, 8ms);
  ASSERT_TRUE(sim.run(out[0].ready()).has_value());
  EXPECT_EQ(sim.now() - begin, 10ms);
}

TEST(DeviceActorTest, LaunchesThatSpanDevicesBeginTogetherInOrderOfSubmission) {
  for_each_seed(20, [](Simulation& sim) {
    SimDevices devices(sim, {.devices = 2});
    sim::SimProgram both = add(3ms);
    both.devices = 2;
    const Executable program = devices.program(both);
    const Buffer a = devices.put(0, {1, 2});
    const Buffer b = devices.put(1, {3, 4});
    Promise<Buffer> later;
    const Argument first0[] = {a, later.future()};
    const Argument second0[] = {a, a};
    const Argument on1[] = {b, b};
    const std::span<const Argument> first[] = {first0, on1};
    const std::span<const Argument> second[] = {second0, on1};
    const Future<Buffers> one = launch_spanning(devices.all(), program, first);
    const Future<Buffers> two = launch_spanning(devices.all(), program, second);
    sim.run_until_idle();
    EXPECT_FALSE(two.ready()) << "the second waits for the first, although its inputs are there";

    later.set(a);
    const Buffers out = sim.run(two).value();
    ASSERT_EQ(out.size(), 2u);
    EXPECT_TRUE(one.ready());
    EXPECT_THAT(devices.fetch(1, out[1]), ElementsAre(6, 8));
    EXPECT_EQ(out[1].device(), DeviceId{1});
  });
}

TEST(DeviceActorTest, SpanningLaunchThatFailsOnOneDeviceLeavesTheQueuesOfAll) {
  Simulation sim(16);
  SimDevices devices(sim, {.devices = 2});
  sim::SimProgram both = add(3ms);
  both.devices = 2;
  const Executable program = devices.program(both);
  const Executable single = devices.program(elementwise("one", 1, 2, 1ms, &sum));
  const Buffer a = devices.put(0, {1, 2});
  const Buffer b = devices.put(1, {3, 4});
  Promise<Buffer> never;
  const Argument on0[] = {a, never.future()};
  const Argument on1[] = {b, b};
  const std::span<const Argument> arguments[] = {on0, on1};
  const Future<Buffers> spanning = launch_spanning(devices.all(), program, arguments);
  sim.run_until_idle();
  EXPECT_EQ(devices[1].stats().queued, 1u);

  const Future<void> closed = devices[0].close();

  EXPECT_EQ(code_of(sim.run(spanning)), ErrorCode::kUnavailable);
  EXPECT_TRUE(sim.run(closed).has_value());
  EXPECT_TRUE(sim.run(devices[1].execute(single, {b})).has_value());
  EXPECT_EQ(devices[1].stats().queued, 0u);
  never.set(a);
}

TEST(DeviceActorTest, SpanningLaunchChecksItsDevices) {
  Simulation sim(17);
  SimDevices devices(sim, {.devices = 2});
  SimDevices others(sim);
  const Executable program = devices.program(add(1ms));
  const std::span<const Argument> none[] = {{}, {}};
  const Device twice[] = {devices[0], devices[0]};
  const Device mixed[] = {devices[0], others[0]};
  EXPECT_THAT(sim.run(launch_spanning(twice, program, none)).error().message(),
              HasSubstr("device 0 twice"));
  EXPECT_THAT(sim.run(launch_spanning(mixed, program, none)).error().message(),
              HasSubstr("two clients"));
  EXPECT_EQ(code_of(sim.run(launch_spanning(devices.all(), program, {none, 1}))),
            ErrorCode::kInvalidArgument);
  const LaunchOrder wrong{.sequence = 5};
  EXPECT_EQ(code_of(sim.run(launch_spanning(devices.all(), program, none, wrong))),
            ErrorCode::kFailedPrecondition);
}

// Spanning launches over random subsets of four devices, single launches between them, arguments
// that come in any order and results that are other launches' arguments: everything completes, and
// launches that span devices are in the same order wherever two meet.
// OP-2
TEST(DeviceActorTest, CrossedSubmissionsAlwaysComplete) {
  for_each_seed(500, [](Simulation& sim) {
    SimDevices devices(sim, {.devices = 4, .in_order = sim.chance(0.5)},
                       {.launches = 1 + static_cast<int>(sim.below(3)),
                        .bytes = sim.chance(0.5) ? 16u : 1u << 20});
    std::vector<Executable> spans;
    for (int n = 1; n <= 4; ++n) {
      sim::SimProgram program = elementwise("span" + std::to_string(n), 1, 2, 1ms, &sum);
      program.devices = n;
      spans.push_back(devices.program(program));
    }
    std::vector<Buffer> seeds;
    for (std::size_t d = 0; d < 4; ++d) seeds.push_back(devices.put(d, {1, 2}));
    std::vector<std::pair<Promise<Buffer>, std::size_t>> later;
    std::vector<Future<Buffers>> results;
    for (int launch = 0; launch < 24; ++launch) {
      std::vector<std::size_t> order = {0, 1, 2, 3};
      std::shuffle(order.begin(), order.end(), sim.random());
      order.resize(1 + sim.below(4));
      std::vector<Device> on;
      std::vector<Argument> arguments;
      for (const std::size_t d : order) {
        on.push_back(devices[d]);
        if (sim.chance(0.4)) {
          arguments.emplace_back(later.emplace_back(Promise<Buffer>(), d).first.future());
        } else {
          arguments.emplace_back(seeds[d]);
        }
      }
      std::vector<std::span<const Argument>> lists;
      for (const Argument& argument : arguments) lists.emplace_back(&argument, 1);
      results.push_back(launch_spanning(on, spans[on.size() - 1], lists));
      if (sim.chance(0.3)) sim.run_until_idle();
    }
    std::shuffle(later.begin(), later.end(), sim.random());
    for (auto& [promise, device] : later) {
      promise.set(seeds[device]);
      if (sim.chance(0.3)) sim.run_for(1ms);
    }
    for (const Future<Buffers>& result : results) {
      const Result<Buffers> outputs = sim.run(result);
      ASSERT_TRUE(outputs.has_value());
      for (const Buffer& output : *outputs) ASSERT_TRUE(sim.run(output.ready()).has_value());
    }
  });
}

// OP-1
TEST(DeviceActorTest, AnyStopDeadlineFaultOrCloseEndsEveryCall) {
  for_each_seed(300, [](Simulation& sim) {
    SimDevices devices(sim, {.devices = 3, .transfer_latency = 300us},
                       {.launches = 1 + static_cast<int>(sim.below(2)), .bytes = 64});
    const Executable single = devices.program(elementwise("single", 1, 2, 1ms, &sum));
    sim::SimProgram all = elementwise("all", 1, 2, 1ms, &sum);
    all.devices = 3;
    const Executable spanning = devices.program(all);
    std::vector<Buffer> seeds;
    for (std::size_t d = 0; d < 3; ++d) seeds.push_back(devices.put(d, {1, 2}));
    const DeviceId victim{static_cast<int>(sim.below(3))};
    const TimePoint when = sim.now() + Duration(sim.below(8'000'000));
    switch (sim.below(4)) {
      case 0:
        devices.client().fail_device(victim, when, "scripted");
        break;
      case 1:
        devices.client().fail_launch(victim, 1 + sim.below(4), Error(ErrorCode::kInternal, "x"));
        break;
      case 2:
        devices.client().stall(victim, when, 3ms);
        break;
      default:
        devices.client().slow(victim, when, 4);
        break;
    }
    std::stop_source stop;
    std::vector<Ref<AsyncValue>> all_results;
    for (int i = 0; i < 20; ++i) {
      const std::size_t d = sim.below(3);
      CallOptions call;
      if (sim.chance(0.3)) call.stop = stop.get_token();
      if (sim.chance(0.3)) call.deadline = sim.now() + Duration(sim.below(5'000'000));
      const Argument one[] = {seeds[0], seeds[1], seeds[2]};
      const std::span<const Argument> lists[] = {{&one[0], 1}, {&one[1], 1}, {&one[2], 1}};
      switch (sim.below(4)) {
        case 0:
          all_results.emplace_back(devices[d].fetch(seeds[d], call).cell());
          break;
        case 1:
          all_results.emplace_back(
              launch_spanning(devices.all(), spanning, lists, {}, {.call = call}).cell());
          break;
        case 2:
          all_results.emplace_back(devices[d].copy_from(seeds[(d + 1) % 3], call).cell());
          break;
        default:
          all_results.emplace_back(devices[d].execute(single, {seeds[d]}, {.call = call}).cell());
          break;
      }
      if (sim.chance(0.2)) sim.run_for(Duration(sim.below(1'000'000)));
      if (sim.chance(0.05)) stop.request_stop();
      if (sim.chance(0.02)) static_cast<void>(devices[d].close());
    }
    for (const Ref<AsyncValue>& result : all_results) {
      ASSERT_TRUE(sim.run_until_complete(*result));
      static_cast<void>(result->error());
    }
  });
}

// OP-3
TEST(DeviceActorTest, IdleLaunchAllocatesNothing) {
  if (!testing::kAllocationsCountable)
    GTEST_SKIP() << "sanitizers see every pooled block as an allocation";
  constexpr std::size_t kArrays = 500;  // as the step of a network of some depth
  Simulation sim(18);
  SimDevices devices(sim, {.record_events = false});
  sim::SimProgram program{.name = "wide",
                          .inputs = std::vector(kArrays, Shape(DType::kF32, {2})),
                          .outputs = std::vector(kArrays, Shape(DType::kF32, {2}))};
  const Executable executable = devices.program(program);
  const std::vector<Buffer> arguments(kArrays, devices.put(0, {1, 2}));
  auto launch = [&] {
    const Future<Buffers> result =
        devices[0].execute(executable, std::span<const Buffer>(arguments));
    sim.run_until_idle();
    return result.ready() && result.result().has_value();
  };
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(launch());

  std::int64_t allocations = 0;
  {
    const testing::AllocationCount count;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(launch());
    allocations = count.count();
  }
  EXPECT_EQ(allocations, 0);
}

TEST(DeviceActorTest, IdleActorRunsInlineWhereAllowed) {
  Simulation sim(19);
  sim::SimClient client({.timers = &sim.timers()});
  client.add_program(add(0ms));
  {
    const std::vector<Device> devices =
        make_devices(client, {.environment = sim.environment(), .inline_when_idle = true});
    const float values[] = {1, 2};
    const Future<Buffer> put = devices[0].put({.data = values, .shape = Shape(DType::kF32, {2})});
    ASSERT_TRUE(put.ready());
    const Executable program = client.compile(Program::from_text("sim:add"), {}).value();
    const Buffer& a = *put.result();
    EXPECT_TRUE(devices[0].execute(program, {a, a}).ready());
    EXPECT_TRUE(sim.run(devices[0].close()).has_value());
  }
  EXPECT_TRUE(sim.run(client.close()).has_value());
  sim.run_until_idle();
}

}  // namespace
}  // namespace millrace::devices
