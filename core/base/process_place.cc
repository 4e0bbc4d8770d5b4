#include "millrace/core/base/process_place.h"

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

namespace millrace {

namespace {

// The variables of one launcher. A local size or a number of hosts says whether all processes are
// on one host; one of them is enough.
struct Launcher {
  const char* name;
  const char* within;  // the set counts only where this one is set; nullptr: always
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;  // nullptr: the size, on one host
  const char* hosts;       // nullptr: by the local size
  // Which together no other job of this host has; the first need not be set.
  std::array<const char*, 3> job;
};

constexpr std::array kLaunchers = {
    Launcher{"millrace",
             "MILLRACE_JOB",
             "RANK",
             "WORLD_SIZE",
             "LOCAL_RANK",
             "LOCAL_WORLD_SIZE",
             nullptr,
             {"MILLRACE_JOB"}},
    Launcher{"torchrun",
             "TORCHELASTIC_RUN_ID",
             "RANK",
             "WORLD_SIZE",
             "LOCAL_RANK",
             "LOCAL_WORLD_SIZE",
             nullptr,
             {"TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}},
    Launcher{"OpenMPI",
             nullptr,
             "OMPI_COMM_WORLD_RANK",
             "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_RANK",
             "OMPI_COMM_WORLD_LOCAL_SIZE",
             nullptr,
             {"PMIX_NAMESPACE"}},
    Launcher{"PMI",
             nullptr,
             "PMI_RANK",
             "PMI_SIZE",
             "MPI_LOCALRANKID",
             "MPI_LOCALNRANKS",
             nullptr,
             {"PMI_JOBID"}},
    Launcher{"Slurm",
             "SLURM_STEP_ID",
             "SLURM_PROCID",
             "SLURM_NTASKS",
             "SLURM_LOCALID",
             nullptr,
             "SLURM_STEP_NUM_NODES",
             {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

std::optional<std::string> value_of(const Variables& variables, const char* name) {
  if (name == nullptr) return std::nullopt;
  std::optional<std::string> value = variables(name);
  return value && !value->empty() ? value : std::nullopt;
}

std::string joined(const std::vector<const char*>& names, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? last : ", ";
    text += names[i];
  }
  return text;
}

// Which variables of a set there are, and which not.
struct Presence {
  std::vector<const char*> set;
  std::vector<const char*> missing;
};

Presence presence(const Launcher& launcher, const Variables& variables) {
  Presence found;
  for (const char* name :
       {launcher.rank, launcher.size, launcher.local_rank, launcher.local_size, launcher.hosts}) {
    if (name == nullptr) continue;
    (value_of(variables, name) ? found.set : found.missing).push_back(name);
  }
  return found;
}

Result<int> number(const Variables& variables, const char* name, int least, int most) {
  const std::string text = value_of(variables, name).value_or("");
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stopped == end && value >= least && value <= most) return value;
  return fail(ErrorCode::kInvalidArgument,
              std::string(name) + " is '" + text + "', but must be a whole number from " +
                  std::to_string(least) + " to " + std::to_string(most));
}

// A rank and the size that it must be below.
Result<int> rank_below(const Variables& variables, const char* name, const char* size_name,
                       int size) {
  MILLRACE_TRY(const int rank, number(variables, name, 0, kMostProcesses - 1));
  if (rank < size) return rank;
  return fail(ErrorCode::kInvalidArgument, std::string(name) + " is " + std::to_string(rank) +
                                               ", but must be below " + size_name + ", which is " +
                                               std::to_string(size));
}

// "77.5": a job of Slurm has many steps, and one of torchrun many starts.
std::string job_name(const Launcher& launcher, const Variables& variables) {
  std::string text = value_of(variables, launcher.job[0]).value_or("");
  if (text.empty()) return text;
  for (const char* const name : {launcher.job[1], launcher.job[2]}) {
    if (const auto value = value_of(variables, name)) text += "." + *value;
  }
  return text;
}

Result<JobPlace> read_place(const Launcher& launcher, const Variables& variables) {
  MILLRACE_TRY(const int size, number(variables, launcher.size, 1, kMostProcesses));
  MILLRACE_TRY(const int rank, rank_below(variables, launcher.rank, launcher.size, size));
  const bool counts_hosts = launcher.hosts != nullptr;
  const char* const host_name = counts_hosts ? launcher.hosts : launcher.local_size;
  const int on_one_host = counts_hosts ? 1 : size;
  MILLRACE_TRY(const int found, number(variables, host_name, 1, kMostProcesses));
  if (found != on_one_host) {
    return fail(
        ErrorCode::kInvalidArgument,
        std::string(host_name) + " is " + std::to_string(found) + " and " + launcher.size + " is " +
            std::to_string(size) +
            (counts_hosts || found < size ? ": the job has several hosts, and must have one"
                                          : ": a host cannot have more processes than the job"));
  }
  MILLRACE_TRY(const int local_rank,
               rank_below(variables, launcher.local_rank,
                          counts_hosts ? launcher.size : launcher.local_size, size));
  JobPlace place;
  place.process = {
      .index = rank, .count = size, .local_rank = local_rank, .local_size = size, .host = 0};
  place.launcher = launcher.name;
  place.job = job_name(launcher, variables);
  return place;
}

std::unexpected<Error> half_a_set(const Presence& found, const std::string& launcher) {
  return fail(ErrorCode::kInvalidArgument,
              joined(found.set, " and ") + (found.set.size() == 1 ? " is" : " are") +
                  " set, but not " + joined(found.missing, " and ") +
                  ": who this process is in a job of " + launcher + " needs all of them, or none");
}

}  // namespace

Result<std::optional<JobPlace>> job_place(const Variables& variables) {
  std::optional<Error> half;
  for (const Launcher& launcher : kLaunchers) {
    if (launcher.within != nullptr && !value_of(variables, launcher.within)) continue;
    Presence found = presence(launcher, variables);
    if (found.missing.empty()) {
      MILLRACE_TRY(JobPlace place, read_place(launcher, variables));
      return place;
    }
    if (launcher.within != nullptr) found.set.insert(found.set.begin(), launcher.within);
    if (!found.set.empty() && !half) half = half_a_set(found, launcher.name).error();
  }
  if (half) return std::unexpected(*half);
  // What `millrace launch` and torchrun set, but neither says that it did.
  Presence found = presence(kLaunchers[0], variables);
  if (found.set.empty()) return std::nullopt;
  found.missing.push_back("MILLRACE_JOB (or torchrun's TORCHELASTIC_RUN_ID)");
  return half_a_set(found, kLaunchers[0].name);
}

}  // namespace millrace
