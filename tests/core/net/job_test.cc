#include "millrace/core/net/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/net/job_host.h"
#include "millrace/core/net/job_observer.h"
#include "millrace/core/net/job_status.h"
#include "millrace/core/net/quorum_lost.h"
#include "tests/support/logged_words.h"
#include "tests/support/sim_transport.h"

namespace millrace::net {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using ::testing::ElementsAre;
using testing::for_each_seed;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SimNetwork;
using testing::Simulation;

constexpr const char* kAddress = "sim:job";

// A host, and processes that join. All of them are this one, so they differ by their pids alone.
struct JobRig {
  explicit JobRig(Simulation& sim, JobHostOptions options = {.job = "night", .ranks = 3},
                  const testing::SimFaults& faults = {.stalls = 0}, std::string where = kAddress)
      : sim(sim),
        network(sim, faults),
        address(std::move(where)),
        here(network.make_transport(::geteuid(), 1)) {
    JobHooks hooks;
    hooks.joined = [this](std::uint32_t rank) { joined.push_back(rank); };
    hooks.suspect = [this](const JobMember& member) { suspect.push_back(member.rank); };
    hooks.silent = [this](const JobMember& member) { silent.push_back(member.rank); };
    hooks.lost = [this](const JobFailure& failure) { lost.push_back(failure.member.rank); };
    options.pid = 1;
    host = JobHost::open(*here, address, std::move(options), std::move(hooks)).value();
  }
  Transport& process(pid_t pid) {
    auto& made = processes[pid];
    if (!made) made = network.make_transport(::geteuid(), pid);
    return *made;
  }
  Future<Ref<Job>> join(std::uint32_t rank, pid_t pid, CallOptions call = {}) {
    return Job::join(
        process(pid),
        {.job = "night", .address = address, .rank = rank, .ranks = 3, .host = "alpha", .pid = pid},
        call);
  }
  Ref<Job> joined_as(std::uint32_t rank) {
    return sim.run(join(rank, static_cast<pid_t>(100 + rank))).value();
  }
  void close(const std::vector<Ref<Job>>& jobs) {
    for (const Ref<Job>& job : jobs) EXPECT_TRUE(sim.run(job->close()).has_value());
    EXPECT_TRUE(sim.run(host->close()).has_value());
    sim.run_for(2s);
  }

