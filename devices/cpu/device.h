// CpuDevice: one embedded device: its memory, its threads, and the line of what is ready
// to run there.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/memory_pool.h"

namespace millrace::devices::cpu {

// What may stand in a device's line.
class InLine : public Work {
 public:
  // It costs less to run it than to hand it to another thread.
  virtual bool is_short() const = 0;
  // In place of its run: the threads have closed.
  virtual void fail_unrun() = 0;

  InLine* next_in_line = nullptr;
};

// Where a device records what it does, and when: always, or while the switch is on.
struct DeviceTrace {
  TraceRecorder* recorder = nullptr;               // nothing is recorded without one
  const std::atomic<bool>* switched_on = nullptr;  // both outlive the device
  std::string lane_suffix = {};
};

// Owned by its client. Thread-safety: thread-safe.
class CpuDevice {
 public:
  // client, and its scope, which is held by what is in flight.
  CpuDevice(Client& client, Scope& scope, DeviceId id, const DeviceThreads& threads,
            std::int64_t memory_bytes, const Clock& clock, DeviceTrace trace);

  Client& client() const { return client_; }
  Scope& scope() const { return scope_; }
  DeviceId id() const { return id_; }
  MemoryPool& memory() const { return *memory_; }
  Executor& executor() const { return *threads_.executor; }
  Parallel& parallel() const { return *threads_.parallel; }
  const Clock& clock() const { return clock_; }
  // nullptr while nothing is recorded.
  TraceRecorder* trace() const {
    const std::atomic<bool>* const on = trace_.switched_on;
    return on == nullptr || on->load(std::memory_order_relaxed) ? trace_.recorder : nullptr;
  }
  TraceLane launch_lane() const { return launch_lane_; }
  TraceLane put_lane() const { return put_lane_; }
  TraceName put_name() const { return put_name_; }

  // What has all that it needs runs after those before it; here and now if none is before it and
  // it is short. Takes over one reference.
  void enqueue(InLine& ready);
  // What was running is over: the next one is submitted.
  void next();
  // The threads have closed: what was submitted is not run, and what stands in the line fails.
  void drop_queued();
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

  Client& client_;
  Scope& scope_;
  const DeviceId id_;
  const DeviceThreads threads_;
  const Ref<MemoryPool> memory_;
  const Clock& clock_;
  const DeviceTrace trace_;
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
  InLine* first_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
  InLine* last_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace millrace::devices::cpu
