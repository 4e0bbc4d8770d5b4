// merge_sort: stable, and done after a bounded number of comparisons whatever these answer, so also
// for comparators that are no strict weak order (NaN).
#pragma once

#include <algorithm>
#include <span>
#include <utility>

namespace millrace::devices::cpu {

// Merges sorted halves of `order`, from runs of one upwards, by way of as much memory again; gives
// the one of the two where the result is.
template <class T, class Before>
std::span<T> merge_sort(std::span<T> order, std::span<T> memory, Before before) {
  for (std::size_t run = 1; run < order.size(); run *= 2) {
    for (std::size_t first = 0; first < order.size(); first += 2 * run) {
      const std::size_t middle = std::min(first + run, order.size()),
                        last = std::min(first + 2 * run, order.size());
      for (std::size_t a = first, b = middle, to = first; to < last; ++to) {
        // The right one only if it must come first.
        const bool right = a == middle || (b < last && before(order[b], order[a]));
        memory[to] = right ? order[b++] : order[a++];
      }
    }
    std::swap(order, memory);
  }
  return order;
}

}  // namespace millrace::devices::cpu
