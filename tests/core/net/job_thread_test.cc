// Real sockets and threads, since a JobThread has both.
#include "millrace/core/net/job_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
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

constexpr FrameKind kKind = FrameKind::kFirstOfUsers;

// Four ranks that have joined a job, all of this process.
class JoinedRanks : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr std::uint32_t kRanks = 4;
  JoinedRanks() {
    const bool tcp = std::string(GetParam()) == "tcp";
    std::optional<Secret> secret;
    if (tcp) draw_random(secret.emplace());
    const std::string address = tcp ? "tcp:127.0.0.1:0" : "unix:" + folder.file("store");
    host.emplace(address, JobHostOptions{.job = "night", .ranks = kRanks, .secret = secret});
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      jobs.push_back(JobThread::create().value());
      const JobOptions options{.job = "night",
                               .address = host->address(),
                               .secret = secret,
                               .rank = rank,
                               .ranks = kRanks};
      EXPECT_TRUE(wait_blocking(jobs.back()->join(options)).has_value());
    }
  }
  ~JoinedRanks() override {
    jobs.clear();
    host.reset();
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "something stayed behind";
  }
  void fail(std::uint32_t rank) {
    const JobFailure failure{.member = {.rank = rank, .host = "h", .pid = 1},
                             .reason = FailureReason::kLost};
    host->run([&] { host->host().fail(failure); });
  }

  const millrace::testing::TempFolder folder;
  std::optional<JobHostThread> host;
  std::vector<std::unique_ptr<JobThread>> jobs;
};

INSTANTIATE_TEST_SUITE_P(Transports, JoinedRanks, ::testing::Values("unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(JoinedRanks, MeetByTheStoreAndHearOfTheFailure) {
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([this, rank] {
      KeyValueStore& store = jobs[rank]->job().store();
      EXPECT_TRUE(wait_blocking(store.put(std::to_string(rank), "here")).has_value());
      for (std::uint32_t other = 0; other < kRanks; ++other)
        EXPECT_EQ(wait_blocking(store.get(std::to_string(other))).value(), "here");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(wait_blocking(jobs[3]->close()).has_value());
  fail(3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Result<void> heard = wait_blocking(jobs[rank]->job().failure());
    ASSERT_FALSE(heard.has_value());
    EXPECT_EQ(heard.error().detail<JobFailure>()->member, (JobMember{3, "h", 1}));
  }
  EXPECT_TRUE(wait_blocking(jobs[3]->job().failure()).has_value());
}

TEST_P(JoinedRanks, AreLinkedByTheirMeshes) {
  std::vector<Promise<void>> came(kRanks);
  std::vector<int> counts(kRanks);  // each on its rank's thread
  std::vector<Future<void>> all;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    all.push_back(came[rank].future());
    jobs[rank]->mesh().set_sink({kKind}, [&, rank](std::uint32_t, const Frame&) -> Future<void> {
      if (++counts[rank] == static_cast<int>(kRanks)) came[rank].set_value();
      return {};
    });
  }
  for (std::uint32_t from = 0; from < kRanks; ++from) {
    EXPECT_EQ(&jobs[from]->mesh(), &jobs[from]->mesh());
    EXPECT_EQ(jobs[from]->mesh().rank(), from);
    for (std::uint32_t to = 0; to < kRanks; ++to)
      all.push_back(jobs[from]->mesh().send(to, {{.kind = kKind}, {}}));
  }
  const Result<void> done = wait_blocking(when_all(all));
  EXPECT_TRUE(done.has_value()) << done.error().to_string();
  const Future<PeerLoss> lost = jobs[0]->mesh().peer_lost(1);
  for (const auto& job : jobs) EXPECT_TRUE(wait_blocking(job->close()).has_value());
  EXPECT_NE(wait_blocking(lost).error().detail<PeerEnded>(), nullptr) << "a goodbye is no loss";
  EXPECT_EQ(wait_blocking(jobs[0]->mesh().send(1, {{.kind = kKind}, {}})).error().code(),
            ErrorCode::kUnavailable);
}

// There is neither a link to it nor a mesh of its own.
TEST_P(JoinedRanks, HearInTheirMeshesWhichRankHasFailed) {
  const Future<PeerLoss> lost = jobs[0]->mesh().peer_lost(2);
  const Future<void> sent = jobs[1]->mesh().send(2, {{.kind = kKind}, {}});
  fail(2);
  const PeerLoss loss = wait_blocking(lost).value();
  EXPECT_EQ(loss.cause, LossCause::kDeclared);
  EXPECT_EQ(loss.who, (JobMember{2, "h", 1}));
  EXPECT_NE(loss.words.find("left without a goodbye"), std::string::npos) << loss.words;
  EXPECT_EQ(wait_blocking(sent).error().detail<PeerLoss>()->who, loss.who);
  EXPECT_TRUE(wait_blocking(jobs[3]->job().failure()).error().detail<JobFailure>() != nullptr);
  EXPECT_EQ(wait_blocking(jobs[3]->mesh().peer_lost(2)).value().who, loss.who)
      << "also where the mesh starts after it";
}

TEST(JobThreadTest, EndsWhereItsJobIsNotThere) {
  const millrace::testing::TempFolder folder;
  const auto job = JobThread::create().value();
  const auto joined = wait_blocking(job->join({.address = "unix:" + folder.file("none")}));
  ASSERT_FALSE(joined.has_value());
  EXPECT_EQ(joined.error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace millrace::net
