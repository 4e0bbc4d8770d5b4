#include "millrace/devices/cpu/gathering.h"

#include <algorithm>
#include <utility>

#include "millrace/devices/cpu/execution.h"

namespace millrace::devices::cpu {

Gathering::Gathering(Scope& scope) : scope_(scope) {}
Gathering::~Gathering() = default;

Result<LaunchResult> Gathering::join(CpuExecutable& executable, std::size_t place,
                                     const LaunchArguments& call,
                                     const std::function<Ref<Execution>(Scope::Hold)>& make) {
  Scope::Hold hold = scope_.hold();
  if (!hold) return std::unexpected(scope_.closed_error());
  const auto devices = static_cast<std::size_t>(executable.devices_per_launch());
  Ref<Execution> launch;
  LaunchResult result;
  bool waits = false;
  {
    MutexLock lock(mutex_);
    // A close gives up what is open only after the scope is closing, under this lock.
    if (scope_.closing()) return std::unexpected(scope_.closed_error());
    Launches& launches = open_.try_emplace(&executable, devices).first->second;
    MILLRACE_TRY(launch, launches.join(place, [&]() -> Result<Ref<Execution>> {
      return make(std::move(hold));
    }));
    result = launch->take(place, call.arguments[0], call);
    waits = !launch->is_given_up();
    if (launches.open().empty()) open_.erase(&executable);
  }
  if (waits) launch->arrive(place);
  return result;
}

void Gathering::give_up_of(Launches& launches, const Error& why, std::vector<GivenUp>& into) {
  for (const Launches::Open& open : launches.open()) {
    if (open.launch->is_given_up()) continue;
    open.launch->give_up(why);
    into.push_back({open.launch, open.missing});
  }
}

void Gathering::end(std::vector<GivenUp>& launches) {
  for (const GivenUp& launch : launches) launch.launch->miss(launch.missing);
}

void Gathering::give_up(const CpuExecutable& executable, const Error& why) {
  std::vector<GivenUp> launches;
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(&executable);
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
    for (auto& [executable, open] : open_) {
      if (std::ranges::find(executable->devices(), &device) != executable->devices().end())
        give_up_of(open, why, launches);
    }
  }
  end(launches);
}

void Gathering::give_up_all(const Error& why) {
  std::vector<GivenUp> launches;
  std::map<const CpuExecutable*, Launches> ended;
  {
    MutexLock lock(mutex_);
    for (auto& [executable, open] : open_) give_up_of(open, why, launches);
    ended.swap(open_);
  }
  end(launches);
}

}  // namespace millrace::devices::cpu
