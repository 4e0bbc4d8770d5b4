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

void CopyChoice::copied(std::size_t bytes, TimePoint begin, TimePoint end) {
  if (pieces_ == 0) begin_ = begin;
  bytes_ += bytes;
  if (++pieces_ < kPieces) return;
  const auto time = static_cast<double>((end - begin_).count());
  double& fastest = past_caches_ ? fastest_past_ : fastest_plain_;
  fastest = std::min(fastest, time / static_cast<double>(bytes_));
  pieces_ = 0;
  bytes_ = 0;
  ++phase_;
  past_caches_ = is_made() ? fastest_past_ < fastest_plain_ : !past_caches_;
}

void CopyForAnotherCore::operator()(std::byte* to, std::span<const std::byte> from) {
  const bool learns = !choice_.is_made() && !from.empty();
  const TimePoint begin = learns ? steady_clock().now() : TimePoint();
  if (choice_.past_caches()) {
    copy_past_caches(to, from);
  } else if (!from.empty()) {
    std::memcpy(to, from.data(), from.size());  // not ranges::copy: g++ 12 makes it a loop
  }
  if (learns) choice_.copied(from.size(), begin, steady_clock().now());
}

}  // namespace millrace
