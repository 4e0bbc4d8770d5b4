#include "millrace/tools/launch/rank_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace millrace::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(CoreShareTest, IsABlockOfTheCores) {
  struct Row {
    std::vector<int> cores;
    int ranks;
    std::vector<std::vector<int>> shares;
  };
  const std::vector<Row> rows = {
      {{0, 1}, 1, {{0, 1}}},         {{0, 1}, 2, {{0}, {1}}},
      {{2, 3, 7}, 2, {{2}, {3, 7}}}, {{0, 1, 2, 3, 4, 5, 6, 7}, 3, {{0, 1}, {2, 3, 4}, {5, 6, 7}}},
      {{0, 1}, 3, {{}, {}, {}}},
  };
  for (const Row& row : rows) {
    for (int rank = 0; rank < row.ranks; ++rank) {
      EXPECT_EQ(core_share(row.cores, rank, row.ranks), row.shares[static_cast<std::size_t>(rank)]);
    }
  }
}

TEST(RankVariablesTest, SayWhoTheRankIsOverWhatIsInherited) {
  EXPECT_THAT(rank_variables({"HOME=/a", "RANK=7", "WORLD_SIZE=8", "RANKS=9", "MILLRACE_JOB=outer",
                              "MILLRACE_STORE=unix:/outer", "MILLRACE_SECRET_FILE=/outer/secret",
                              "MILLRACE_TRANSPORT=tcp", "TORCHELASTIC_RUN_ID=x",
                              "TORCHELASTIC_RESTART_COUNT=0"},
                             1, {.ranks = 4, .name = "inner", .store = "unix:/inner"}, 2),
              UnorderedElementsAre("HOME=/a", "RANKS=9", "RANK=1", "WORLD_SIZE=4", "LOCAL_RANK=1",
                                   "LOCAL_WORLD_SIZE=4", "MILLRACE_JOB=inner",
                                   "MILLRACE_STORE=unix:/inner", "MILLRACE_THREADS=2"));
}

TEST(RankVariablesTest, ThreadsThatTheUserChoseStay) {
  EXPECT_THAT(
      rank_variables({"MILLRACE_THREADS=5"}, 0,
                     {.name = "a",
                      .store = "tcp:127.0.0.1:9",
                      .secret_file = "/x/secret",
                      .transport = "unix"},
                     2),
      UnorderedElementsAre("MILLRACE_THREADS=5", "RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0",
                           "LOCAL_WORLD_SIZE=1", "MILLRACE_JOB=a", "MILLRACE_STORE=tcp:127.0.0.1:9",
                           "MILLRACE_SECRET_FILE=/x/secret", "MILLRACE_TRANSPORT=unix"));
}

}  // namespace
}  // namespace millrace::launch
