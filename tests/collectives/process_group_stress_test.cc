// Collectives on real threads and real time, one thread or more per rank: the races between calls,
// failures, stops and closes that one thread cannot show. Run it under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/sim/sim_client.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::DeviceId;
using devices::DType;
using devices::HostArray;
using devices::Shape;
using std::chrono::microseconds;

#if defined(MILLRACE_SANITIZED)
constexpr int kScale = 4;
#else
constexpr int kScale = 1;
#endif
constexpr int kRanks = 4;
constexpr int kRunsOfAFault = 40 / kScale;

Environment environment_of(EventLoop& loop, Executor& executor) {
  return {&steady_clock(), &loop.timers(), &executor, &executor};
}

// Devices whose transfers take real time, a group over all of them, threads for their actors.
class Group {
 public:
  Group() {
    devices_ = devices::make_devices(client_, {.environment = environment()});
    members_ = ProcessGroup::create(system_, "g", devices_).value();
  }
  // Everything must close, whatever was done to it, and leave no timer.
  ~Group() {
    EXPECT_TRUE(wait_blocking(members_[0].close()));
    for (const Device& device : devices_) EXPECT_TRUE(wait_blocking(device.close()));
    EXPECT_TRUE(wait_blocking(system_.close()));
    EXPECT_TRUE(wait_blocking(client_.close()));
    devices_.clear();
    EXPECT_TRUE(wait_blocking(executor_->close()));
    EXPECT_EQ(loop_.loop().timers().pending(), 0u);
    EXPECT_TRUE(wait_blocking(loop_.close()));
    EXPECT_EQ(client_.live_buffers(), 0);
  }

