// What a process has in common with the others of its job: groups of devices, worlds, actors.
#include <utility>

#include "millrace/collectives/process_group.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/mesh.h"
#include "millrace/tools/api/runtime_core.h"

namespace millrace {

actors::RemoteActors* Runtime::remote_actors() const {
  net::Mesh* const links = mesh();
  if (links == nullptr) return nullptr;
  MutexLock lock(core().group_mutex);
  if (!core().remote && !core().links_closed) {
    core().remote = std::make_unique<actors::RemoteActors>(Ref<net::Mesh>::share(links), actors(),
                                                           environment());
  }
  return core().remote.get();
}

Result<devices::CollectiveBackend*> Runtime::Core::program_links() {
  if (!job) return nullptr;
  net::Mesh& mesh = job->mesh();
  MutexLock lock(group_mutex);
  if (links_closed) return fail(ErrorCode::kUnavailable, "the runtime is closed");
  const bool is_first = world.ranks.empty();  // all of the job, in the epoch in which it began
  const std::uint32_t epoch = is_first ? mesh.epoch() : world.epoch;
  std::unique_ptr<collectives::ProgramLinks>& made = links[epoch];
  if (made == nullptr) {
    std::vector<std::uint32_t> ranks = world.ranks;
    for (std::uint32_t r = 0; is_first && r < mesh.size(); ++r) ranks.push_back(r);
    made = std::make_unique<collectives::ProgramLinks>(Ref<net::Mesh>::share(&mesh), epoch,
                                                       std::move(ranks));
    for (const auto& [other, before] : links) {
      if (other != epoch)
        before->close(Error(ErrorCode::kAborted, "the job has gone on with another world"));
    }
  }
  return made.get();
}

void Runtime::Core::close_links() {
  MutexLock lock(group_mutex);
  links_closed = true;
  for (const auto& [epoch, made] : links)
    made->close(Error(ErrorCode::kUnavailable, "the runtime was closed"));
}

// What was given before goes out; a process that takes nothing is not waited for.
Task<void> Runtime::Core::drain_links() {
  std::vector<Future<void>> ends;
  {
    MutexLock lock(group_mutex);
    for (const auto& [epoch, made] : links) ends.push_back(made->drained());
  }
  for (const Future<void>& end : ends) {
    TimerQueue& timers = job->mesh().timers();
    co_await with_deadline(end, timers.clock().now() + quarter(), timers);
  }
}

Future<net::World> Runtime::next_world(CallOptions call) const {
  if (!core().job)
    return fail(ErrorCode::kFailedPrecondition,
                "this process is none of a job's (millrace launch)");
  Core* const made = &core();
  return with_options(made->job->next_world(), call, *environment().timers)
      .then(inline_executor(), [made](const Result<net::World>& world) {
        MutexLock lock(made->group_mutex);
        if (world) made->world = *world;
        return world;
      });
}

Future<std::vector<collectives::ProcessGroup>> Runtime::make_group(const std::string& name,
                                                                   CallOptions call) const {
  using collectives::ProcessGroup;
  net::Mesh* const links = mesh();
  if (links == nullptr) {
    return Future<std::vector<ProcessGroup>>(
        ProcessGroup::create(actors(), name, devices(device_kind()), trace()));
  }
  std::uint64_t number = 0;
  std::vector<std::uint32_t> processes;
  {
    MutexLock lock(core().group_mutex);
    processes = core().world.ranks;
    number = core().group_numbers[{links->epoch(), name}]++;
  }
  return ProcessGroup::meet(actors(), Ref<net::Mesh>::share(links), {name, number},
                            devices(device_kind()),
                            {.call = call,
                             .trace = trace(),
                             .progress = job()->progress(name),
                             .processes = std::move(processes)});
}

}  // namespace millrace
