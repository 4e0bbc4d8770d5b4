#include "millrace/actors/restart_limit.h"

namespace millrace::actors {

std::string RestartLimit::to_string() const {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(window).count();
  std::string text = std::to_string(restarts) + (restarts == 1 ? " restart" : " restarts");
  text += " within ";
  return text + (ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms");
}

bool RestartBudget::take(TimePoint now) {
  if (limit_.restarts <= 0) return false;
  if (taken_.size() < static_cast<std::size_t>(limit_.restarts)) {
    taken_.push_back(now);
    return true;
  }
  if (now - taken_[oldest_] < limit_.window) return false;
  taken_[oldest_] = now;
  oldest_ = (oldest_ + 1) % taken_.size();
  return true;
}

}  // namespace millrace::actors