  Simulation& sim;
  SimNetwork network;
  const std::string address;
  std::unique_ptr<Transport> here;
  std::map<pid_t, std::unique_ptr<Transport>> processes;
  Ref<JobHost> host;
  std::vector<std::uint32_t> joined, suspect, silent, lost;
};

TEST(JobTest, RanksMeetByTheStoreAndLeaveWithoutAFailure) {  // JB-1, JB-2, JH-2
  for_each_seed(100, [](Simulation& sim) {
    JobRig rig(sim);
    std::vector<Ref<Job>> jobs;
    for (std::uint32_t rank = 0; rank < 3; ++rank) jobs.push_back(rig.joined_as(rank));
    EXPECT_THAT(rig.joined, ElementsAre(0, 1, 2));
    const auto got = jobs[0]->store().get("address/1");
    EXPECT_TRUE(sim.run(jobs[1]->store().put("address/1", "there")).has_value());
    EXPECT_EQ(sim.run(got).value(), "there");
    sim.run_for(1min);
    EXPECT_THAT(rig.suspect, IsEmpty()) << "heartbeats come";
    EXPECT_TRUE(sim.run(jobs[2]->close()).has_value());
    EXPECT_TRUE(sim.run(jobs[2]->failure()).has_value());
    sim.run_for(1min);
    EXPECT_THAT(rig.lost, IsEmpty());
    EXPECT_THAT(rig.suspect, IsEmpty());
    EXPECT_FALSE(jobs[0]->failure().ready());
    EXPECT_TRUE(sim.run(rig.host->close()).has_value());
    EXPECT_TRUE(sim.run(jobs[0]->failure()).has_value()) << "the host's goodbye is no failure";
    rig.close(jobs);
  });
}

TEST(JobTest, RanksThatDoNotJoinAreNamedOnce) {
  for (const std::uint32_t come : {1u, 2u, 3u}) {
    Simulation sim(1);
    JobRig rig(sim);
    const testing::LoggedWords log;
    sim.run_for(1min);
    EXPECT_EQ(log.text(), "") << "the job may be of programs that join none";
    std::vector<Ref<Job>> jobs;
    for (std::uint32_t rank = 0; rank < come; ++rank) jobs.push_back(rig.joined_as(rank));
    sim.run_for(1min);
    const std::string late[] = {"", "ranks 1, 2 have not joined the job 10 s after the first; ",
                                "rank 2 has not joined the job 10 s after the first; ", ""};
    EXPECT_EQ(log.text().substr(0, late[come].size()), late[come]);
    EXPECT_EQ(std::ranges::count(log.text(), '\n'), come < 3 ? 1 : 0) << log.text();
    rig.close(jobs);
  }
}

TEST(JobTest, SecondProcessOfALivingRankIsRefusedAndHearsOfTheFirst) {
  for_each_seed(50, [](Simulation& sim) {
    JobRig rig(sim);
    const Ref<Job> first = rig.joined_as(1);
    const auto second = sim.run(rig.join(1, 200));
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code(), ErrorCode::kAlreadyExists);
    ASSERT_NE(second.error().detail<JobMember>(), nullptr);
    EXPECT_EQ(second.error().detail<JobMember>()->pid, 101);
    EXPECT_EQ(second.error().detail<JobMember>()->host, "alpha");
    EXPECT_TRUE(sim.run(first->store().put("key", "x")).has_value()) << "it is not disturbed";
    rig.host->ended(1);
    sim.run_for(1s);
    EXPECT_EQ(sim.run(first->failure()).error().code(), ErrorCode::kUnavailable);
    const auto third = sim.run(rig.join(1, 201));
    EXPECT_TRUE(third.has_value());
    EXPECT_THAT(rig.lost, IsEmpty());
    rig.close({*third});
  });
}

TEST(JobTest, FirstFailureReachesAllAndTheirPendingCalls) {  // JH-1, JB-3
  for_each_seed(100, [](Simulation& sim) {
    JobRig rig(sim);
    const std::vector<Ref<Job>> jobs = {rig.joined_as(0), rig.joined_as(1)};
    const auto waits = jobs[0]->store().get("key");
    sim.run_for(1s);
    JobFailure failure{.member = {.rank = 2, .host = "h", .pid = 7},
                       .reason = FailureReason::kSignal,
                       .number = 9,
                       .words = "last"};
    rig.host->fail(failure);
    const JobFailure first = failure;
    failure.number = 11;
    rig.host->fail(failure);
    for (const Ref<Job>& job : jobs) {
      const Error error = sim.run(job->failure()).error();
      EXPECT_EQ(error.code(), ErrorCode::kAborted);
      EXPECT_EQ(*error.detail<JobFailure>(), first);
    }
    EXPECT_EQ(*sim.run(waits).error().detail<JobFailure>(), first);
    EXPECT_EQ(*sim.run(jobs[1]->store().put("a", "b")).error().detail<JobFailure>(), first);
    const Ref<Job> late = rig.joined_as(2);
    EXPECT_EQ(*sim.run(late->failure()).error().detail<JobFailure>(), first);
    rig.close({jobs[0], jobs[1], late});
  });
}

TEST(JobTest, ProcessThatIsGoneIsLostAndAHostThatIsGoneIsAFailure) {  // JB-2
  for_each_seed(100, [](Simulation& sim) {
    JobRig rig(sim);
    const Ref<Job> job = rig.joined_as(0);
    const auto waits = job->store().get("key");
    sim.run_for(1s);
    rig.network.cut_all();
    const Error error = sim.run(job->failure()).error();
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_THAT(error.message(), HasSubstr(kAddress));
    EXPECT_EQ(sim.run(waits).error().code(), ErrorCode::kUnavailable);
    sim.run_for(1s);
    EXPECT_THAT(rig.lost, ElementsAre(0));
    sim.run_for(20s);
    EXPECT_THAT(rig.silent, ElementsAre(0)) << "its process has not been seen to end";
    rig.close({job});
  });
}

