// SimClient: devices of scripted speed and scripted failures, in one thread on virtual time or in
// many on real time. Programs are C++ functions with a name (SimProgram), so the numbers are exact.
// It is strict where real devices are: a call from outside the device's actor or the use of a
// buffer that was donated is a violation. Read next: sim_core.h (when things happen).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "millrace/devices/sim/sim_core.h"

namespace millrace::devices::sim {

// Owned by a test; lives until close() has completed and all buffers are gone. Thread-safety:
// thread-safe.
class SimClient final : public SimCore {
 public:
  explicit SimClient(const SimOptions& opts);
  ~SimClient() override;

  void add_program(SimProgram program);

  // Faults, scripted before or during a run. Launches and puts of a device count from 1, at the
  // call.
  void fail_launch(DeviceId device, std::uint64_t nth, Error error);
  void fail_put(DeviceId device, std::uint64_t nth, Error error);
  void fail_device(DeviceId device, TimePoint at, std::string cause);  // a kill() of then
  // Nothing begins, is written or ends on the device from then on, for so long.
  void stall(DeviceId device, TimePoint at, Duration length);
  // What begins from then on takes factor times as long.
  void slow(DeviceId device, TimePoint at, double factor);

  // What happened, in order of time.
  std::vector<SimEvent> events() const;
  std::int64_t live_buffers() const { return buffers.load(); }
  std::uint64_t uses_after_removal() const { return removed_uses.load(); }
  // Called for a call from outside the device's actor; by default that ends the process.
  void set_violation_handler(std::function<void(const std::string&)> handler) {
    violation_ = std::move(handler);
  }

  std::string_view platform_name() const override { return "sim"; }
  std::string_view platform_version() const override { return "1"; }
  std::span<const DeviceInfo> devices() const override { return infos_; }
  std::span<const MemoryInfo> memories() const override { return memories_; }
  bool calls_may_block() const override { return false; }
  Result<Executable> compile(const Program& program, const CompileOptions& /*options*/) override {
    return load(program.code());
  }
  Result<Executable> load(std::string_view serialized) override;
  Result<PutResult> put(const HostView& view, HostBufferSemantics semantics, DeviceId device,
                        int memory) override;
  Result<Buffer> copy(const Buffer& source, DeviceId device, int memory) override;
  Result<MemoryStats> memory_stats(DeviceId device) const override;
  Future<void> failed(DeviceId device) const override;
  Status kill(DeviceId device, const Error& cause) override;
  Status restart(DeviceId device) override;
  std::optional<Duration> busy_time(DeviceId device) const override;
  Future<void> close() override;

 private:
  std::vector<DeviceInfo> infos_;
  std::vector<MemoryInfo> memories_;
  std::map<std::string, std::shared_ptr<const SimProgram>, std::less<>> programs_
      MILLRACE_GUARDED_BY(mutex);
  std::vector<TimerQueue::Id> fault_timers_ MILLRACE_GUARDED_BY(mutex);
};

}  // namespace millrace::devices::sim
