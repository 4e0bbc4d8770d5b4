#include "millrace/devices/sim/sim_device.h"

#include <algorithm>

namespace millrace::devices::sim {

void SimDevice::add_memory(std::int64_t bytes) {
  const std::int64_t now = bytes_in_use_.fetch_add(bytes) + bytes;
  std::int64_t peak = peak_bytes_.load();
  while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now)) {
  }
}

MemoryStats SimDevice::memory(std::int64_t limit) const {
  MemoryStats stats{.bytes_in_use = bytes_in_use_.load(), .peak_bytes_in_use = peak_bytes_.load()};
  if (limit != 0) stats.bytes_limit = limit;
  return stats;
}

TimePoint SimDevice::end_of(TimePoint begin, Duration length) const {
  TimePoint end = begin + length;
  for (const Stall& stall : stalls) {  // in order of their time
    const TimePoint over = stall.at + stall.length;
    const bool hits = stall.at <= begin ? over > begin : stall.at < end;
    if (hits) end += over - std::max(stall.at, begin);
  }
  return end;
}

Duration SimDevice::scaled(Duration length, TimePoint begin) const {
  double factor = 1;
  for (const Slow& slow : slows) {
    if (slow.at <= begin) factor = slow.factor;
  }
  return Duration(static_cast<Duration::rep>(static_cast<double>(length.count()) * factor));
}

TimePoint SimDevice::reserve(Direction direction, TimePoint now, Duration length) {
  TimePoint& free = free_from[static_cast<std::size_t>(direction)];
  const TimePoint begin = std::max(now, free);
  free = end_of(begin, scaled(length, begin));
  return begin;
}

const Error* SimDevice::find(const std::vector<Nth>& faults, std::uint64_t nth) {
  for (const Nth& fault : faults) {
    if (fault.nth == nth) return &fault.error;
  }
  return nullptr;
}

SimQueued* SimDevice::candidate(bool in_order) const {
  if (running != nullptr) return nullptr;
  for (const Ref<SimQueued>& launch : queue) {
    if (launch->inputs_ready()) return launch.get();
    if (in_order) return nullptr;
  }
  return nullptr;
}

void SimDevice::forget(const SimQueued& launch) {
  if (running == &launch) running = nullptr;
  std::erase_if(queue, [&](const Ref<SimQueued>& queued) { return queued.get() == &launch; });
}

}  // namespace millrace::devices::sim
