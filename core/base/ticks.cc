#include "millrace/core/base/ticks.h"

#include <algorithm>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace millrace {
namespace {

bool find_usable() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  // Leaf 0x80000007, EDX bit 8: the counter's rate is constant in every state of the processor.
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & (1U << 8)) == 0) return false;
  // Linux has found out whether the cores agree. Else the processor's word counts.
  std::ifstream source("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return !(source >> name) || name == "tsc";
#else
  return false;
#endif
}

}  // namespace

bool ticks_usable() {
  static const bool usable = find_usable();
  return usable;
}

void TickScale::anchor() {
  Anchor best{};
  std::uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {  // the one that nothing came between
    const std::uint64_t before = read_ticks();
    const TimePoint time = clock_.now();
    const std::uint64_t width = read_ticks() - before;
    if (width < narrowest) {
      narrowest = width;
      best = {before + width / 2, time};
    }
  }
  if (!anchors_.empty() &&
      (best.ticks <= anchors_.back().ticks || best.time <= anchors_.back().time))
    return;
  if (anchors_.size() == kMostAnchors) {
    for (std::size_t i = 0; i < kMostAnchors / 2; ++i) anchors_[i] = anchors_[2 * i];
    anchors_.resize(kMostAnchors / 2);
  }
  anchors_.push_back(best);
}

TimePoint TickScale::at(std::uint64_t ticks) const {
  if (anchors_.size() < 2) return anchors_.front().time;
  auto after = std::ranges::upper_bound(anchors_, ticks, {}, &Anchor::ticks);
  after = std::clamp(after, anchors_.begin() + 1, anchors_.end() - 1);
  const Anchor& from = *(after - 1);
  const double share = static_cast<double>(static_cast<std::int64_t>(ticks - from.ticks)) /
                       static_cast<double>(after->ticks - from.ticks);
  const double nanoseconds = share * static_cast<double>(Duration(after->time - from.time).count());
  return from.time + Duration(static_cast<Duration::rep>(nanoseconds));
}

}  // namespace millrace
