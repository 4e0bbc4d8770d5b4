// Gathering: the launches of a client that come as one call per device, until all calls are there.
// Read next: gathered_launches.h (which launch a call belongs to), execution.h.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "millrace/core/async/scope.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/ref.h"
#include "millrace/devices/client.h"
#include "millrace/devices/cpu/gathered_launches.h"

namespace millrace::devices::cpu {

class CpuDevice;

// A launch of which this knows. The first three are called under its lock.
class GatheredLaunch : public RefCounted {
 public:
  // Takes the inputs of the device at this place and makes its outputs.
  virtual LaunchResult take(std::size_t place, std::span<const Buffer> arguments,
                            const LaunchArguments& call) = 0;
  virtual void give_up(const Error& why) = 0;
  virtual bool is_given_up() const = 0;
  virtual void arrive(std::size_t place) = 0;  // the call of this device has come
  virtual void miss(std::size_t calls) = 0;    // so many never will: it was given up
};

// An open launch holds its program and the client's scope; what can never be complete has to be
// given up, or neither goes. Thread-safety: thread-safe.
class Gathering {
 public:
  using Make = std::function<Ref<GatheredLaunch>(Scope::Hold)>;

  // The scope of the client: once it is closing, no call begins or joins a launch.
  explicit Gathering(Scope& scope) : scope_(scope) {}

  // One call of a program on these devices, of the one at this place; make makes the launch where
  // it is the first.
  Result<LaunchResult> join(const ExecutableBody& program, std::span<CpuDevice* const> devices,
                            std::size_t place, const LaunchArguments& call, const Make& make);

  // Open launches of this program, of this device, all: their outputs fail, as do those of calls
  // that come later.
  void give_up(const ExecutableBody& program, const Error& why);
  void give_up(const CpuDevice& device, const Error& why);
  void give_up_all(const Error& why);

 private:
  struct Program {
    std::vector<CpuDevice*> devices;
    GatheredLaunches<Ref<GatheredLaunch>> launches;
  };
  struct GivenUp {
    Ref<GatheredLaunch> launch;
    std::size_t missing;
  };
  // Fails them, without the lock.
  static void end(std::vector<GivenUp>& launches);
  void give_up_of(Program& program, const Error& why, std::vector<GivenUp>& into)
      MILLRACE_REQUIRES(mutex_);

  Scope& scope_;
  Mutex mutex_;
  std::map<const ExecutableBody*, Program> open_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::devices::cpu
