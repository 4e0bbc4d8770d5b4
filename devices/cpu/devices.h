// CpuDevices: what the parts of a CPU client share: its options, its devices, and the scope that
// its close waits for.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/collective_backend.h"
#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/device.h"
#include "millrace/devices/cpu/gathering.h"

namespace millrace::devices::cpu {

// From a program to what runs it; cpu::compile (compile.h), or a test's own.
using CompileFunction = std::function<Result<std::shared_ptr<const Compiled>>(
    const Program&, const CompileOptions&, const CompileContext&)>;

struct CpuClientOptions {
  // One entry per device. Programs and copies run there, never on the executors of actors, so that
  // neither keeps the other from running.
  std::vector<DeviceThreads> threads = {};
  const Clock* clock = &steady_clock();
  TraceRecorder* trace = nullptr;  // launches and puts, on lanes "device N" and "device N puts"
  std::string lane_suffix = {};    // "device N" + this
  const std::atomic<bool>* trace_switch = nullptr;  // recorded while it is on; nullptr: always
  std::int64_t memory_bytes = 0;                    // per device; 0: what the system has
  // A program whose last executions took less is run by the launch itself, if its inputs are there
  // and the device is idle: a wake-up would cost more; one that is awaited (ExecuteOptions), below
  // 0.5 ms. 0: never, every program runs on the device's threads.
  Duration inline_time{0};
  CompileFunction compile = {};  // needed
  // For programs that span processes; asked for each. Left out, or nullptr: there are no others. An
  // error is that of the compilation. Its owner closes the backend before the client, whose close
  // waits for their launches, and keeps it as long as the client.
  std::function<Result<CollectiveBackend*>()> processes = {};
};

// Launches of programs that span processes, which may wait for another one. Thread-safety:
// thread-safe.
class ProcessLaunches {
 public:
  void add(std::shared_ptr<ProcessLaunch> launch);
  void erase(const ProcessLaunch* launch);
  // They look whether they must end.
  void interrupt();

 private:
  Mutex mutex_;
  std::map<const ProcessLaunch*, std::shared_ptr<ProcessLaunch>> all_ MILLRACE_GUARDED_BY(mutex_);
};

// Owned by its client. Thread-safety: as its parts.
class CpuDevices {
 public:
  CpuDevices(Client& of, CpuClientOptions given);

  // kInvalidArgument for a device, or a memory of it, that is not there; memory -1: its only one.
  Result<CpuDevice*> find(DeviceId device, int memory = -1) const;

  Client& client;
  const CpuClientOptions options;
  Scope scope{"the CPU client"};  // held by what is in flight
  std::vector<std::unique_ptr<CpuDevice>> all;
  Gathering gathering{scope};  // launches that come as one call per device
  ProcessLaunches process_launches;
};

}  // namespace millrace::devices::cpu
