// job_place: who this process is in a job of several, as the launcher that started it says by
// variables: `millrace launch`, torchrun, MPI or Slurm. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "millrace/core/base/braced.h"
#include "millrace/core/base/error.h"

namespace millrace {

// A variable of the process's environment, or of a test's. Options of public calls hold it.
using Variables = Braced<std::function<std::optional<std::string>(const std::string& name)>>;

// Where this process stands in a job of several: for backends whose devices span them.
struct ProcessPlace {
  int index = 0;  // of this process, 0 <= index < count
  int count = 1;
  int local_rank = 0;  // among those of this host
  int local_size = 1;
  int host = 0;  // index of the host
};

struct JobPlace {
  ProcessPlace process = {};
  std::string launcher = {};  // whose variables say so: "torchrun"
  // The launcher's name of the job, which no other of this host has; empty where it gives none.
  std::string job = {};
};

inline constexpr int kMostProcesses = 1 << 20;

// By the first of these sets of variables that is complete; nullopt: none is begun, this process is
// alone. Launchers nest, and the inner one comes first:
//
//   millrace   RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE; with MILLRACE_JOB
//   torchrun   the same; with TORCHELASTIC_RUN_ID (the job: with MASTER_PORT and the restart)
//   OpenMPI    OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE (PMIX_NAMESPACE names the job)
//   PMI        PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
//   Slurm      SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, SLURM_STEP_NUM_NODES; with SLURM_STEP_ID,
//              which a batch script has not: that is no rank
//
// kInvalidArgument names the variables: where none is complete and one is begun, and where the
// first complete one has what is no number, a rank that is not below its size, or several hosts. An
// empty variable is not set. JOB_COMPLETION_INDEX, which has no size, says nothing.
Result<std::optional<JobPlace>> job_place(const Variables& variables);

}  // namespace millrace
