// Real sockets and threads, since a JobThread has both.
#include "millrace/core/net/job_thread.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "tests/support/job_host_thread.h"
#include "tests/support/temp_folder.h"

namespace millrace::net {
namespace {

using testing::JobHostThread;

void meet(const std::string& address, const std::optional<Secret>& secret) {
  JobHostThread host(address, {.job = "night", .ranks = 4, .secret = secret});
  std::vector<std::unique_ptr<JobThread>> jobs;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    jobs.push_back(JobThread::create().value());
    ASSERT_TRUE(wait_blocking(jobs.back()->join({.job = "night",
                                                 .address = host.address(),
                                                 .secret = secret,
                                                 .rank = rank,
                                                 .ranks = 4}))
                    .has_value());
  }
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&jobs, rank] {
      KeyValueStore& store = jobs[rank]->job().store();
      EXPECT_TRUE(wait_blocking(store.put(std::to_string(rank), "here")).has_value());
      for (int other = 0; other < 4; ++other)
        EXPECT_EQ(wait_blocking(store.get(std::to_string(other))).value(), "here");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(wait_blocking(jobs[3]->close()).has_value());
  const JobFailure failure{.member = {.rank = 3, .host = "h", .pid = 1},
                           .reason = FailureReason::kLost};
  host.run([&] { host.host().fail(failure); });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Result<void> heard = wait_blocking(jobs[rank]->job().failure());
    ASSERT_FALSE(heard.has_value());
    EXPECT_EQ(*heard.error().detail<JobFailure>(), failure);
  }
  EXPECT_TRUE(wait_blocking(jobs[3]->job().failure()).has_value());
}

TEST(JobThreadTest, RanksMeetOverAUnixSocket) {
  const testing::TempFolder folder;
  meet("unix:" + folder.file("store"), std::nullopt);
}

TEST(JobThreadTest, RanksMeetOverTcp) {
  Secret secret;
  draw_random(secret);
  meet("tcp:127.0.0.1:0", secret);
}

TEST(JobThreadTest, EndsWhereItsJobIsNotThere) {
  const testing::TempFolder folder;
  const auto job = JobThread::create().value();
  const auto joined = wait_blocking(job->join({.address = "unix:" + folder.file("none")}));
  ASSERT_FALSE(joined.has_value());
  EXPECT_EQ(joined.error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace millrace::net
