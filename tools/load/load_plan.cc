#include "millrace/tools/load/load_plan.h"

#include <algorithm>
#include <cmath>

namespace millrace::load {

LoadPlan::LoadPlan(const LoadOptions& options, TimePoint begin)
    : options_(options),
      end_(begin + options.length),
      random_(options.seed),
      begin_(begin),
      next_(begin) {
  if (is_open()) advance();
}

// The time between two arrivals is distributed exponentially: -log(u) / rate, u from (0, 1].
void LoadPlan::advance() {
  const double u = static_cast<double>((random_() >> 11U) + 1) * 0x1p-53;
  seconds_ += -std::log(u) / options_.rate;
  next_ = begin_ + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds_));
}

std::optional<TimePoint> LoadPlan::take(TimePoint now) {
  if (!is_open()) return now < end_ ? std::optional(now) : std::nullopt;
  if (next_ >= end_ || next_ > now) return std::nullopt;
  const TimePoint arrived = next_;
  advance();
  return arrived;
}

std::optional<TimePoint> LoadPlan::next_arrival() const {
  if (!is_open() || next_ >= end_) return std::nullopt;
  return next_;
}

bool LoadPlan::ended(TimePoint now) const { return is_open() ? next_ >= end_ : now >= end_; }

void LoadPlan::stop(TimePoint now) { end_ = std::min(end_, now); }

}  // namespace millrace::load