// A process that stands still: what it has sent is all that comes.
TEST(JobTest, SilentProcessIsSuspectAtHalfTheTimeAndThenReported) {
  for_each_seed(20, [](Simulation& sim) {
    JobRig rig(sim);
    auto stream = sim.run(rig.process(200).connect(kAddress)).value();
    const Frame frame = encode(
        JoinRequest{.member = {.rank = 0, .host = "h", .pid = 200}, .ranks = 3, .job = "night"});
    const HeaderBytes header = encode_header(frame.header, frame.payload.size());
    Bytes bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
    for (std::span<const std::byte> left = bytes; !left.empty();)
      left = left.subspan(stream->try_write({}, left).value());
    sim.run_for(4s);
    EXPECT_THAT(rig.joined, ElementsAre(0));
    EXPECT_THAT(rig.suspect, IsEmpty());
    sim.run_for(2s);
    EXPECT_THAT(rig.suspect, ElementsAre(0));
    EXPECT_THAT(rig.silent, IsEmpty());
    sim.run_for(5s);
    EXPECT_THAT(rig.silent, ElementsAre(0));
    rig.host->ended(0);
    rig.close({});
  });
}

TEST(JobTest, WhoLooksOnSeesTheRanksAndIsNone) {
  for_each_seed(50, [](Simulation& sim) {
    JobRig rig(sim);
    rig.host->started(1, 77);
    const Ref<Job> job = rig.joined_as(0);
    const auto group = job->progress("rig");
    group->begun = 3;
    group->done = 2;
    sim.run_for(2s);
    const auto look = [&] {
      const auto seen = observe_job(rig.process(300), {.job = "night", .address = kAddress},
                                    {.deadline = sim.now() + 1min});
      return sim.run(seen).value();
    };
    JobStatus seen = look();
    EXPECT_EQ(seen.job, "night");
    ASSERT_EQ(seen.ranks.size(), 3u);
    const std::vector<GroupCount> groups = {{"rig", 3, 2}};
    EXPECT_EQ(seen.ranks[0],
              (RankStatus{.phase = RankPhase::kJoined, .pid = 100, .groups = groups}));
    EXPECT_EQ(seen.ranks[1], (RankStatus{.phase = RankPhase::kStarting, .pid = 77}));
    EXPECT_EQ(seen.ranks[2], RankStatus{});
    EXPECT_THAT(rig.joined, ElementsAre(0)) << "it is no member";
    EXPECT_TRUE(sim.run(job->close()).has_value());
    sim.run_for(1s);
    EXPECT_EQ(look().ranks[0].phase, RankPhase::kEnded);
    EXPECT_THAT(rig.lost, IsEmpty());
    rig.close({});
  });
}

// A host in rank 0's process that welcomes, and gives so many signs of life.
TEST(JobTest, SilentHostOfARankIsTheFailureOfThatRank) {  // RH-2
  for (const int signs : {0, 30}) {
    Simulation sim(1);
    JobRig rig(sim);
    Ref<Connection> there;
    const auto entrance =
        Entrance::open(
            *rig.here, "sim:rank-0", {.job = "night"},
            [&there](const Ref<Connection>& connection) -> FrameSink {
              there = connection;
              connection->send(encode(Welcome{.heartbeat = 500ms, .silent_after = 10s})).ignore();
              return [](const Frame&) { return Future<void>(); };
            })
            .value();
    const Ref<Job> job =
        sim
            .run(Job::join(
                rig.process(100),
                {.job = "night", .address = "sim:rank-0", .hosted = true, .rank = 1, .ranks = 3}))
            .value();
    for (int i = 0; i < signs; ++i) {
      there->send(encode_alive({})).ignore();
      sim.run_for(500ms);
    }
    sim.run_for(9s);
    EXPECT_FALSE(job->failure().ready());
    sim.run_for(2s);
    ASSERT_TRUE(job->failure().ready());
    const Error error = sim.run(job->failure()).error();
    EXPECT_EQ(error.detail<JobFailure>()->reason, FailureReason::kSilent);
    EXPECT_EQ(error.detail<JobFailure>()->member.rank, 0u);
    EXPECT_TRUE(sim.run(job->close()).has_value());
    EXPECT_TRUE(sim.run(entrance->close()).has_value());
    rig.close({});
  }
}

