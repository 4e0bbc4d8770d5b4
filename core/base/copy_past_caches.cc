#include "millrace/core/base/copy_past_caches.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace millrace {

void copy_past_caches(std::byte* to, std::span<const std::byte> from) {
  const std::byte* at = from.data();
  std::size_t left = from.size();
#if defined(__SSE2__)
  constexpr std::size_t kLine = 64;
  if (left >= 2 * kLine) {
    const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(to)) % kLine;
    std::memcpy(to, at, before);
    to += before, at += before, left -= before;
    for (; left >= kLine; to += kLine, at += kLine, left -= kLine) {
      const auto* const source = reinterpret_cast<const __m128i*>(at);
      auto* const target = reinterpret_cast<__m128i*>(to);
      for (int i = 0; i < 4; ++i) _mm_stream_si128(target + i, _mm_loadu_si128(source + i));
    }
    _mm_sfence();  // such stores keep no order with later ones
  }
#endif
  if (left > 0) std::memcpy(to, at, left);
}

void CopyForAnotherCore::operator()(std::byte* to, std::span<const std::byte> from) {
  if (from.empty()) return;
  const bool tries = tries_ < 2 * kTries;
  if (tries) past_caches_ = tries_ % 2 == 0;
  const TimePoint begin = tries ? steady_clock().now() : TimePoint();
  past_caches_ ? copy_past_caches(to, from)
               : static_cast<void>(std::memcpy(to, from.data(), from.size()));
  if (!tries) return;
  const Duration time = steady_clock().now() - begin;
  (past_caches_ ? past_ : plain_)[tries_ / 2] =
      static_cast<double>(time.count()) / static_cast<double>(from.size());
  if (++tries_ < 2 * kTries) return;
  const auto median = [](Times& times) {
    std::ranges::nth_element(times, times.begin() + kTries / 2);
    return times[kTries / 2];
  };
  past_caches_ = median(past_) < median(plain_);
}

}  // namespace millrace
