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
  const bool learns = phase_ < 2 * kPhases;
  if (learns && pieces_ == 0) begin_ = steady_clock().now();
  past_caches_ ? copy_past_caches(to, from)
               : static_cast<void>(std::copy(from.begin(), from.end(), to));
  if (!learns) return;
  bytes_ += from.size();
  if (++pieces_ < kPieces) return;
  const Duration time = steady_clock().now() - begin_;
  double& fastest = past_caches_ ? fastest_past_ : fastest_plain_;
  fastest = std::min(fastest, static_cast<double>(time.count()) / static_cast<double>(bytes_));
  pieces_ = 0;
  bytes_ = 0;
  past_caches_ = ++phase_ < 2 * kPhases ? !past_caches_ : fastest_past_ < fastest_plain_;
}

}  // namespace millrace