TEST(JobTest, RankThatIsCutOffLosesTheQuorumBeforeTheHostHoldsItForSilent) {
  for_each_seed(50, [](Simulation& sim) {
    JobRig rig(sim, {.job = "night", .ranks = 3}, {.stalls = 0}, "tcp:job");
    const Ref<Job> job = rig.joined_as(0), other = rig.joined_as(1);
    const auto waits = job->store().get("key");
    sim.run_for(1min);
    EXPECT_FALSE(job->failure().ready()) << "the host gives signs of life";
    rig.network.hold(100, 1);
    rig.network.hold(1, 100);
    sim.run_for(8s);
    EXPECT_FALSE(job->failure().ready());
    sim.run_for(1600ms);
    ASSERT_TRUE(job->failure().ready());
    const Error error = sim.run(job->failure()).error();
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    ASSERT_NE(error.detail<QuorumLost>(), nullptr);
    EXPECT_EQ(error.detail<QuorumLost>()->self, (JobMember{0, "alpha", 100}));
    EXPECT_THAT(error.message(), HasSubstr("quorum lost: rank 0"));
    EXPECT_NE(sim.run(waits).error().detail<QuorumLost>(), nullptr);  // JB-3
    EXPECT_THAT(rig.silent, IsEmpty());
    std::vector<JobFailure> lost;
    other->set_lost([&](const JobFailure& failure) { lost.push_back(failure); });
    sim.run_for(2s);
    EXPECT_THAT(rig.silent, ElementsAre(0));
    ASSERT_EQ(lost.size(), 1u) << "others hear why, before it is killed";
    EXPECT_EQ(lost[0].member.rank, 0u);
    EXPECT_EQ(lost[0].reason, FailureReason::kSilent);
    EXPECT_FALSE(other->failure().ready()) << "it is heard";
    rig.network.release();
    rig.close({job, other});
  });
}

// A launcher that stands still is no cut where no connection can be one.
TEST(JobTest, SilentHostOfALaunchIsNoFailureWhereItCannotBeACut) {
  Simulation sim(1);
  JobRig rig(sim);
  const Ref<Job> job = rig.joined_as(0);
  rig.network.hold(1, 100);
  sim.run_for(1min);
  EXPECT_FALSE(job->failure().ready());
  rig.network.release();
  rig.close({job});
}

TEST(JobTest, GroupThatIsGoneIsReportedNoMore) {
  Simulation sim(1);
  JobRig rig(sim, {.job = "night", .ranks = 3, .silent_after = Duration(0)});
  const Ref<Job> job = rig.joined_as(0);
  auto group = job->progress("rig");
  sim.run_for(3s);
  EXPECT_EQ(rig.host->status().ranks[0].groups.size(), 1u) << "also where silence is allowed";
  group.reset();
  sim.run_for(3s);
  EXPECT_TRUE(rig.host->status().ranks[0].groups.empty());
  rig.close({job});
}

