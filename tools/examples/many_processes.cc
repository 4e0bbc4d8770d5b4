// One of many processes, each with its devices: they add up their vectors, as a step of a training
// does its gradients.
//
//   build/bin/millrace launch -n 4 -- build/bin/many_processes
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/millrace.h"

using namespace millrace;
using collectives::ProcessGroup;
using collectives::ReduceOp;

template <class T>
T need(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
  std::exit(1);
}

int main() {
  auto runtime = need(Runtime::create(RuntimeOptions::from_env()));
  std::vector<ProcessGroup> mine = need(wait_blocking(runtime.make_group("train")));
  std::vector<Future<Buffers>> sums;
  for (const ProcessGroup& rank : mine) {  // one for each device of this process
    const float number = static_cast<float>(index(rank.rank()));
    Buffer gradient = need(wait_blocking(rank.device().put(std::vector<float>{1, number}, {2})));
    sums.push_back(rank.all_reduce({gradient}, ReduceOp::kSum));
  }
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const HostArray array = need(wait_blocking(fetch(mine[i].device(), sums[i], 0)));
    std::printf("rank %d of %d: %g %g\n", index(mine[i].rank()), mine[i].size(),
                array.as<float>()[0], array.as<float>()[1]);
  }
}
