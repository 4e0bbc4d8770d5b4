// Gathering: the launches of a client that come as one call per device, until all calls are there.
// Read next: gathered_launches.h (which launch a call belongs to), execution.h.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "millrace/core/async/scope.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/ref.h"
#include "millrace/devices/client.h"
#include "millrace/devices/cpu/gathered_launches.h"

namespace millrace::devices::cpu {

class CpuDevice;
class CpuExecutable;
class Execution;

// An open launch holds its program and the client's scope; what can never be complete has to be
// given up, or neither goes. Thread-safety: thread-safe.
class Gathering {
 public:
  // The scope of the client: once it is closing, no call begins or joins a launch.
  explicit Gathering(Scope& scope);
  ~Gathering();

  // One call, of the program's device at this place; make makes the launch where it is the first.
  Result<LaunchResult> join(CpuExecutable& executable, std::size_t place,
                            const LaunchArguments& call,
                            const std::function<Ref<Execution>(Scope::Hold)>& make);

  // Open launches of this program, of this device, all: their outputs fail, as do those of calls
  // that come later.
  void give_up(const CpuExecutable& executable, const Error& why);
  void give_up(const CpuDevice& device, const Error& why);
  void give_up_all(const Error& why);

 private:
  using Launches = GatheredLaunches<Ref<Execution>>;
  struct GivenUp {
    Ref<Execution> launch;
    std::size_t missing;
  };
  // Fails them, without the lock.
  static void end(std::vector<GivenUp>& launches);
  void give_up_of(Launches& launches, const Error& why, std::vector<GivenUp>& into)
      MILLRACE_REQUIRES(mutex_);

  Scope& scope_;
  Mutex mutex_;
  std::map<const CpuExecutable*, Launches> open_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::devices::cpu
