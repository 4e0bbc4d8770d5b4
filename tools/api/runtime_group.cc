// Groups of the devices of a job.
#include <utility>

#include "millrace/collectives/process_group.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/mesh.h"
#include "millrace/tools/api/runtime_core.h"

namespace millrace {

Future<std::vector<collectives::ProcessGroup>> Runtime::make_group(const std::string& name,
                                                                   CallOptions call) const {
  using collectives::ProcessGroup;
  net::Mesh* const links = mesh();
  if (links == nullptr) {
    return Future<std::vector<ProcessGroup>>(
        ProcessGroup::create(actors(), name, devices(), trace()));
  }
  std::uint64_t number = 0;
  {
    MutexLock lock(core().group_mutex);
    number = core().group_numbers[{links->epoch(), name}]++;
  }
  return ProcessGroup::meet(actors(), Ref<net::Mesh>::share(links), {name, number}, devices(),
                            {.call = call, .trace = trace(), .progress = job()->progress(name)});
}

}  // namespace millrace
