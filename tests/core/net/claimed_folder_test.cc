// Files and their locks, and processes that are killed, which are what it is about.
#include "millrace/core/net/claimed_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/support/temp_folder.h"

namespace millrace::net {
namespace {

class ClaimedFolderTest : public ::testing::Test {
 protected:
  const millrace::testing::TempFolder place;
  const std::string path = place.file("millrace-00000000000000af");
};

TEST_F(ClaimedFolderTest, IsHeldByOneAndGoesWithIt) {
  {
    const auto first = ClaimedFolder::claim(path).value();
    ASSERT_TRUE(first.has_value());
    struct stat made = {};
    ASSERT_EQ(::stat(path.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777, 0700u);
    std::ofstream(path + "/store") << "x";
    EXPECT_FALSE(ClaimedFolder::claim(path).value().has_value());
    ClaimedFolder::remove_stale_ones(place.path());
    EXPECT_TRUE(std::filesystem::exists(path + "/store"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(place.path()));
  EXPECT_TRUE(ClaimedFolder::claim(path).value().has_value());
}

// Leaves the folder as a process does that is killed.
void claim_and_be_killed(const std::string& path) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto held = ClaimedFolder::claim(path);
    std::ofstream(path + "/store") << "x";
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(std::filesystem::exists(path + "/store"));
}

TEST_F(ClaimedFolderTest, WhatADeadProcessLeftIsTakenOverOrRemoved) {  // RH-1
  claim_and_be_killed(path);
  {
    const auto next = ClaimedFolder::claim(path).value();
    ASSERT_TRUE(next.has_value());
    EXPECT_FALSE(std::filesystem::exists(path + "/store"));
  }
  claim_and_be_killed(path);
  ClaimedFolder::remove_if_stale(path);
  EXPECT_TRUE(std::filesystem::is_empty(place.path()));
  claim_and_be_killed(path);
  ::mkdir(place.file("millrace-of-launch").c_str(), 0700);
  ClaimedFolder::remove_stale_ones(place.path());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(place.file("millrace-of-launch"))) << "it has no lock";
}

TEST_F(ClaimedFolderTest, OthersMayNotEnterIt) {
  ::mkdir(path.c_str(), 0700);
  ::chmod(path.c_str(), 0755);
  const auto open = ClaimedFolder::claim(path);
  ASSERT_FALSE(open.has_value());
  EXPECT_EQ(open.error().code(), ErrorCode::kPermissionDenied);
  ::rmdir(path.c_str());
  ASSERT_EQ(::symlink(place.path().c_str(), path.c_str()), 0);
  EXPECT_EQ(ClaimedFolder::claim(path).error().code(), ErrorCode::kPermissionDenied);
}

}  // namespace
}  // namespace millrace::net
