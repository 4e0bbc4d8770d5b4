// Keys as unsigned numbers: what sort and top_k compare. Pure.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "millrace/devices/cpu/kernels/base/element.h"

namespace millrace::devices::cpu {

template <class T>
using SortNumber = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// Is less where `v` is: booleans and integers as numbers, floats in total order (-NaN < -inf < -0 <
// +0 < inf < NaN).
template <class T>
MILLRACE_INLINE SortNumber<T> sort_number(T v) {
  if constexpr (kIsBool<T>) {
    return v.value;
  } else if constexpr (kIsInteger<T>) {
    using U = std::make_unsigned_t<T>;
    constexpr U kSign = std::is_signed_v<T> ? U(U{1} << (8 * sizeof(T) - 1)) : U{0};
    return static_cast<U>(static_cast<U>(v) ^ kSign);
  } else {
    using U = std::conditional_t<sizeof(T) == 2, std::uint16_t, SortNumber<T>>;
    constexpr U kSign = U(U{1} << (8 * sizeof(T) - 1));
    const U bits = std::bit_cast<U>(v);
    return static_cast<U>((bits & kSign) != 0 ? ~bits : bits | kSign);
  }
}

// An element's key and its place.
template <class U>
struct SortEntry {
  U key;
  std::int32_t index;
};

// Sorts by the keys, upwards and stably, by way of as much memory again; gives the one of the two
// where the result is. By digits of a byte, the lowest first (Knuth, TAOCP 3, 5.2.5), but for those
// that are alike everywhere.
template <class U>
std::span<SortEntry<U>> radix_sort(std::span<SortEntry<U>> from, std::span<SortEntry<U>> memory) {
  constexpr int kDigits = sizeof(U);
  const auto digit = [](U key, int d) { return static_cast<std::uint8_t>(key >> (8 * d)); };
  std::array<std::array<std::uint32_t, 256>, kDigits> counts{};
  for (const SortEntry<U>& e : from) {
    for (int d = 0; d < kDigits; ++d) ++counts[static_cast<std::size_t>(d)][digit(e.key, d)];
  }
  for (int d = 0; d < kDigits && !from.empty(); ++d) {
    auto& places = counts[static_cast<std::size_t>(d)];
    if (places[digit(from[0].key, d)] == from.size()) continue;
    std::uint32_t next = 0;
    for (std::uint32_t& place : places) next += std::exchange(place, next);
    for (const SortEntry<U>& e : from) memory[places[digit(e.key, d)]++] = e;
    std::swap(from, memory);
  }
  return from;
}

}  // namespace millrace::devices::cpu
