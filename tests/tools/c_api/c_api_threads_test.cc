// Many operations, from several threads at once.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/tools/c_api/rig.h"

namespace millrace::testing {
namespace {

// One sum through the device, with room for what its operations borrow, and how often each of them
// was told of: put, put, execute, fetch.
struct Chain {
  float x[3], y[3], sum[3] = {};
  std::atomic<int> ends[4] = {};
};

void start(Rig& rig, millrace_executable add, Chain& chain) {
  const std::int64_t dims[] = {3};
  millrace_buffer inputs[2] = {}, output = 0;
  millrace_operation operation = 0;
  float* const values[] = {chain.x, chain.y};
  for (int i = 0; i < 2; ++i) {
    const millrace_put_args put = {sizeof put, values[i],    12, dims,
                                   1,          MILLRACE_F32, 0,  &chain.ends[i]};
    EXPECT_EQ(told(millrace_put(rig.runtime, &put, &inputs[i], &operation)).message, "");
  }
  const millrace_execute_args execute = {sizeof execute, add, inputs, 2, 1, 0, &chain.ends[2]};
  EXPECT_EQ(told(millrace_execute(rig.runtime, &execute, &output, &operation)).message, "");
  const millrace_fetch_args fetch = {sizeof fetch, output, chain.sum, 12, &chain.ends[3]};
  EXPECT_EQ(told(millrace_fetch(rig.runtime, &fetch, &operation)).message, "");
  for (const millrace_buffer buffer : {inputs[0], inputs[1], output})
    EXPECT_EQ(told(millrace_buffer_destroy(rig.runtime, buffer)).message, "");
}

std::unique_ptr<Chain> make_chain(int number) {
  auto chain = std::make_unique<Chain>();
  for (int i = 0; i < 3; ++i) {
    chain->x[i] = static_cast<float>(number);
    chain->y[i] = static_cast<float>(i);
  }
  return chain;
}

void expect_done(const std::vector<std::unique_ptr<Chain>>& chains) {
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(chains[c]->sum[i], static_cast<float>(c) + i);
    for (const std::atomic<int>& end : chains[c]->ends) ASSERT_EQ(end.load(), 1);
  }
}

void take(const Finished& one) {
  EXPECT_EQ(one.error.message, "");
  ++*static_cast<std::atomic<int>*>(one.user_data);
}

TEST(CApiManyTest, FourThousandInFlightFinishOnceEach) {
  Rig rig;
  const millrace_executable add = rig.compiled(kAdd);
  std::vector<std::unique_ptr<Chain>> chains;
  for (int i = 0; i < 1000; ++i) {
    chains.push_back(make_chain(i));
    start(rig, add, *chains.back());
  }
  for (int i = 0; i < 4000; ++i) take(rig.wait_next());
  EXPECT_EQ(rig.next().operation, 0U);
  expect_done(chains);
}

TEST(CApiThreadsStressTest, StartedAndTakenByManyThreadsAtOnce) {
  constexpr int kStarters = 4, kTakers = 2, kEach = 250;
  Chain last = {};
  Rig rig(2);
  const millrace_executable add = rig.compiled(kAdd);
  std::vector<std::unique_ptr<Chain>> chains;
  for (int i = 0; i < kStarters * kEach; ++i) chains.push_back(make_chain(i));
  std::atomic<int> left{kStarters * kEach * 4};
  std::vector<std::thread> threads;
  for (int s = 0; s < kStarters; ++s) {
    threads.emplace_back([&, s] {
      for (int i = 0; i < kEach; ++i)
        start(rig, add, *chains[static_cast<std::size_t>(s * kEach + i)]);
    });
  }
  for (int t = 0; t < kTakers; ++t) {
    threads.emplace_back([&] {
      while (left > 0) {
        EXPECT_TRUE(rig.readable(300'000));
        const Finished one = rig.next();
        if (left == 0) return;             // all that is left is what wakes
        if (one.operation == 0) continue;  // another one has taken it
        take(one);
        if (--left == 0) start(rig, add, last);  // wakes those who still wait
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left.load(), 0);
  expect_done(chains);
}

TEST(CApiThreadsStressTest, TwoRuntimesDoNotKnowOfEachOther) {
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([r] {
      Rig rig;
      const millrace_executable add = rig.compiled(kAdd);
      std::vector<std::unique_ptr<Chain>> chains;
      for (int i = 0; i < 200; ++i) {
        chains.push_back(make_chain(i));
        start(rig, add, *chains.back());
        if (r == 1) {
          for (int k = 0; k < 4; ++k) take(rig.wait_next());
        }
      }
      for (int k = 0; k < (r == 1 ? 0 : 800); ++k) take(rig.wait_next());
      expect_done(chains);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace millrace::testing
