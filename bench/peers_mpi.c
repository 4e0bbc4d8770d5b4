// What OpenMPI does for the figures of processes.cc: a process of `mpirun -n N peers_mpi WORDS...`.
// Rank 0 prints the median of its calls in microseconds.
//   all_reduce BYTES RUNS   the sum of so many bytes of f32
//   barrier RUNS
//   cast RUNS               8 bytes to all, and the sum of 8 bytes of each at rank 0
//   meet                    starts, meets the others, ends
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int order(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const what = argc > 1 ? argv[1] : "meet";
  const int has_bytes = strcmp(what, "all_reduce") == 0;
  const size_t count = has_bytes && argc > 2 ? strtoull(argv[2], NULL, 10) / sizeof(float) : 0;
  const int runs = argc > 2 + has_bytes ? atoi(argv[2 + has_bytes]) : 0;
  float* const mine = malloc(count * sizeof(float) + 1);
  float* const sum = malloc(count * sizeof(float) + 1);
  for (size_t i = 0; i < count; ++i) mine[i] = (float)(i % 16), sum[i] = 0;
  double* const times = malloc(sizeof(double) * (size_t)(runs + 1));
  for (int k = -1; k < runs; ++k) {  // the first one makes the links
    unsigned long long number = 1, all = 0;
    const double begin = MPI_Wtime();
    if (has_bytes) {
      MPI_Allreduce(mine, sum, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(what, "cast") == 0) {
      MPI_Bcast(&number, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
      MPI_Reduce(&number, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (k >= 0) times[k] = 1e6 * (MPI_Wtime() - begin);
  }
  if (runs > 0 && rank == 0) {
    qsort(times, (size_t)runs, sizeof(double), &order);
    printf("%.9g\n", times[runs / 2]);
  }
  MPI_Finalize();
  return 0;
}
