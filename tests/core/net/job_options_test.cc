#include "millrace/core/net/job_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>

#include "millrace/core/net/frame.h"
#include "millrace/core/net/job_member.h"
#include "tests/support/temp_folder.h"

namespace millrace::net {
namespace {

using ::testing::HasSubstr;

Variables variables_of(std::map<std::string, std::string> all) {
  return [all = std::move(all)](const std::string& name) -> std::optional<std::string> {
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(JobOptionsTest, VariablesSayWhereTheHostIs) {
  const JobPlace place{.process = {.index = 2, .count = 4}, .launcher = "millrace", .job = "night"};
  EXPECT_FALSE(job_options(variables_of({}), place).value().has_value());
  const auto options = job_options(variables_of({{"MILLRACE_STORE", "unix:/run/x"}}), place);
  ASSERT_TRUE(options.value().has_value());
  EXPECT_EQ((*options)->address, "unix:/run/x");
  EXPECT_EQ((*options)->rank, 2u);
  EXPECT_EQ((*options)->ranks, 4u);
  EXPECT_EQ((*options)->job, "night");
}

TEST(JobOptionsTest, WithoutAStoreRankZeroHostsTheJobOfTheLauncher) {
  const testing::TempFolder folder;
  JobPlace place{.process = {.index = 2, .count = 4}, .launcher = "Slurm", .job = "77.5"};
  const auto read = [&] {
    return job_options(variables_of({{"XDG_RUNTIME_DIR", folder.path()}}), place).value();
  };
  const auto first = read();
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(first->hosted);
  EXPECT_EQ(first->job, "Slurm 77.5");
  EXPECT_EQ(first->rank, 2u);
  EXPECT_THAT(first->folder, ::testing::StartsWith(folder.path() + "/millrace-"));
  EXPECT_EQ(first->address, "unix:" + first->folder + "/store");
  place.process.index = 0;
  EXPECT_EQ(read()->address, first->address) << "all ranks find it";
  place.job = "77.6";
  EXPECT_NE(read()->address, first->address);
  place.job = std::string(10000, 'x');
  EXPECT_LE(read()->job.size(), kMostJobBytes);
  EXPECT_LE(read()->address.size(), 112u);
  place.job = "";
  EXPECT_FALSE(read().has_value()) << "nothing tells one job from another";
  place.job = "77.5";
  const auto no_folder = job_options(variables_of({{"XDG_RUNTIME_DIR", "/not/there"}}), place);
  EXPECT_THAT(no_folder.value()->folder, ::testing::StartsWith("/tmp/millrace-"));
}

TEST(JobOptionsTest, HalfASetNamesItsVariable) {
  const JobPlace place{.process = {.index = 2, .count = 4}};
  EXPECT_THAT(
      job_options(variables_of({{"MILLRACE_STORE", "unix:/x"}}), std::nullopt).error().message(),
      HasSubstr("RANK"));
  EXPECT_THAT(job_options(variables_of({{"MILLRACE_STORE", "/x"}}), place).error().message(),
              HasSubstr("MILLRACE_STORE is '/x'"));
  EXPECT_THAT(
      job_options(variables_of({{"MILLRACE_STORE", "tcp:127.0.0.1:1"}}), place).error().message(),
      HasSubstr("MILLRACE_SECRET_FILE is not set"));
}

TEST(JobOptionsTest, TransportSaysHowRanksAreLinked) {
  const JobPlace place{.process = {.index = 2, .count = 4}};
  const auto read = [&](const std::string& transport) {
    return job_options(
        variables_of({{"MILLRACE_STORE", "unix:/run/x"}, {"MILLRACE_TRANSPORT", transport}}),
        place);
  };
  EXPECT_EQ(read("").value()->links, std::nullopt);
  EXPECT_EQ(read("unix").value()->links, LinkKind::kUnix);
  EXPECT_EQ(read("ether").error().message(),
            "MILLRACE_TRANSPORT is 'ether', but must be shm, unix or tcp");
  EXPECT_THAT(
      read("tcp").error().message(),
      HasSubstr("MILLRACE_TRANSPORT is 'tcp', but MILLRACE_SECRET_FILE is not set: TCP needs"));
}

TEST(JobOptionsTest, SecretIsAFileOfThisUserAlone) {
  const JobPlace place{.process = {.index = 2, .count = 4}};
  const testing::TempFolder folder;
  const auto read = [&](const std::string& path) {
    return job_options(
        variables_of({{"MILLRACE_STORE", "tcp:127.0.0.1:1"}, {"MILLRACE_SECRET_FILE", path}}),
        place);
  };
  const Bytes bytes(32, std::byte{7});
  const std::string path = folder.write("secret", bytes);
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_THAT(read(path).error().message(), HasSubstr("no other may read"));
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ((*read(path))->secret->at(31), std::byte{7});
  ASSERT_EQ(::symlink(path.c_str(), folder.file("link").c_str()), 0);
  EXPECT_FALSE(read(folder.file("link")).has_value());
  EXPECT_FALSE(read(folder.file("none")).has_value());
  folder.write("secret", Bytes(31));
  EXPECT_THAT(read(path).error().message(), HasSubstr("must have 32 bytes"));
  folder.write("secret", Bytes(33));
  EXPECT_FALSE(read(path).has_value());
}

}  // namespace
}  // namespace millrace::net