TEST(JobTest, RanksOfAWorldHearOfALossBeforeTheWorldAfterIt) {  // JB-4, JH-3
  for_each_seed(60, [](Simulation& sim) {
    JobRig rig(sim, {.job = "night", .ranks = 3, .least = 2});
    std::vector<Ref<Job>> jobs;
    for (std::uint32_t rank = 0; rank < 3; ++rank) jobs.push_back(rig.joined_as(rank));
    std::vector<Future<World>> first;
    for (const Ref<Job>& job : jobs) {
      EXPECT_TRUE(job->elastic());
      first.push_back(job->next_world());
      if (first.size() > 1) continue;
      sim.run_for(1ms);
      const auto twice = sim.run(job->next_world());
      ASSERT_FALSE(twice);
      EXPECT_EQ(twice.error().code(), ErrorCode::kFailedPrecondition);
    }
    for (const auto& one : first)
      EXPECT_EQ(sim.run(one).value(), (World{.epoch = 1, .ranks = {0, 1, 2}}));

    std::vector<std::string> heard;
    jobs[0]->set_lost([&](const JobFailure& lost) { heard.push_back(to_string(lost)); });
    const auto second =
        jobs[0]->next_world().then(sim.executor(), [&heard](const Result<World>& world) {
          heard.push_back("world of " + std::to_string(world->ranks.size()));
          return *world;
        });
    const auto other = jobs[2]->next_world();
    sim.run_for(std::chrono::milliseconds(sim.below(20)));
    EXPECT_FALSE(second.ready()) << "rank 1 is there";
    rig.network.kill(101);
    rig.host->ended(1);
    rig.host->lost({.member = {.rank = 1, .host = "a", .pid = 101},
                    .reason = FailureReason::kSignal,
                    .number = 9});
    EXPECT_EQ(sim.run(second).value(), (World{.epoch = 2, .ranks = {0, 2}}));
    EXPECT_TRUE(sim.run(other).has_value());
    EXPECT_THAT(heard, ElementsAre("rank 1 (host a, pid 101) was killed by SIGKILL", "world of 2"));

    // Another process of the rank waits until the others ask.
    const Ref<Job> anew = sim.run(rig.join(1, 201)).value();
    const auto waits = anew->next_world();
    sim.run_for(1s);
    EXPECT_FALSE(waits.ready());
    EXPECT_TRUE(jobs[0]->has_newcomers() && jobs[2]->has_newcomers());
    const auto third = jobs[0]->next_world(), again = jobs[2]->next_world();
    for (const auto& one : {waits, third, again})
      EXPECT_EQ(sim.run(one).value(), (World{.epoch = 3, .ranks = {0, 1, 2}}));
    EXPECT_FALSE(jobs[0]->has_newcomers());
    rig.close({jobs[0], jobs[2], anew});
    EXPECT_FALSE(sim.run(jobs[0]->next_world()).has_value()) << "after the end";
  });
}

TEST(JobTest, WorldsThatCannotComeEndWhoAsks) {  // JB-4
  Simulation sim(4);
  JobRig rig(sim, {.job = "night", .ranks = 3, .least = 3});
  const std::vector<Ref<Job>> jobs = {rig.joined_as(0), rig.joined_as(1), rig.joined_as(2)};
  std::vector<Future<World>> worlds;
  for (const Ref<Job>& job : jobs) worlds.push_back(job->next_world());
  for (const auto& one : worlds) EXPECT_TRUE(sim.run(one).has_value());
  const auto waits = jobs[0]->next_world();
  EXPECT_TRUE(sim.run(jobs[2]->close()).has_value());
  rig.host->ended(2);
  rig.host->over({.rank = 2, .host = "a", .pid = 102}, false);
  const auto refused = sim.run(waits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message(), HasSubstr("rank 2 (host a, pid 102) has ended for good"));
  const auto failed = jobs[1]->next_world();
  rig.host->fail({.member = {.rank = 0, .host = "a", .pid = 100}, .number = 3});
  EXPECT_FALSE(sim.run(failed).has_value());
  rig.close(jobs);
}

TEST(JobTest, AJobThatEndsWithItsFirstFailureHasOneWorld) {
  Simulation sim(4);
  JobRig rig(sim);
  const Ref<Job> job = rig.joined_as(1);
  EXPECT_FALSE(job->elastic());
  EXPECT_EQ(sim.run(job->next_world()).value(), (World{.ranks = {0, 1, 2}}));
  const auto second = sim.run(job->next_world());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(second.error().message(), HasSubstr("--restarts"));
  rig.close({job});
}

