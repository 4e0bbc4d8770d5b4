// A runtime that joins a job: over a real socket and threads, which are what joins.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/actors/remote/remote_actors.h"
#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/mesh.h"
#include "millrace/tools/api/runtime.h"
#include "tests/support/job_host_thread.h"
#include "tests/support/temp_folder.h"

namespace millrace {
namespace {

using testing::JobHostThread;

RuntimeOptions options_of(const std::string& address) {
  RuntimeOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.job = net::JobOptions{.job = "night", .address = address, .rank = 1, .ranks = 2};
  return options;
}

TEST(RuntimeJobTest, JoinsAsItIsMadeAndLeavesAsItCloses) {
  const testing::TempFolder folder;
  std::atomic<int> joined{0}, lost{0};
  net::JobHooks hooks;
  hooks.joined = [&joined](std::uint32_t rank) { joined += rank == 1 ? 1 : 100; };
  hooks.lost = [&lost](const net::JobFailure&) { ++lost; };
  JobHostThread host("unix:" + folder.file("store"), {.job = "night", .ranks = 2}, hooks);
  {
    const auto first = Runtime::create(options_of(host.address()));
    ASSERT_TRUE(first) << first.error().message();
    const auto second = Runtime::create(options_of(host.address()));
    ASSERT_TRUE(second) << "a process may have two of them";
    EXPECT_TRUE(wait_blocking(first->job()->store().put("key", "value")));
    EXPECT_EQ(wait_blocking(second->job()->store().get("key")).value(), "value");
    EXPECT_EQ(joined, 2);
    const auto frame = [] { return net::Frame{{.kind = net::FrameKind::kFirstOfUsers}, {}}; };
    EXPECT_TRUE(wait_blocking(second->mesh()->send(1, frame()))) << "to itself";
    EXPECT_TRUE(wait_blocking(second->close()));
    EXPECT_TRUE(wait_blocking(second->job()->failure()));
    host.run([&host] {
      host.host().fail({.member = {.rank = 0}, .reason = net::FailureReason::kSilent});
    });
    const Status failed = wait_blocking(first->job()->failure());
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().detail<net::JobFailure>()->member.rank, 0U);
  }
  host.run([] {});
  EXPECT_EQ(lost, 0);
}

struct Question {
  std::uint64_t number = 0;
  static constexpr auto fields() { return actors::field_list("number", &Question::number); }
};
class Doubler final : public actors::Actor {
 public:
  using Remote = actors::RemoteMessages<Question>;
  std::uint64_t on(const Question& question) const { return 2 * question.number; }
};

TEST(RuntimeJobTest, ActorsOfTheJobAreFoundByRankAndName) {
  const testing::TempFolder folder;
  JobHostThread host("unix:" + folder.file("store"), {.job = "night", .ranks = 2}, {});
  const auto runtime = Runtime::create(options_of(host.address()));
  ASSERT_TRUE(runtime) << runtime.error().message();
  actors::RemoteActors* const remote = runtime->remote_actors();
  ASSERT_NE(remote, nullptr);
  EXPECT_EQ(runtime->remote_actors(), remote) << "one of each runtime";
  remote->serve<Doubler>();
  ASSERT_TRUE(runtime->actors().spawn<Doubler>("doubler", {}));
  const auto found = wait_blocking(remote->find<Doubler>(1, "doubler"));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(wait_blocking(found->ask(Question{21})).value(), 42U);
  EXPECT_TRUE(wait_blocking(runtime->close()));
  EXPECT_FALSE(wait_blocking(found->ask(Question{1}))) << "after the end";
}

TEST(RuntimeJobTest, RemoteActorsThatAreFirstAskedForAfterTheCloseAreNone) {
  const testing::TempFolder folder;
  JobHostThread host("unix:" + folder.file("store"), {.job = "night", .ranks = 2}, {});
  const auto runtime = Runtime::create(options_of(host.address()));
  ASSERT_TRUE(runtime) << runtime.error().message();
  EXPECT_TRUE(wait_blocking(runtime->close()));
  EXPECT_EQ(runtime->remote_actors(), nullptr);
}

TEST(RuntimeJobTest, AGroupThatIsHeldLongerRefusesCalls) {
  const testing::TempFolder folder;
  JobHostThread host("unix:" + folder.file("store"), {.job = "night", .ranks = 2}, {});
  std::optional<collectives::ProcessGroup> alone;
  {
    const auto runtime = Runtime::create(options_of(host.address()));
    ASSERT_TRUE(runtime) << runtime.error().message();
    const auto met = wait_blocking(collectives::ProcessGroup::meet(
        runtime->actors(), Ref<net::Mesh>::share(runtime->mesh()), {"alone", 0},
        runtime->devices(runtime->device_kind()), {.processes = std::vector<std::uint32_t>{1}}));
    ASSERT_TRUE(met) << met.error().message();
    alone.emplace(met->front());
    EXPECT_TRUE(wait_blocking(alone->barrier()));
  }
  EXPECT_FALSE(wait_blocking(alone->barrier()));
  EXPECT_FALSE(wait_blocking(alone->agree(collectives::AgreeOp::kMin, 1)));
}

TEST(RuntimeJobTest, IsNotMadeWhereItsJobIsNotThere) {
  const testing::TempFolder folder;
  const auto made = Runtime::create(options_of("unix:" + folder.file("none")));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(made.error().message().find(folder.file("none")), std::string::npos);
}

TEST(RuntimeJobTest, HasNoneByDefault) {
  RuntimeOptions options;
  options.device = "cpu";
  const auto made = Runtime::create(options);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->job(), nullptr);
  EXPECT_EQ(made->mesh(), nullptr);
  EXPECT_EQ(made->remote_actors(), nullptr);
}

}  // namespace
}  // namespace millrace