  // Calls body(member) on a thread of its own for every rank.
  void on_every_rank(const std::function<void(const ProcessGroup&)>& body) {
    std::vector<std::thread> threads;
    for (const ProcessGroup& member : members_) {
      threads.emplace_back([&body, &member] { body(member); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  Environment environment() { return environment_of(loop_.loop(), *executor_); }

  EventLoopThread loop_{create_uv_event_loop().value(), "loop"};
  std::unique_ptr<PoolExecutor> executor_ = make_executor(ExecutorBackend::kThreads, 4, "actors");
  devices::sim::SimClient client_{{.timers = &loop_.loop().timers(),
                                   .devices = kRanks,
                                   .transfer_latency = microseconds(5),
                                   .record_events = false}};
  actors::ActorSystem system_{environment()};
  std::vector<Device> devices_;
  std::vector<ProcessGroup> members_;
};

Future<Buffer> put(const Device& device, float value) {
  HostArray array = HostArray::make(Shape(DType::kF32, {2}));
  const float values[] = {value, -value};
  std::memcpy(array.mutable_bytes().data(), values, sizeof values);
  return device.put({array.bytes().data(), array.shape(), {}, array.owner()});
}
std::vector<float> get(const ProcessGroup& member, const Future<Buffers>& future) {
  const Result<Buffers> buffers = wait_blocking(future);
  if (!buffers) {
    ADD_FAILURE() << buffers.error().to_string();
    return {};
  }
  const Result<HostArray> array = wait_blocking(member.device().fetch((*buffers)[0]));
  if (!array) {
    ADD_FAILURE() << array.error().to_string();
    return {};
  }
  return {array->as<float>().begin(), array->as<float>().end()};
}

// One round of every collective, none waited for before the others are called.
struct Round {
  Round(const ProcessGroup& member, int round) : Round(member, round, value_of(member, round)) {}
  static float value_of(const ProcessGroup& member, int round) {
    return static_cast<float>(round * 10 + index(member.rank()));
  }
  Round(const ProcessGroup& member, int round, float value)
      : mine(wait_blocking(put(member.device(), value)).value()),
        reduced(member.all_reduce({mine}, ReduceOp::kMax)),
        gathered(member.all_gather({mine})),
        sent(member.broadcast({mine}, Rank{round % kRanks})),
        met(member.barrier()) {}

  Buffer mine;
  Future<Buffers> reduced;
  Future<Buffers> gathered;
  Future<Buffers> sent;
  Future<void> met;
};

TEST(ProcessGroupStressTest, EveryRankGetsTheRightResultOfEveryCall) {
  constexpr int kRounds = 200 / kScale;
  Group group;
  group.on_every_rank([](const ProcessGroup& member) {
    std::optional<Round> before;
    for (int round = 0; round <= kRounds && !::testing::Test::HasFailure(); ++round) {
      std::optional<Round> now;
      if (round < kRounds) now.emplace(member, round);
      if (before) {
        const float base = static_cast<float>((round - 1) * 10);
        const float root = base + static_cast<float>((round - 1) % kRanks);
        EXPECT_EQ(get(member, before->reduced), (std::vector{base + 3, -base}));
        EXPECT_EQ(get(member, before->gathered),
                  (std::vector{base, -base, base + 1, -base - 1, base + 2, -base - 2, base + 3,
                               -base - 3}));
        EXPECT_EQ(get(member, before->sent), (std::vector{root, -root}));
        EXPECT_TRUE(wait_blocking(before->met));
      }
      before = std::move(now);
    }
  });
}

// Meetings are in no order with each other: each tag has a thread of its own on every rank.
TEST(ProcessGroupStressTest, MeetingsOfManyTagsAtOnceEachGiveTheirPayloads) {
  constexpr int kTags = 3;
  constexpr int kMeetings = 300 / kScale;
  Group group;
  group.on_every_rank([](const ProcessGroup& member) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kTags; ++t) {
      threads.emplace_back([&member, t] {
        for (int i = 0; i < kMeetings; ++i) {
          const std::string payload = std::to_string(i) + " of ";
          const Result<Payloads> all = wait_blocking(member.rendezvous(
              "tag " + std::to_string(t), payload + std::to_string(index(member.rank()))));
          ASSERT_TRUE(all) << all.error().to_string();
          ASSERT_EQ((*all)->size(), static_cast<std::size_t>(kRanks));
          for (int r = 0; r < kRanks; ++r)
            ASSERT_EQ((**all)[static_cast<std::size_t>(r)], payload + std::to_string(r));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST(ProcessGroupStressTest, SubGroupsThatComeAndGoReduceAmongTheirOwnRanks) {
  constexpr int kRounds = 60 / kScale;
  Group group;
  group.on_every_rank([](const ProcessGroup& member) {
    const int rank = index(member.rank());
    const Buffer mine = wait_blocking(put(member.device(), static_cast<float>(rank))).value();
    for (int round = 0; round < kRounds; ++round) {
      const Result<ProcessGroup> part = wait_blocking(member.split((rank + round) % 2, -rank));
      ASSERT_TRUE(part) << part.error().to_string();
      ASSERT_EQ(part->rank(), Rank{rank < 2 ? 1 : 0});
      const float sum = rank % 2 == 0 ? 2 : 4;
      EXPECT_EQ(get(*part, part->all_reduce({mine}, ReduceOp::kSum)), (std::vector{sum, -sum}));
      EXPECT_TRUE(wait_blocking(part->barrier()));
      if (part->rank() == Rank{0}) {
        EXPECT_TRUE(wait_blocking(part->close()));
      }
    }
  });
}

// What a rank calls until the group has failed, and some more. Gives every error.
std::vector<Error> call_until_it_fails(const ProcessGroup& member,
                                       const std::function<void(int)>& before_round) {
  constexpr int kLater = 3;
  std::vector<Error> errors;
  int failed_rounds = 0;
  for (int round = 0; failed_rounds < kLater; ++round) {
    before_round(round);
    const std::size_t before = errors.size();
    const Result<Buffer> mine = wait_blocking(put(member.device(), 1));
    std::vector<Future<Buffers>> calls;
    Future<void> barrier = make_ready();
    if (mine) {
      const Buffers buffers({*mine});
      calls.push_back(member.all_reduce(buffers, ReduceOp::kSum));
      calls.push_back(member.all_gather(buffers));
      calls.push_back(member.broadcast(buffers, Rank{round % kRanks}));
      barrier = member.barrier();
    } else {
      errors.push_back(mine.error());  // the calls that the others wait for will not come
    }
    const Future<Payloads> meeting = member.rendezvous("round", "");
    for (const Future<Buffers>& call : calls) {
      if (const auto result = wait_blocking(call); !result) errors.push_back(result.error());
    }
    if (const auto met = wait_blocking(meeting); !met) errors.push_back(met.error());
    if (const auto met = wait_blocking(barrier); !met) errors.push_back(met.error());
    if (errors.size() != before) ++failed_rounds;
  }
  return errors;
}

bool is_failure_of(const Error& error, Rank rank) {
  if (error.code() != ErrorCode::kUnavailable) return false;
  if (const auto* culprits = error.detail<Culprits>()) {
    return culprits->kind == Culprits::Kind::kFailed && culprits->ranks == std::vector{rank};
  }
  const auto* failure = error.detail<devices::DeviceFailure>();
  return failure != nullptr && failure->device == DeviceId{index(rank)};
}

TEST(ProcessGroupStressTest, DeviceThatFailsEndsEveryCallOfEveryRankWithItsName) {
  for (int run = 0; run < kRunsOfAFault && !HasFailure(); ++run) {
    Group group;
    const Rank failing{run % kRanks};
    group.on_every_rank([&](const ProcessGroup& member) {
      const std::vector<Error> errors = call_until_it_fails(member, [&](int round) {
        if (round == 3 && member.rank() == Rank{1}) {
          group.client_.fail_device(DeviceId{index(failing)},
                                    steady_clock().now() + microseconds(run * 7), "scripted");
        }
      });
      for (const Error& error : errors) {
        EXPECT_TRUE(is_failure_of(error, failing)) << error.to_string();
      }
    });
  }
}

TEST(ProcessGroupStressTest, GroupThatClosesEndsEveryCallOfEveryRank) {
  for (int run = 0; run < kRunsOfAFault && !HasFailure(); ++run) {
    Group group;
    group.on_every_rank([&](const ProcessGroup& member) {
      const std::vector<Error> errors = call_until_it_fails(member, [&](int round) {
        if (round == 3 && index(member.rank()) <= run % 2) static_cast<void>(member.close());
      });
      for (const Error& error : errors) {
        EXPECT_TRUE(error.code() == ErrorCode::kCancelled ||
                    error.code() == ErrorCode::kUnavailable)
            << error.to_string();
      }
    });
  }
}

// Deadlines that some ranks miss and stops at any time: calls fail one by one, the group goes on.
TEST(ProcessGroupStressTest, StopsAndDeadlinesEndCallsAndNotTheGroup) {
  constexpr int kRounds = 150 / kScale;
  Group group;
  std::atomic<int> ended_early{0};
  const auto check = [&](const auto& result) {
    if (result) return;
    const Error& error = result.error();
    EXPECT_TRUE(error.code() == ErrorCode::kCancelled ||
                error.code() == ErrorCode::kDeadlineExceeded)
        << error.to_string();
    ended_early.fetch_add(1);
  };
  group.on_every_rank([&](const ProcessGroup& member) {
    std::mt19937 random(static_cast<unsigned>(index(member.rank())));
    const Buffer mine = wait_blocking(put(member.device(), 1)).value();
    for (int round = 0; round < kRounds; ++round) {
      std::stop_source stop;
      CollectiveOptions options;
      options.call.stop = stop.get_token();
      if (random() % 3 == 0)
        options.call.deadline = steady_clock().now() + microseconds(random() % 300);
      const Future<Buffers> reduced = member.all_reduce({mine}, ReduceOp::kSum, options);
      const Future<Payloads> meeting = member.rendezvous("round", "", {}, options.call);
      if (random() % 3 == 0) stop.request_stop();
      check(wait_blocking(reduced));
      check(wait_blocking(meeting));
    }
    const Future<Buffers> last = member.all_reduce({mine}, ReduceOp::kSum);
    EXPECT_EQ(get(member, last), (std::vector<float>{kRanks, -kRanks}));
  });
  EXPECT_GT(ended_early.load(), kRounds / 4);
}

}  // namespace
}  // namespace millrace::collectives
