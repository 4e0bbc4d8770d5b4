#include "millrace/core/base/process_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace millrace {
namespace {

using ::testing::HasSubstr;
using Set = std::map<std::string, std::string>;

Result<std::optional<JobPlace>> place_of(const Set& set) {
  return job_place([&set](const std::string& name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  });
}

Set operator+(Set one, const Set& other) {
  for (const auto& [name, value] : other) one[name] = value;
  return one;
}

const Set kRanks = {
    {"RANK", "1"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"}};
const Set kMillrace = kRanks + Set{{"MILLRACE_JOB", "a1"}};
const Set kTorchrun = kRanks + Set{{"TORCHELASTIC_RUN_ID", "none"}};
const Set kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "3"},
                      {"OMPI_COMM_WORLD_SIZE", "6"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "6"},
                      {"PMIX_NAMESPACE", "12"},
                      {"PMIX_RANK", "3"}};
const Set kPmi = {
    {"PMI_RANK", "2"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "3"}};
const Set kBatch = {
    {"SLURM_JOB_ID", "77"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}};
const Set kSlurm = kBatch + Set{{"SLURM_STEP_ID", "5"}, {"SLURM_STEP_NUM_NODES", "1"}};

TEST(JobPlaceTest, IsThatOfTheFirstCompleteSet) {
  struct Row {
    Set set;
    std::string launcher;
    int index, count;
    std::string job;
  };
  const std::vector<Row> rows = {
      {kMillrace, "millrace", 1, 4, "a1"},
      {kTorchrun, "torchrun", 1, 4, "none"},
      {kTorchrun + Set{{"MASTER_PORT", "29500"}, {"TORCHELASTIC_RESTART_COUNT", "2"}}, "torchrun",
       1, 4, "none.29500.2"},
      {kOpenMpi, "OpenMPI", 3, 6, "12"},
      {kPmi, "PMI", 2, 3, ""},
      {kSlurm, "Slurm", 0, 2, "77.5"},
      // Launchers nest: mpirun in Slurm, torchrun in Slurm, ours in any.
      {kOpenMpi + kSlurm, "OpenMPI", 3, 6, "12"},
      {kTorchrun + kSlurm, "torchrun", 1, 4, "none"},
      {kPmi + kSlurm, "PMI", 2, 3, ""},
      {kMillrace + kTorchrun + kOpenMpi + kPmi + kSlurm, "millrace", 1, 4, "a1"},
      // Half a set before a complete one: a batch script exports what its programs like to read.
      {Set{{"WORLD_SIZE", "2"}} + kSlurm, "Slurm", 0, 2, "77.5"},
      {Set{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}} + kSlurm, "Slurm", 0, 2, "77.5"},
      {Set{{"MILLRACE_JOB", "a1"}} + kOpenMpi, "OpenMPI", 3, 6, "12"},
      {Set{{"JOB_COMPLETION_INDEX", "9"}} + kPmi, "PMI", 2, 3, ""},
  };
  for (const Row& row : rows) {
    const auto found = place_of(row.set);
    ASSERT_TRUE(found && *found) << row.launcher << row.set.size();
    const JobPlace& place = **found;
    EXPECT_EQ(place.launcher, row.launcher);
    EXPECT_EQ(place.process.index, row.index);
    EXPECT_EQ(place.process.count, row.count);
    EXPECT_EQ(place.process.local_rank, row.index);
    EXPECT_EQ(place.process.local_size, row.count);
    EXPECT_EQ(place.process.host, 0);
    EXPECT_EQ(place.job, row.job);
  }
}

TEST(JobPlaceTest, IsNoneWhereNoSetIsBegun) {
  for (const Set& set :
       {Set{},
        kBatch,  // a batch script is no rank
        Set{{"JOB_COMPLETION_INDEX", "2"}}, Set{{"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "12"}},
        Set{{"RANK", ""}, {"MILLRACE_JOB", ""}}}) {
    const auto found = place_of(set);
    ASSERT_TRUE(found) << found.error().to_string();
    EXPECT_FALSE(*found);
  }
}

TEST(JobPlaceTest, NamesTheVariablesThatAreWrong) {
  struct Row {
    Set set;
    std::string words;
  };
  const std::vector<Row> rows = {
      {{{"MILLRACE_JOB", "a1"}},
       "MILLRACE_JOB is set, but not RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE"},
      {kMillrace + Set{{"WORLD_SIZE", ""}}, "LOCAL_WORLD_SIZE are set, but not WORLD_SIZE: who"},
      {kRanks, "but not MILLRACE_JOB (or torchrun's TORCHELASTIC_RUN_ID)"},
      {{{"WORLD_SIZE", "2"}}, "WORLD_SIZE is set, but not RANK, LOCAL_RANK"},
      {{{"OMPI_COMM_WORLD_SIZE", "2"}}, "OMPI_COMM_WORLD_SIZE is set, but not"},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}},
       "PMI_RANK and PMI_SIZE are set, but not MPI_LOCALRANKID and MPI_LOCALNRANKS"},
      {kSlurm + Set{{"SLURM_NTASKS", ""}}, "but not SLURM_NTASKS: who"},
      {kMillrace + Set{{"RANK", "4"}}, "RANK is 4, but must be below WORLD_SIZE, which is 4"},
      {kMillrace + Set{{"LOCAL_RANK", "4"}}, "LOCAL_RANK is 4, but must be below LOCAL_WORLD_SIZE"},
      {kMillrace + Set{{"RANK", "-1"}}, "RANK is '-1', but must be a whole number from 0"},
      {kTorchrun + Set{{"RANK", "1x"}}, "RANK is '1x'"},
      {kTorchrun + Set{{"WORLD_SIZE", "0"}},
       "WORLD_SIZE is '0', but must be a whole number from 1"},
      {kOpenMpi + Set{{"OMPI_COMM_WORLD_SIZE", "1048577"}}, "OMPI_COMM_WORLD_SIZE is '1048577'"},
      {kPmi + Set{{"PMI_RANK", "99999999999999999999"}}, "PMI_RANK is '99999999999999999999'"},
      {kTorchrun + Set{{"WORLD_SIZE", "8"}},
       "LOCAL_WORLD_SIZE is 4 and WORLD_SIZE is 8: the job has several hosts"},
      {kTorchrun + Set{{"WORLD_SIZE", "2"}}, "WORLD_SIZE is 2: a host cannot have more"},
      {kSlurm + Set{{"SLURM_STEP_NUM_NODES", "2"}},
       "SLURM_STEP_NUM_NODES is 2 and SLURM_NTASKS is 2: the job has several hosts"},
      {kOpenMpi + Set{{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}} + kSlurm,
       "OMPI_COMM_WORLD_LOCAL_SIZE is 2"},
  };
  for (const Row& row : rows) {
    const auto found = place_of(row.set);
    ASSERT_FALSE(found) << row.words;
    EXPECT_EQ(found.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(found.error().message(), HasSubstr(row.words));
  }
}

}  // namespace
}  // namespace millrace
