// Real sockets, threads and files: rank 0's process is where others find the job.
#include "millrace/core/net/rank_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/net/job_thread.h"
#include "tests/support/temp_folder.h"

namespace millrace::net {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

// Ranks of a hosted job, all of this process.
class RankHostTest : public ::testing::Test {
 protected:
  ~RankHostTest() override {
    jobs.clear();
    EXPECT_TRUE(std::filesystem::is_empty(place.path())) << "something stayed behind";
  }
  JobOptions options(std::uint32_t rank) const {
    return {.job = "night",
            .address = "unix:" + folder + "/store",
            .folder = folder,
            .hosted = true,
            .rank = rank,
            .ranks = 3};
  }
  Future<void> join(const JobOptions& options) {
    jobs.push_back(JobThread::create().value());
    return jobs.back()->join(options);
  }

  const millrace::testing::TempFolder place;
  const std::string folder = place.file("millrace-00000000000000af");
  std::vector<std::unique_ptr<JobThread>> jobs;
};

// The others come first, and wait; rank 0 leaves first, and stays until they have gone.
TEST_F(RankHostTest, RanksMeetInAnyOrderAndLeaveInAnyOrder) {  // RH-3
  std::vector<Future<void>> joined;
  for (const std::uint32_t rank : {2u, 1u, 0u}) joined.push_back(join(options(rank)));
  EXPECT_TRUE(wait_blocking(when_all(joined)).has_value());
  EXPECT_TRUE(wait_blocking(jobs[0]->job().store().put("key", "here")).has_value());
  const Future<void> closed = jobs[2]->close();
  EXPECT_EQ(wait_blocking(jobs[1]->job().store().get("key")).value(), "here");
  EXPECT_TRUE(wait_blocking(jobs[0]->close()).has_value());
  EXPECT_FALSE(closed.ready());
  EXPECT_TRUE(wait_blocking(jobs[1]->close()).has_value());
  EXPECT_TRUE(wait_blocking(closed).has_value());
  for (const auto& job : jobs) EXPECT_TRUE(wait_blocking(job->job().failure()).has_value());
}

TEST_F(RankHostTest, RanksOfTheNextJobOfThatNameWaitForItsHost) {  // RH-1
  ASSERT_TRUE(wait_blocking(when_all(std::vector{join(options(0)), join(options(1))})));
  EXPECT_TRUE(wait_blocking(jobs[1]->close()).has_value());
  const Future<void> again = join(options(1));
  EXPECT_TRUE(wait_blocking(join(options(2))).has_value());
  EXPECT_TRUE(wait_blocking(jobs[3]->close()).has_value());
  EXPECT_TRUE(wait_blocking(jobs[0]->close()).has_value());
  EXPECT_FALSE(again.ready()) << "it has been in that job";
  EXPECT_TRUE(wait_blocking(join(options(0))).has_value());
  EXPECT_TRUE(wait_blocking(again).has_value());
  EXPECT_TRUE(wait_blocking(join(options(2))).has_value());
  for (const auto& job : jobs) job->close().ignore();
}

TEST_F(RankHostTest, RankWithoutAHostNamesRankZeroWhenPatienceEnds) {
  JobOptions impatient = options(1);
  impatient.patience = 50ms;
  const auto joined = wait_blocking(join(impatient));
  ASSERT_FALSE(joined.has_value());
  EXPECT_EQ(joined.error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(joined.error().message(), HasSubstr("rank 1 of the job 'night'"));
  EXPECT_THAT(joined.error().message(), HasSubstr("rank 0, whose process hosts it, has not come"));
}

TEST_F(RankHostTest, HostWaitsNoLongerThanItsPatience) {  // RH-3
  JobOptions impatient = options(0);
  impatient.patience = 50ms;
  EXPECT_TRUE(wait_blocking(join(impatient)).has_value());
  EXPECT_TRUE(wait_blocking(join(options(1))).has_value());
  EXPECT_TRUE(wait_blocking(jobs[0]->close()).has_value()) << "rank 2 has never come";
  EXPECT_TRUE(wait_blocking(jobs[1]->job().failure()).has_value()) << "a goodbye is no failure";
}

}  // namespace
}  // namespace millrace::net
