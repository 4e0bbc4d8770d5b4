// Fault points: named places where a test makes the n-th arrival fail, or do something first. Where
// none is armed, a place costs one load and a branch.
//
//   // In the code:
//   MILLRACE_TRY_STATUS(fault_point("transfer.read"));
//   // In the test, the third arrival fails:
//   ArmedFault fault("transfer.read", 3, Error(ErrorCode::kDataLoss, "..."));
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace {

namespace detail {
extern std::atomic<int> armed_faults;
Status arrive_at_fault_point(std::string_view name);
}  // namespace detail

// The error that a test has armed for this arrival, or nothing. Thread-safe.
inline Status fault_point(std::string_view name) {
  // relaxed: a test arms before it starts what shall fail.
  if (detail::armed_faults.load(std::memory_order_relaxed) == 0) [[likely]]
    return {};
  return detail::arrive_at_fault_point(name);
}

// Arms a place while it lives: arrivals number `first` (from 1) and the `times` - 1 after it fail,
// or call `act` where they are and continue. Several may be armed, also at one place; an act may
// still run when its ArmedFault is gone. Thread-safety: thread-safe.
class ArmedFault {
 public:
  ArmedFault(std::string place, std::uint64_t first, Error error, std::uint64_t times = 1);
  ArmedFault(std::string place, std::uint64_t first, std::function<void()> act,
             std::uint64_t times = 1);
  ~ArmedFault();
  ArmedFault(const ArmedFault&) = delete;
  ArmedFault& operator=(const ArmedFault&) = delete;

  // Arrivals since it was armed, failed or not.
  std::uint64_t arrivals() const { return arrivals_.load(); }

 private:
  friend Status detail::arrive_at_fault_point(std::string_view name);
  void arm();

  const std::string place_;
  const std::uint64_t first_;
  const std::uint64_t times_;
  const std::optional<Error> error_;
  const std::function<void()> act_;
  std::atomic<std::uint64_t> arrivals_{0};
};

}  // namespace millrace
