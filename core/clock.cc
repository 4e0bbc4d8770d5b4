#include "millrace/core/clock.h"

#include <ctime>

namespace millrace {
namespace {

class SteadyClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  TimePoint coarse_now() const override {
#ifdef CLOCK_MONOTONIC_COARSE
    timespec time{};
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &time) == 0)
      return TimePoint(std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec));
#endif
    return now();
  }
};

}  // namespace

const Clock& steady_clock() {
  static const SteadyClock instance;
  return instance;
}

}  // namespace millrace
