// CpuDevice: one embedded device: its memory, its threads, and the line of executions that are
// ready to run.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/memory_pool.h"

namespace millrace::devices::cpu {

class Execution;

// Owned by its client. Thread-safety: thread-safe.
class CpuDevice {
 public:
  CpuDevice(DeviceId id, const DeviceThreads& threads, std::int64_t memory_bytes,
            const Clock& clock, TraceRecorder* trace);

  DeviceId id() const { return id_; }
  MemoryPool& memory() const { return *memory_; }
  Executor& executor() const { return *threads_.executor; }
  Parallel& parallel() const { return *threads_.parallel; }
  const Clock& clock() const { return clock_; }
  TraceRecorder* trace() const { return trace_; }
  TraceLane launch_lane() const { return launch_lane_; }
  TraceLane put_lane() const { return put_lane_; }
  TraceName put_name() const { return put_name_; }

  // execution, whose inputs are there, runs after those before it; here and now if none is before
  // it and it is short. Takes over one reference.
  void enqueue(Execution& execution);
  // The execution that was running is over: the next one is submitted.
  void next();
  // The threads have closed: the execution that was submitted is not run, and those in the line
  // (returned, linked) never will be.
  Execution* drop_queued();
  // Its failure and restart (Client::kill, Client::restart).
  void kill(const Error& error);
  Status restart();
  void end_life();  // the client closes: it will not fail any more
  Future<void> failed() const;
  // The error of a device that has failed. Cheap while it has not.
  Status alive() const { return has_failed_.load() ? failure() : Status(); }
  // Grows with each restart: what was made in an earlier life is lost.
  std::uint32_t life() const { return life_.load(); }
  void add_busy(Duration time) { busy_.fetch_add(time.count()); }
  Duration busy() const { return Duration(busy_.load()); }

 private:
  Status failure() const;

  const DeviceId id_;
  const DeviceThreads threads_;
  const Ref<MemoryPool> memory_;
  const Clock& clock_;
  TraceRecorder* const trace_;
  TraceLane launch_lane_{};
  TraceLane put_lane_{};
  TraceName put_name_{};
  std::atomic<Duration::rep> busy_{0};
  std::atomic<bool> has_failed_{false};
  std::atomic<std::uint32_t> life_{0};
  mutable Mutex mutex_;
  std::optional<Error> failure_ MILLRACE_GUARDED_BY(mutex_);
  Promise<void> failed_promise_ MILLRACE_GUARDED_BY(mutex_);
  Future<void> failed_ MILLRACE_GUARDED_BY(mutex_) = failed_promise_.future();
  bool running_ MILLRACE_GUARDED_BY(mutex_) = false;
  Execution* first_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
  Execution* last_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace millrace::devices::cpu
