#include "millrace/devices/cpu/gathering.h"

#include <algorithm>
#include <utility>

namespace millrace::devices::cpu {

Result<LaunchResult> Gathering::join(const ExecutableBody& program,
                                     std::span<CpuDevice* const> devices, std::size_t place,
                                     const LaunchArguments& call, const Make& make) {
  Scope::Hold hold = scope_.hold();
  if (!hold) return std::unexpected(scope_.closed_error());
  Ref<GatheredLaunch> launch;
  LaunchResult result;
  bool waits = false;
  {
    MutexLock lock(mutex_);
    // A close gives up what is open only after the scope is closing, under this lock.
    if (scope_.closing()) return std::unexpected(scope_.closed_error());
    auto found = open_.find(&program);
    if (found == open_.end()) {
      Program opened{{devices.begin(), devices.end()},
                     GatheredLaunches<Ref<GatheredLaunch>>(devices.size())};
      found = open_.emplace(&program, std::move(opened)).first;
    }
    MILLRACE_TRY(launch, found->second.launches.join(place, [&]() -> Result<Ref<GatheredLaunch>> {
      return make(std::move(hold));
    }));
    result = launch->take(place, call.arguments[0], call);
    waits = !launch->is_given_up();
    if (found->second.launches.open().empty()) open_.erase(found);
  }
  if (waits) launch->arrive(place);
  return result;
}

void Gathering::give_up_of(Program& program, const Error& why, std::vector<GivenUp>& into) {
  for (const auto& open : program.launches.open()) {
    if (open.launch->is_given_up()) continue;
    open.launch->give_up(why);
    into.push_back({open.launch, open.missing});
  }
}

void Gathering::end(std::vector<GivenUp>& launches) {
  for (const GivenUp& launch : launches) launch.launch->miss(launch.missing);
}

void Gathering::give_up(const ExecutableBody& program, const Error& why) {
  std::vector<GivenUp> launches;
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(&program);
    if (found == open_.end()) return;
    give_up_of(found->second, why, launches);
    open_.erase(found);
  }
  end(launches);
}

void Gathering::give_up(const CpuDevice& device, const Error& why) {
  std::vector<GivenUp> launches;
  {
    MutexLock lock(mutex_);
    for (auto& [body, program] : open_) {
      if (std::ranges::find(program.devices, &device) != program.devices.end())
        give_up_of(program, why, launches);
    }
  }
  end(launches);
}

void Gathering::give_up_all(const Error& why) {
  std::vector<GivenUp> launches;
  std::map<const ExecutableBody*, Program> ended;
  {
    MutexLock lock(mutex_);
    for (auto& [body, program] : open_) give_up_of(program, why, launches);
    ended.swap(open_);
  }
  end(launches);
}

}  // namespace millrace::devices::cpu
