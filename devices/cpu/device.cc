#include "millrace/devices/cpu/device.h"

#include <utility>

namespace millrace::devices::cpu {

CpuDevice::CpuDevice(Client& client, Scope& scope, DeviceId id, const DeviceThreads& threads,
                     std::int64_t memory_bytes, const Clock& clock, DeviceTrace trace)
    : client_(client),
      scope_(scope),
      id_(id),
      threads_(threads),
      memory_(make_ref<MemoryPool>(memory_bytes)),
      clock_(clock),
      trace_(trace) {
  if (trace.recorder == nullptr) return;
  const std::string name = name_of(id) + trace.lane_suffix;
  launch_lane_ = trace.recorder->lane(name);
  put_lane_ = trace.recorder->lane(name + " puts");
  put_name_ = trace.recorder->name("put");
}

void CpuDevice::enqueue(InLine& ready) {
  {
    MutexLock lock(mutex_);
    if (running_) {
      ready.next_in_line = nullptr;
      (last_ == nullptr ? first_ : last_->next_in_line) = &ready;
      last_ = &ready;
      return;
    }
    running_ = true;
  }
  if (ready.is_short()) {
    ready.run();
  } else {
    threads_.executor->submit(&ready);
  }
}

void CpuDevice::drop_queued() {
  InLine* dropped = nullptr;
  {
    MutexLock lock(mutex_);
    running_ = false;
    last_ = nullptr;
    dropped = std::exchange(first_, nullptr);
  }
  while (dropped != nullptr) std::exchange(dropped, dropped->next_in_line)->fail_unrun();
}

void CpuDevice::next() {
  InLine* ready = nullptr;
  {
    MutexLock lock(mutex_);
    ready = first_;
    if (ready == nullptr) {
      running_ = false;
      return;
    }
    first_ = ready->next_in_line;
    if (first_ == nullptr) last_ = nullptr;
  }
  threads_.executor->submit(ready);
}

void CpuDevice::kill(const Error& error) {
  Promise<void> failed;
  {
    MutexLock lock(mutex_);
    if (failure_) return;
    failure_ = error;
    failed = std::move(failed_promise_);
  }
  has_failed_.store(true);
  if (failed.valid()) failed.set_error(error);
}

Status CpuDevice::failure() const {
  MutexLock lock(mutex_);
  return failure_ ? Status(std::unexpected(*failure_)) : Status();
}

Status CpuDevice::restart() {
  MutexLock lock(mutex_);
  if (!failure_) {
    return fail(ErrorCode::kFailedPrecondition, "CPU device " + std::to_string(index(id_)) +
                                                    " was not restarted: it has not failed");
  }
  life_.fetch_add(1);  // before anything can be made in the new one
  failure_.reset();
  failed_promise_ = Promise<void>();
  failed_ = failed_promise_.future();
  has_failed_.store(false);
  return {};
}

void CpuDevice::end_life() {
  Promise<void> failed;
  {
    MutexLock lock(mutex_);
    failed = std::move(failed_promise_);
  }
  if (failed.valid()) failed.set_value();
}

Future<void> CpuDevice::failed() const {
  MutexLock lock(mutex_);
  return failed_;
}

}  // namespace millrace::devices::cpu