TEST(JobTest, WhatDoesNotJoinIsRefusedOrEnds) {
  for_each_seed(20, [](Simulation& sim) {
    JobRig rig(sim);
    EXPECT_EQ(sim.run(rig.join(3, 100)).error().code(), ErrorCode::kInvalidArgument);
    const auto other = sim.run(
        Job::join(rig.process(101), {.job = "day", .address = kAddress, .rank = 0, .ranks = 3}));
    EXPECT_THAT(other.error().message(), HasSubstr("its job is 'day'"));
    const auto nowhere =
        sim.run(Job::join(rig.process(101), {.job = "day", .address = "sim:not", .ranks = 3}));
    EXPECT_EQ(nowhere.error().code(), ErrorCode::kUnavailable);
    const auto idle = sim.run(rig.process(102).connect(kAddress));
    sim.run_for(6s);
    EXPECT_TRUE((*idle)->try_read(1).value()->empty()) << "it has not joined in time";
    EXPECT_EQ(rig.host->status().turned_away, 3u);
    EXPECT_EQ(rig.host->status().host_pid, 1);
    rig.close({});
  });
}

TEST(JobTest, JoinsAreLateOrStopped) {  // JB-1
  for_each_seed(100, [](Simulation& sim) {
    JobRig rig(sim, {.job = "night", .ranks = 3}, {.most_delay = 2s, .stalls = 0.5});
    std::stop_source stop;
    const auto late =
        rig.join(0, 100, {.deadline = sim.now() + std::chrono::milliseconds(sim.below(2000))});
    const auto stopped = rig.join(1, 101, {.stop = stop.get_token()});
    sim.run_for(std::chrono::milliseconds(sim.below(4000)));
    stop.request_stop();
    std::vector<Ref<Job>> in;
    for (const auto& join : {late, stopped}) {
      const auto result = sim.run(join);
      if (result) {
        in.push_back(*result);
      } else {
        EXPECT_THAT(static_cast<int>(result.error().code()),
                    ::testing::AnyOf(static_cast<int>(ErrorCode::kDeadlineExceeded),
                                     static_cast<int>(ErrorCode::kCancelled)));
      }
    }
    sim.run_for(10s);
    rig.close(in);
  });
}

TEST(JobTest, OverTcpTheSecretDecides) {
  for_each_seed(50, [](Simulation& sim) {
    Secret secret;
    secret.fill(std::byte{7});
    JobRig rig(sim, {.job = "night", .ranks = 3, .secret = secret});
    JobOptions options{
        .job = "night", .address = kAddress, .secret = secret, .rank = 2, .ranks = 3};
    const auto job = sim.run(Job::join(rig.process(100), options));
    ASSERT_TRUE(job.has_value());
    EXPECT_TRUE(sim.run((*job)->store().put("key", "x")).has_value());
    options.secret->fill(std::byte{8});
    EXPECT_EQ(sim.run(Job::join(rig.process(101), options)).error().code(),
              ErrorCode::kUnauthenticated);
    rig.close({*job});
  });
}

// Every future completes, whatever is cut and when.
TEST(JobTest, EveryFutureCompletesWhateverIsCut) {  // JB-1, JB-2, JH-1
  for_each_seed(500, [](Simulation& sim) {
    JobRig rig(sim, {.job = "night", .ranks = 3}, {.stalls = 0.05, .cuts = 0.05});
    std::vector<Future<Ref<Job>>> joins;
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      joins.push_back(rig.join(rank, static_cast<pid_t>(100 + rank)));
    if (sim.chance(0.3)) sim.run_for(std::chrono::milliseconds(sim.below(100)));
    if (sim.chance(0.5)) rig.host->fail({.member = {.rank = 1}, .reason = FailureReason::kSilent});
    std::vector<Future<std::string>> gets;
    std::vector<Ref<Job>> in;
    for (const auto& join : joins) {
      const auto job = sim.run(join);
      if (!job) continue;
      in.push_back(*job);
      gets.push_back((*job)->store().get("key", {.deadline = sim.now() + 1min}));
      (*job)->store().put(sim.chance(0.5) ? "key" : "other", "value").ignore();
    }
    if (sim.chance(0.3)) rig.network.cut_all();
    for (const auto& get : gets) {
      const auto got = sim.run(get);
      if (got) {
        EXPECT_EQ(*got, "value");
      }
    }
    rig.close(in);
    for (const Ref<Job>& job : in) EXPECT_TRUE(job->failure().ready());
  });
}

}  // namespace
}  // namespace millrace::net
