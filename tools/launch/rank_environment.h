// What a rank is started with: its variables, and its share of the cores. Pure.
#pragma once

#include <string>
#include <vector>

namespace millrace::launch {

// The rank's block of the cores, by their numbers: blocks differ by one core at most. Empty where
// there are more ranks than cores: then every rank may run on all of them.
std::vector<int> core_share(const std::vector<int>& cores, int rank, int ranks);

// What all ranks of a job have in common.
struct RankJob {
  int ranks = 1;
  std::string name = {};
  std::string store = {};        // its address
  std::string secret_file = {};  // empty: none is needed
  std::string transport = {};    // of the links between ranks; empty: as the store is reached
};

// "NAME=VALUE" each: the inherited ones; over them RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE,
// MILLRACE_JOB, MILLRACE_STORE, MILLRACE_SECRET_FILE and MILLRACE_TRANSPORT; and, where it is not
// inherited, MILLRACE_THREADS. What torchrun says of the process that launches is left out: it is
// no more true.
std::vector<std::string> rank_variables(const std::vector<std::string>& inherited, int rank,
                                        const RankJob& job, int threads);

}  // namespace millrace::launch
