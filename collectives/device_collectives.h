// DeviceCollectives: the collectives of a group whose devices are all of one plugin with memory of
// its own: a program for each kind of call, compiled at the first one and launched on all devices,
// so that no array goes through the host. Where devices compute in the host's memory, the host is
// faster, since it reads in place and computes once. Read next: collective_program.h (the
// programs), exchange.h (the way through the host).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "millrace/collectives/collective_call.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/pool.h"
#include "millrace/devices/device.h"

namespace millrace::collectives {

// A call that the plugin does not compile goes through the host, and so do all like it.
// Owned by a GroupActor. Thread-safety: confined.
class DeviceCollectives {
 public:
  // nullptr for a group that the host serves: of one device, of several clients, or of a client
  // that computes in the host's memory (its platform is "cpu", or its calls never block).
  static std::unique_ptr<DeviceCollectives> make(const Environment& environment,
                                                 std::span<const devices::Device> devices);
  DeviceCollectives(const Environment& environment, std::span<const devices::Device> devices);

  // As run_exchange() of the group's devices. The results are handles, whose bytes come later. An
  // error names the rank whose device has failed.
  Future<PooledVector<devices::Buffers>> run(const CollectiveCall& call,
                                             PooledVector<devices::Buffers> inputs);
  // Completes once nothing is being compiled: what is uses the client.
  Future<void> compiled() const;

 private:
  // An empty Executable: the host does it.
  Future<devices::Executable> program_of(const CollectiveCall& call);
  Future<PooledVector<devices::Buffers>> broadcast(const CollectiveCall& call,
                                                   PooledVector<devices::Buffers> inputs) const;

  const Environment environment_;
  const std::shared_ptr<const std::vector<devices::Device>> devices_;
  std::map<std::uint64_t, Future<devices::Executable>> programs_;  // by the call's fingerprint
};

}  // namespace millrace::collectives
