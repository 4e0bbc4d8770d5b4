#include "millrace/core/base/fault_point.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "millrace/core/base/mutex.h"

namespace millrace {
namespace {

struct Armed {
  Mutex mutex;
  std::vector<ArmedFault*> faults MILLRACE_GUARDED_BY(mutex);
};
Armed& armed() {
  static auto* instance = new Armed;
  return *instance;
}

}  // namespace

std::atomic<int> detail::armed_faults{0};

Status detail::arrive_at_fault_point(std::string_view name) {
  Status status;
  std::vector<std::function<void()>> acts;
  {
    MutexLock lock(armed().mutex);
    for (ArmedFault* fault : armed().faults) {
      if (fault->place_ != name) continue;
      const std::uint64_t arrival = fault->arrivals_.fetch_add(1) + 1;
      if (arrival < fault->first_ || arrival - fault->first_ >= fault->times_) continue;
      if (fault->act_) acts.push_back(fault->act_);
      if (fault->error_ && status) status = std::unexpected(*fault->error_);
    }
  }
  for (const auto& act : acts) act();
  return status;
}

ArmedFault::ArmedFault(std::string place, std::uint64_t first, Error error, std::uint64_t times)
    : place_(std::move(place)), first_(first), times_(times), error_(std::move(error)) {
  arm();
}

ArmedFault::ArmedFault(std::string place, std::uint64_t first, std::function<void()> act,
                       std::uint64_t times)
    : place_(std::move(place)), first_(first), times_(times), act_(std::move(act)) {
  arm();
}

void ArmedFault::arm() {
  MutexLock lock(armed().mutex);
  armed().faults.push_back(this);
  detail::armed_faults.fetch_add(1);
}

ArmedFault::~ArmedFault() {
  MutexLock lock(armed().mutex);
  std::erase(armed().faults, this);
  detail::armed_faults.fetch_sub(1);
}

}  // namespace millrace
