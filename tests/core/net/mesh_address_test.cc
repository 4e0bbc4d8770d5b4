#include "millrace/core/net/mesh_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace millrace::net {
namespace {

using ::testing::HasSubstr;

Incarnation example() {
  Incarnation incarnation = {};
  incarnation[0] = std::byte{0xa0};
  incarnation[3] = std::byte{7};
  return incarnation;
}

TEST(MeshAddressTest, FollowsTheStoreUnlessTheLinksAreSaidToDiffer) {
  struct Row {
    std::string store, folder;
    bool secret;
    std::optional<LinkKind> links;
    std::string address;
  };
  const std::vector<Row> rows = {
      {"unix:/run/j/store", "", false, std::nullopt, "shm:/run/j/rank-3-a0000007"},
      {"unix:/run/j/store", "", false, LinkKind::kShm, "shm:/run/j/rank-3-a0000007"},
      {"unix:/run/j/store", "", false, LinkKind::kUnix, "unix:/run/j/rank-3-a0000007"},
      {"unix:/run/j/store", "/run/j", true, LinkKind::kTcp, "tcp:127.0.0.1:0"},
      {"tcp:127.0.0.1:9", "/run/j", true, std::nullopt, "tcp:127.0.0.1:0"},
      {"tcp:127.0.0.1:9", "/run/j", true, LinkKind::kUnix, "unix:/run/j/rank-3-a0000007"},
  };
  for (const Row& row : rows) {
    JobOptions options{
        .address = row.store, .folder = row.folder, .links = row.links, .rank = 3, .ranks = 4};
    if (row.secret) options.secret.emplace();
    EXPECT_EQ(mesh_address(options, example()).value(), row.address);
  }
}

TEST(MeshAddressTest, LacksAFolderOrASecret) {
  EXPECT_THAT(mesh_address({.address = "tcp:127.0.0.1:9"}, example()).error().message(),
              HasSubstr("needs a secret"));
  EXPECT_THAT(mesh_address({.address = "tcp:127.0.0.1:9", .links = LinkKind::kUnix}, example())
                  .error()
                  .message(),
              HasSubstr("needs a folder"));
}

TEST(MeshAddressTest, KindsHaveNames) {
  EXPECT_EQ(link_kind_names(), "shm, unix or tcp");
  EXPECT_EQ(read_link_kind("tcp").value(), LinkKind::kTcp);
  EXPECT_EQ(read_link_kind("TCP").error().message(), "'TCP', but must be shm, unix or tcp");
}

}  // namespace
}  // namespace millrace::net
