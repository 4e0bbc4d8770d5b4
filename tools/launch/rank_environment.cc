#include "millrace/tools/launch/rank_environment.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace millrace::launch {

std::vector<int> core_share(const std::vector<int>& cores, int rank, int ranks) {
  if (std::cmp_less(cores.size(), ranks)) return {};
  const auto begin_of = [&](int r) {
    return static_cast<std::ptrdiff_t>(cores.size()) * r / ranks;
  };
  return {cores.begin() + begin_of(rank), cores.begin() + begin_of(rank + 1)};
}

std::vector<std::string> rank_variables(const std::vector<std::string>& inherited, int rank,
                                        const RankJob& job, int threads) {
  std::vector<std::string> variables = {"RANK=" + std::to_string(rank),
                                        "WORLD_SIZE=" + std::to_string(job.ranks),
                                        "LOCAL_RANK=" + std::to_string(rank),
                                        "LOCAL_WORLD_SIZE=" + std::to_string(job.ranks),
                                        "MILLRACE_JOB=" + job.name,
                                        "MILLRACE_STORE=" + job.store,
                                        "MILLRACE_SECRET_FILE=" + job.secret_file,
                                        "MILLRACE_TRANSPORT=" + job.transport};
  const auto name_of = [](std::string_view variable) {
    return variable.substr(0, variable.find('='));
  };
  bool threads_set = false;
  const std::size_t ours = variables.size();
  for (const std::string& variable : inherited) {
    const std::string_view name = name_of(variable);
    const auto end = variables.begin() + static_cast<std::ptrdiff_t>(ours);
    const bool replaced = std::any_of(
        variables.begin(), end, [&](const std::string& other) { return name_of(other) == name; });
    if (replaced || name.starts_with("TORCHELASTIC_")) continue;
    threads_set = threads_set || name == "MILLRACE_THREADS";
    variables.push_back(variable);
  }
  if (job.secret_file.empty()) std::erase(variables, "MILLRACE_SECRET_FILE=");
  if (job.transport.empty()) std::erase(variables, "MILLRACE_TRANSPORT=");
  if (!threads_set) variables.push_back("MILLRACE_THREADS=" + std::to_string(threads));
  return variables;
}

}  // namespace millrace::launch
