// CpuClient: the embedded devices: N of them in one process, each with threads of its own. A launch
// gives handles at once and runs when its inputs' bytes are there; one program at a time per
// device, in order of readiness; each output completes when it is written. A program for several
// devices is one without collectives by the time it runs (execution.h, CE-1), on the threads of all
// of them. Read next: execution.h
// (a launch), buffer.h (an array), device.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "millrace/devices/client.h"
#include "millrace/devices/cpu/devices.h"
#include "millrace/devices/cpu/late_array.h"

namespace millrace::devices::cpu {

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
  // An array whose bytes come later, from the caller. The errors of put().
  Result<LateArray> make_late(const Shape& shape, DeviceId device);
  // One without memory, which takes over that of another array.
  Result<LateArray> make_alias(const Shape& shape, DeviceId device);
  Result<Buffer> copy(const Buffer& source, DeviceId device, int memory) override;
  Result<MemoryStats> memory_stats(DeviceId device) const override;
  // The peak begins anew, at what is in use.
  Status clear_memory_stats(DeviceId device);
  std::optional<Duration> busy_time(DeviceId device) const override;
  Future<void> failed(DeviceId device) const override;
  Status kill(DeviceId device, const Error& cause) override;
  Status restart(DeviceId device) override;
  Future<void> close() override;

 private:
  // The devices that a program is bound to; none for one that runs on any.
  Result<std::vector<CpuDevice*>> find_devices(const Program& program,
                                               const CompileOptions& options) const;
  // The backend of a job with so many processes.
  Result<CollectiveBackend*> find_processes(const Program& program, int wanted) const;
  Result<Executable> make(const Program& program, const CompileOptions& options,
                          const KernelChoices* chosen);
  Result<CpuDevice*> find_open(DeviceId device);

  CpuDevices devices_;
  std::vector<DeviceInfo> infos_;
  std::vector<MemoryInfo> memories_;
};

}  // namespace millrace::devices::cpu
