// RestartLimit: how often a failing child is restarted before its supervisor escalates; and
// RestartBudget, which counts. Pure: the time is a parameter.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "millrace/core/base/clock.h"

namespace millrace::actors {

// At most this many restarts within any window of this length. 0: none.
struct RestartLimit {
  int restarts = 3;
  Duration window = std::chrono::minutes(1);

  std::string to_string() const;  // "3 restarts within 60 s"
};

// Thread-safety: confined.
class RestartBudget {
 public:
  explicit RestartBudget(const RestartLimit& limit) : limit_(limit) {}

  // True: one more is within the limit, and counted. Times do not go backwards.
  bool take(TimePoint now);
  const RestartLimit& limit() const { return limit_; }

 private:
  RestartLimit limit_;
  std::vector<TimePoint> taken_;  // the last limit_.restarts of them, a ring
  std::size_t oldest_ = 0;
};

}  // namespace millrace::actors
