// Groups of the devices of a job.
#include <utility>

#include "millrace/collectives/process_group.h"
#include "millrace/core/net/mesh.h"
#include "millrace/tools/api/runtime_core.h"

namespace millrace {

Future<std::vector<collectives::ProcessGroup>> Runtime::make_group(const std::string& name,
                                                                   CallOptions call) const {
  using collectives::ProcessGroup;
  net::Mesh* const links = mesh();
  if (links == nullptr) {
    auto made = ProcessGroup::create(actors(), name, devices(), trace());
    if (!made) return made.error();
    return make_ready(*std::move(made));
  }
  std::uint64_t number = 0;
  {
    MutexLock lock(core().group_mutex);
    number = core().group_numbers[{links->epoch(), name}]++;
  }
  return ProcessGroup::meet(actors(), Ref<net::Mesh>::share(links), {name, number}, devices(), call,
                            trace());
}

}  // namespace millrace
