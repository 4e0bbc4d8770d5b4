// CpuClient: the embedded devices: N of them in one process, each with threads of its own. A launch
// gives handles at once and runs when its inputs' bytes are there; one program at a time per
// device, in order of readiness; each output completes when it is written. Read next: execution.h
// (a launch), buffer.h (an array), device.h.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/parallel_for.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/device.h"

namespace millrace::devices::cpu {

// From a program to what runs it; cpu::compile (compile.h), or a test's own. chosen: as there.
using CompileFunction = std::function<Result<std::shared_ptr<const Compiled>>(
    const Program&, const CompileOptions&, const KernelChoices* chosen)>;

struct CpuClientOptions {
  // One entry per device. Programs and copies run there, never on the executors of actors, so that
  // neither keeps the other from running.
  std::vector<DeviceThreads> threads = {};
  const Clock* clock = &steady_clock();
  TraceRecorder* trace = nullptr;  // launches and puts, on lanes "device N" and "device N puts"
  std::int64_t memory_bytes = 0;   // per device; 0: what the system has
  // A program whose last executions took less is run by the launch itself, if its inputs are there
  // and the device is idle: a wake-up would cost more. 0: never, every program runs on the device's
  // threads.
  Duration inline_time{0};
  CompileFunction compile = {};  // needed
};

// Owned by the runtime; threads and clock outlive it. Destroy it after close() has completed and
// every buffer and executable is gone. Thread-safety: thread-safe.
class CpuClient final : public Client {
 public:
  explicit CpuClient(CpuClientOptions options);
  ~CpuClient() override;

  std::string_view platform_name() const override { return "cpu"; }
  std::string_view platform_version() const override { return "millrace 0.1"; }
  std::span<const DeviceInfo> devices() const override { return infos_; }
  std::span<const MemoryInfo> memories() const override { return memories_; }
  bool calls_may_block() const override { return false; }
  Result<Executable> compile(const Program& program, const CompileOptions& options) override;
  // serialize() gives the program, how it was compiled, and which kernels were chosen by measuring:
  // the same compiler on the same processor need not measure again, any other compiles anew.
  Result<Executable> load(std::string_view serialized) override;
  Result<Executable> load_compiled(std::string_view serialized, const Program& program,
                                   const CompileOptions& options) override;
  std::string compiler_identity() const override;
  PutMemorySource put_memory(DeviceId device) override;
  Result<PutResult> put(const HostView& view, HostBufferSemantics semantics, DeviceId device,
                        int memory) override;
  Result<Buffer> copy(const Buffer& source, DeviceId device, int memory) override;
  Result<MemoryStats> memory_stats(DeviceId device) const override;
  std::optional<Duration> busy_time(DeviceId device) const override;
  Future<void> failed(DeviceId device) const override;
  Status kill(DeviceId device, const Error& cause) override;
  Status restart(DeviceId device) override;
  Future<void> close() override;

  // For the other files of this folder.
  Result<CpuDevice*> find(DeviceId device, int memory = -1) const;
  Scope& scope() { return scope_; }
  const CpuClientOptions& options() const { return options_; }

 private:
  Result<Executable> make(const Program& program, const CompileOptions& options,
                          const KernelChoices* chosen);

  const CpuClientOptions options_;
  std::vector<DeviceInfo> infos_;
  std::vector<MemoryInfo> memories_;
  std::vector<std::unique_ptr<CpuDevice>> devices_;
  Scope scope_{"the CPU client"};  // held by what is in flight
};

}  // namespace millrace::devices::cpu
